"""PoNet (pooling network) against attention and Fourier mixing as layers."""
