"""Poolings that read a query: each state is fused with the query, and the results are pooled.

A bilinear fusion is linear in the state, so the mean of fused states equals the fusion of the mean
state. Only an activation, a root or ``over="max"`` makes it worthwhile to fuse every state.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.fusion_cores import FUSIONS
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, means, owners
from milepost_lab.pooling.sketch import DRAWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.fusion import Fusion
    from milepost_lab.pooling.operator import Weights

METHODS = ("mcb", "mlb", "mfb", "mfh", "mutan", "block")
"""The fusions of the study that are also poolings."""

# Without a norm MUTAN is linear in the state: the mean of its fusions is the fusion of the mean.
_LINEAR = ("mutan",)


def _pooled(
    row: Fusion, batch: Batch, settings: Mapping[str, Any], weights: Weights
) -> NDArray[np.floating]:
    assert batch.queries is not None  # guaranteed by ``needs``
    asked = batch.queries.astype("float64")[owners(batch.lengths)]
    fused = row.fuse(asked, batch.states.astype("float64"), settings, weights)
    return (maxima if settings["over"] == "max" else means)(fused, batch.lengths)


def _start(
    row: Fusion, settings: Mapping[str, Any], width: int, asked: int, random: np.random.Generator
) -> Weights:
    if not asked:
        raise InputError(f"{row.name} reads queries of a width not known", "give query_width=")
    return row.start(settings, asked, width, random)


OPERATORS = tuple(
    Operator(
        name,
        f"query and each state fused: {FUSIONS[name].title}",
        paper=FUSIONS[name].paper,
        family="bilinear",
        equation=f"z = mean_i out({FUSIONS[name].equation}), x the query, y a state",
        order="free",
        compute=partial(_pooled, FUSIONS[name]),
        start=partial(_start, FUSIONS[name]),
        parameters={
            "over": Parameter(
                "max" if name in _LINEAR else "mean",
                "How fused states are pooled.",
                choices=("mean", "max"),
            ),
            **FUSIONS[name].parameters,
        },
        needs=frozenset({"queries"}),
        fixed=DRAWN,
    )
    for name in METHODS
)
