"""Group generalized mean pooling at the end of a patch transformer (arXiv 2212.04114)."""
