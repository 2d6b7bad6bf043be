"""X-Pool: documents pooled for the question (arXiv 2203.15086)."""
