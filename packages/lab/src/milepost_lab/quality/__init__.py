"""How far apart labels lie in pooled states: the Alignment Quality Index (arXiv 2506.13901)."""
