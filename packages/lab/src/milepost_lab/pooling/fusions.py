"""Fusions by name: ``fusion("mlb", hidden=32, out=8)(x, y)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError, nearest
from milepost_lab.pooling.fusion_cores import FUSIONS
from milepost_lab.pooling.operator import checked_settings
from milepost_lab.pooling.ragged import checked_states

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from milepost_lab.pooling.fusion import Fusion
    from milepost_lab.pooling.operator import Value, Weights


class Fuse:
    """A fusion with its settings and weights: ``fusion("mlb", out=8)(x, y)``.

    Args:
        row: the fusion.
        settings: all of its settings.
        weights: trained weights; None for initial weights, made at the first call.
        seed: seed of the initial weights.
    """

    def __init__(
        self,
        row: Fusion,
        settings: Mapping[str, Value],
        weights: Weights | None = None,
        seed: int = 0,
    ) -> None:
        self.row, self.settings, self.weights, self.seed = row, dict(settings), weights, seed

    def __call__(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.float32]:
        """Fuse row by row.

        Args:
            x: ``(pairs, m)``.
            y: ``(pairs, n)``.

        Returns:
            ``(pairs, out)`` float32.

        Raises:
            InputError: numbers of pairs differ, NaN or infinity, widths do not fit, or products are
                not finite.
        """
        import numpy as np

        left, right = checked_states(x), checked_states(y)
        if len(left) != len(right):
            raise InputError(f"{len(left)} vectors x and {len(right)} vectors y: one each")
        m, n = left.shape[1], right.shape[1]
        if self.weights is None:
            self.weights = self.row.start(self.settings, m, n, np.random.default_rng(self.seed))
        for name, shape in self.row.weights(self.settings, m, n).items():
            has = self.weights[name].shape if name in self.weights else None
            if has != shape:
                raise InputError(
                    f"{self.row.name}: the weight {name} has the shape {has}, but x of width {m} "
                    f"and y of width {n} need {shape}",
                    "vectors as wide as those it was made for",
                )
        with np.errstate(over="ignore", invalid="ignore"):
            fused = self.row.fuse(
                left.astype(np.float64), right.astype(np.float64), self.settings, self.weights
            ).astype(np.float32)
        if not np.isfinite(fused).all():
            pair = int(np.argwhere(~np.isfinite(fused))[0][0])
            raise InputError(
                f"{self.row.name} gives NaN or infinity for pair {pair}",
                "smaller vectors: scale them",
            )
        return fused


def fusion(name: str, /, *, weights: Weights | None = None, seed: int = 0, **settings: Any) -> Fuse:
    """Set up a fusion.

    Args:
        name: see ``FUSIONS``.
        weights: trained weights by name; None for initial weights.
        seed: seed of the initial weights.
        settings: see the fusion's parameters.

    Raises:
        InputError: an unknown fusion or parameter, or a value out of its bounds.
    """
    row = fusion_row(name)
    return Fuse(row, checked_settings(name, row.parameters, settings), weights, seed)


def fusion_row(name: str) -> Fusion:
    """Find a fusion by name.

    Raises:
        InputError: an unknown fusion; the error names the nearest one.
    """
    if name not in FUSIONS:
        raise InputError(
            f"unknown fusion {name!r}",
            f"{nearest(name, tuple(FUSIONS))}one of {', '.join(FUSIONS)}",
        )
    return FUSIONS[name]
