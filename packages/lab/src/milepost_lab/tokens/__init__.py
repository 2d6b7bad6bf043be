"""Words pooled from their bytes, and language models over them (arXiv 2310.11628)."""
