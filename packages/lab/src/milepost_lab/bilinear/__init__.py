"""Bilinear fusion of two vectors (MLB, MUTAN …) beside plain concatenation."""
