"""Where to halve: placements ranked by mixtures of supernets (arXiv 2306.11982)."""
