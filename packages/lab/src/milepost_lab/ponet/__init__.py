"""PoNet against attention and Fourier mixing as layers (arXiv 2110.02442)."""
