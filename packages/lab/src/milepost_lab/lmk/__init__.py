"""Landmark pooling against [CLS] and the mean, up to long documents (arXiv 2601.21525)."""
