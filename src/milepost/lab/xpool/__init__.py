"""X-Pool: re-ranking documents by a pooling that reads the question."""
