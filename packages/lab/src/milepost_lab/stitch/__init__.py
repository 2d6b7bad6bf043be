"""Encoders of many sizes stitched from two."""
