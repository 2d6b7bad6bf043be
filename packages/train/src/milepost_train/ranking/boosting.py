"""Gradient-boosted trees (LightGBM) over the features of sentences, as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost._optional import require
from milepost.encoder.engine.openvino import usable_cpus
from milepost.search.features import FEATURES
from milepost.search.trees import Trees
from milepost_train.ranking.cases import Case

SETTINGS = {"document": 1.0, "collection": 0.5, "elsewhere": 0.5}
"""What a setting counts; tasks count alike, whatever their number of questions."""
ROUNDS = 800
_PARAMETERS: dict[str, Any] = {
    "objective": "binary",
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_data_in_leaf": 500,
    "min_sum_hessian_in_leaf": 1e-3,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.6,
    "bagging_freq": 1,
    "lambda_l2": 20.0,
    "deterministic": True,
    "force_row_wise": True,  # else the faster of two ways is timed, and they round differently
    "verbose": -1,
}
_ZERO = float(np.float32(1e-35))
"""What LightGBM takes for 0, and so for more than a threshold of the same size below 0."""


def case_weights(cases: Sequence[Case]) -> NDArray[np.float64]:
    """What each case counts: every task alike, every setting by ``SETTINGS``, ``(cases,)``."""
    sizes: dict[tuple[str, str], int] = {}
    for case in cases:
        sizes[case.task, case.setting] = sizes.get((case.task, case.setting), 0) + 1
    return np.array([SETTINGS[each.setting] / sizes[each.task, each.setting] for each in cases])


def learn_trees(cases: Sequence[Case], seed: int, rounds: int = ROUNDS) -> Trees:
    """So many boosted trees by log loss; they tell which sentences hold evidence."""
    lightgbm: Any = require("lightgbm", extra="train")
    repeats = [len(case.rows) for case in cases]
    data = lightgbm.Dataset(
        np.concatenate([case.columns for case in cases]),
        np.concatenate([case.gains[case.rows] > 0 for case in cases]).astype(float),
        weight=np.repeat(1e3 * case_weights(cases), repeats),
        feature_name=[name.replace("±", "pm").replace(" ", "_") for name in FEATURES],
    )
    parameters = {**_PARAMETERS, "num_threads": usable_cpus(), "seed": seed}
    return arrays_of(lightgbm.train(parameters, data, rounds).dump_model())


def arrays_of(dumped: Mapping[str, Any]) -> Trees:
    """The trees of ``Booster.dump_model()`` as plain arrays."""
    nodes = _Nodes()
    roots = [nodes.add(tree["tree_structure"], 0) for tree in dumped["tree_info"]]
    return Trees(
        tuple(FEATURES),
        np.array(roots, np.int32),
        np.array(nodes.feature, np.int16),
        np.array(nodes.threshold, np.float32),
        np.array(nodes.left, np.int32),
        np.array(nodes.right, np.int32),
        np.array(nodes.value, np.float32),
        nodes.depth,
    )


class _Nodes:
    """The table of nodes, row by row; see ``Trees``."""

    def __init__(self) -> None:
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.value: list[float] = []
        self.depth = 0
        self._count: list[int] = []

    def add(self, node: Mapping[str, Any], depth: int) -> int:
        """Add a node and what is below it; returns its number."""
        self.depth = max(self.depth, depth)
        at = len(self.feature)
        leaf = "leaf_value" in node
        self.feature.append(-1 if leaf else node["split_feature"])
        self.threshold.append(0.0 if leaf else _rounded_down(node["threshold"]))
        self.value.append(node["leaf_value"] if leaf else 0.0)
        self._count.append(node.get("leaf_count", 1) if leaf else 0)
        self.left.append(at)
        self.right.append(at)
        if not leaf:
            below = [self.add(node[side], depth + 1) for side in ("left_child", "right_child")]
            self.left[at], self.right[at] = below
            self._count[at] = sum(self._count[each] for each in below)
            whole = sum(self.value[each] * self._count[each] for each in below)
            self.value[at] = whole / self._count[at]
        return at


def _rounded_down(threshold: float) -> float:
    """In float32, so that a float32 column is "at most" this where LightGBM says so."""
    bound = np.float32(threshold)
    if float(bound) > threshold or float(bound) == -_ZERO:
        bound = np.nextafter(bound, np.float32(-np.inf))
    return float(bound)
