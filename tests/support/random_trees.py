"""Boosted trees of random questions, over any columns or over the features of the search."""

from random import Random

import numpy as np

from milepost.search.features import FEATURES
from milepost.search.trees import Trees

NAMES = ("near", "words", "length")


def grown(seed: int, trees: int = 5, depth: int = 4) -> Trees:
    """Trees of random questions; some branches end early."""
    random = Random(seed)
    nodes: list[list[float]] = []

    def add(left_over: int) -> int:
        at = len(nodes)
        nodes.append([-1, 0.0, at, at, random.uniform(-2, 2)])
        if left_over and random.random() < 0.85:
            low, high = add(left_over - 1), add(left_over - 1)
            mean = (nodes[low][4] + nodes[high][4]) / 2
            nodes[at] = [random.randrange(len(NAMES)), random.uniform(-1, 1), low, high, mean]
        return at

    roots = [add(depth) for _ in range(trees)]
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return Trees(
        NAMES,
        np.array(roots, np.int32),
        np.array(feature, np.int16),
        np.array(threshold, np.float32),
        np.array(left, np.int32),
        np.array(right, np.int32),
        np.array(value, np.float32),
        depth,
    )


def trees(seed: int = 1) -> Trees:
    """Random trees over the real columns."""
    small = grown(seed, 20)
    asked = np.where(small.feature < 0, -1, np.arange(len(small.feature)) % len(FEATURES))
    names = tuple(FEATURES)
    parts = small.threshold, small.left, small.right, small.value
    return Trees(names, small.roots, asked.astype(np.int16), *parts, small.depth)
