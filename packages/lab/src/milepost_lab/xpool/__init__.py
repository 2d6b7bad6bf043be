"""X-Pool: reranking documents by a pooling that reads the question."""
