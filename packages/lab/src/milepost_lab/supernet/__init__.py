"""Where and how to halve a sequence: architectures ranked by supernets (arXiv 2306.11982).

Input: a task with its architectures, each of which is a placement of halvings and a join for each
halving. Output: how well a mixture of supernets ranks them, compared with training every
architecture alone, a random choice, and proxies without training.
"""
