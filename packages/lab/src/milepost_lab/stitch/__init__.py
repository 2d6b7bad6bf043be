"""A pool of learngenes: many sizes stitched from two distilled models (arXiv 2312.05743)."""
