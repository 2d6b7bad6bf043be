"""``milepost lab ggem``: whether groups of exponents add anything to one, the mean, the maximum.

Every digit but six is tested once, in three folds, so that intervals resample 1,791 images.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from milepost.cli.console.options import count_option
from milepost_eval.statistics import corrected, difference, interval
from milepost_lab.ggem.model import FOLDS, Recipe, train_digits
from milepost_lab.runner import Report, Run, study

ARMS: dict[str, tuple[str, dict[str, Any]]] = {
    "gem": ("gem", {}),
    "ggem": ("ggem", {"groups": 4}),
    "shuffled": ("ggem", {"groups": 4, "channels": "shuffled"}),
    "mean": ("mean", {}),
    "max": ("max", {}),
}
"""Label → pooling and settings; ``shuffled`` has groups that no head owns."""

PAIRS = (("ggem", "gem"), ("ggem", "shuffled"), ("ggem", "mean"), ("ggem", "max"), ("gem", "mean"))


@study(
    "ggem",
    "GGeM, GeM, mean and maximum on digits.",
    "milepost lab ggem --seeds 10 --out results/ggem",
    seeds=3,
)
@count_option("--rounds", 20, "How often each image is seen.")
@count_option("--folds", FOLDS, "Parts of the images that are tested in turn, 3 at most.")
def command(run: Run, rounds: int, folds: int) -> Report:
    """Train the same patch transformer with each pooling at its end, and test it on digits."""
    recipe = Recipe(rounds=rounds)
    right: dict[str, list[list[int]]] = {}
    for arm, (name, settings) in ARMS.items():

        def trained(seed: int, name: str = name, settings: Any = settings) -> list[int]:
            return [
                each
                for fold in range(min(folds, FOLDS))
                for each in train_digits(name, settings, seed, recipe, fold=fold)[0]
            ]

        right[arm] = run.per_seed(arm, trained)
    values = {arm: np.array(some, np.float64) for arm, some in right.items()}
    images = np.tile(np.arange(values["mean"].shape[1]), len(run.seeds)).tolist()
    apart = corrected(
        {f"{a} - {b}": difference(values[a].ravel(), values[b].ravel(), images) for a, b in PAIRS}
    )
    rows: list[dict[str, Any]] = [
        {
            "arm": arm,
            "accuracy": interval(some.ravel(), images),
            "p, Holm": None,
            "detectable": None,
        }
        for arm, some in values.items()
    ]
    rows += [{"arm": name, "accuracy": one, "p, Holm": one.adjusted} for name, one in apart.items()]
    return Report(rows, record={"of seeds": {n: v.mean(1).tolist() for n, v in values.items()}})
