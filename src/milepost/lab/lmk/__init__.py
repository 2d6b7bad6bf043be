"""LMK pooling (arXiv 2601.21525): document vectors by landmark, CLS and mean."""
