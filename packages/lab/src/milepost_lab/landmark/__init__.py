"""Landmark embedding: windows, halos, and a landmark a sentence (arXiv 2402.11573)."""
