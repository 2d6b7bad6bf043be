"""Where and how to halve: architectures ranked by nets that share weights (arXiv 2306.11982).

Comes in: a task of this package with its architectures, placements of halvings times what each
halving makes of a pair. Goes out: how well a mixture of supernets ranks them, beside every
architecture trained alone, chance, and proxies that cost nothing.
"""
