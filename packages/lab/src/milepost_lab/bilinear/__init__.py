"""Bilinear fusions against plain ones of as many parameters (arXiv 2012.10285)."""
