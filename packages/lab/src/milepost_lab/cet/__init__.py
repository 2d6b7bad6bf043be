"""Coupled estimation of relevance and selection for hard negatives (arXiv 2209.05072)."""
