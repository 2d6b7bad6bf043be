"""Whether groups of exponents add anything to one, to the mean and to the maximum (2212.04114).

A small patch transformer that ends in each pooling learns to read digits (``data/digits.py``).
Every digit but six is tested once, in three folds, so that intervals resample 1,791 images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from milepost_eval.statistics import Difference, corrected, difference
from milepost_lab.data.digits import FOLDS, DigitRecipe, train_digits
from milepost_lab.pieces import Pieces

ARMS: dict[str, tuple[str, dict[str, Any]]] = {
    "gem": ("gem", {}),
    "ggem": ("ggem", {"groups": 4}),
    "shuffled": ("ggem", {"groups": 4, "channels": "shuffled"}),
    "mean": ("mean", {}),
    "max": ("max", {}),
}
"""Label → operator and settings; ``shuffled`` has groups that no head owns."""

PAIRS = (("ggem", "gem"), ("ggem", "shuffled"), ("ggem", "mean"), ("ggem", "max"), ("gem", "mean"))

_VERSION = 1
"""Of what the figures depend on here; a new one does not go on with what an older one kept."""


@dataclass(frozen=True, slots=True)
class GgemResult:
    """All figures.

    Attributes:
        right: arm → of each seed, of each image of all folds whether it is right.
        gains: ``a - b`` → difference of accuracy, images resampled; corrected for all.
    """

    right: Mapping[str, Sequence[Sequence[int]]]
    gains: Mapping[str, Difference]

    def accuracies(self, arm: str) -> list[float]:
        """Of each seed, 0-1."""
        return [fmean(each) for each in self.right[arm]]


def study(
    seeds: int,
    rounds: int,
    *,
    folds: int = FOLDS,
    folder: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> GgemResult:
    """Train every arm with every seed on every fold.

    Args:
        seeds: how many, from 0.
        rounds: how often each image is seen.
        folds: up to ``FOLDS``.
        folder: keeps finished trainings; None keeps nothing.
        progress: told the arm, trainings done, and of how many.

    Raises:
        InputError: the folder holds a study with other settings.
        MissingExtra: scikit-learn, which holds the digits, is not installed.
    """
    recipe = DigitRecipe(rounds=rounds)
    told = {name: f"{name}={value}" for name, value in asdict(recipe).items()}
    told |= {"version": f"version {_VERSION} of the study", "rounds": f"--rounds {rounds}"}
    pieces = Pieces(folder, repr((_VERSION, recipe)), told)
    right: dict[str, list[list[int]]] = {arm: [[] for _ in range(seeds)] for arm in ARMS}
    done = 0
    for seed in range(seeds):
        for fold in range(folds):
            for arm, (name, settings) in ARMS.items():
                progress(arm, done, seeds * folds * len(ARMS))

                def made(
                    name: str = name,
                    settings: dict[str, Any] = settings,
                    seed: int = seed,
                    fold: int = fold,
                ) -> list[int]:
                    found = train_digits(name, settings, seed, recipe, fold=fold)
                    return [int(each) for each in found.right]

                right[arm][seed] += pieces.kept(
                    f"{arm}-{seed}-{fold}", (name, sorted(settings.items()), seed, fold), made
                )
                done += 1
    return GgemResult(right, _gains(right))


def _gains(right: Mapping[str, Sequence[Sequence[int]]]) -> dict[str, Difference]:
    flat = {arm: [float(value) for each in runs for value in each] for arm, runs in right.items()}
    runs = next(iter(right.values()))
    images = [str(number) for each in runs for number in range(len(each))]
    return corrected({f"{a} - {b}": difference(flat[a], flat[b], images) for a, b in PAIRS})
