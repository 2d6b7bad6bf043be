"""Blocks for images, as their papers have them: what the text operators are compared with.

Comes in: maps ``(b, channels, height, width)``, some with a mask of the cells that are there. Goes
out: maps. Only ``milepost.lab`` uses them.
"""
