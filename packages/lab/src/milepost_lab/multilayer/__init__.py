"""Pooling over layers, and attention to one side or both (arXiv 2409.02727)."""
