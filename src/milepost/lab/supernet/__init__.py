"""Where and how to halve a sequence: architectures ranked by supernets (arXiv 2306.11982).

Comes in: a task with its architectures, which are placements of halvings times the join of each
halving. Goes out: how well a mixture of supernets ranks them, compared with training every
architecture alone, a random choice, and proxies without training.
"""
