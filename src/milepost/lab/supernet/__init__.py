"""Where to halve: placements of poolings ranked by nets that share weights (arXiv 2306.11982).

Comes in: a task of this package with a handful of placements. Goes out: how well a mixture of
supernets ranks them, beside every placement trained alone, chance, and proxies that cost nothing.
"""
