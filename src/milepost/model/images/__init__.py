"""Blocks for images as in their papers, to which the text operators are compared.

Input: maps ``(b, channels, height, width)``, some with a mask of the present cells. Output: maps.
Only ``milepost.lab`` uses them.
"""
