"""Study of LMK pooling (arXiv 2601.21525): document vectors by landmarks, CLS and mean."""
