"""Adaptive pooling, AdaPool: a query made from the states attends to them (arXiv 2506.09215).

    z   = (Σ w_i x_i W_V) W_O                       w = softmax(r), in heads of width c
    r_i = (x_q W_Q) · (x_i W_K) / √c                x_q: the mean of the states, or one of them

The paper's text was not available; ``docs/pooling/newer.md`` gives the sources of the equations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.attention import attend_each, checked_heads
from milepost_lab.pooling.initial import identity
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.plain import first, last, mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

_QUERIES = {"mean": mean, "first": first, "last": last}


def adapool(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Compute the equations at the top in float64; each head has its own softmax.

    The order of tokens matters only with ``query="first"`` and ``query="last"``.
    """
    import numpy as np

    own = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    states = batch.states.astype(np.float64)
    asking = _QUERIES[settings["query"]](batch, {}, {}).astype(np.float64)
    mixed = attend_each(
        (asking @ own["query_map"])[:, None],
        states @ own["key_map"],
        states @ own["value_map"],
        batch.lengths,
        settings["heads"],
    )
    found = mixed[:, 0] @ own["out_map"]
    return found + asking if settings["residual"] else found


def _start(settings: Mapping[str, Any], width: int, _: int, __: np.random.Generator) -> Weights:
    """Make identity maps: states near the query weigh most, as the paper's proof requires."""
    checked_heads("adapool", settings["heads"], width)
    names = "query_map", "key_map", "value_map", "out_map"
    return {name: identity(width) for name in names}


OPERATORS = (
    Operator(
        "adapool",
        "the mean state, or one state, attends over the states (AdaPool)",
        paper="2506.09215",
        family="newer",
        equation="z = Σ w_i x_i W_V W_O, w = softmax(x_q W_Q · x_i W_K / √c), x_q = mean of x",
        order="free",
        compute=adapool,
        start=_start,
        parameters={
            "query": Parameter(
                "mean", "The state that attends.", choices=("mean", "first", "last")
            ),
            "heads": Parameter(1, "Heads of the attention; they divide the width.", least=1),
            "residual": Parameter(
                False, "Add the query to z, as the paper's code does for a query that is a state."
            ),
        },
    ),
)
