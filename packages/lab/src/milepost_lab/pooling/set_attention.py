"""Pooling by multihead attention (PMA) of the Set Transformer (Lee et al., arXiv 1810.00825).

    PMA_k(X) = MAB(S, rFF(X))                       S: k trained seeds
    MAB(S, Y) = LN(H + rFF(H))                      equation 6
    H         = LN(S + MH(S, Y, Y))                 equation 7
    z         = mean over the k seeds

``docs/pooling/newer.md`` lists the differences from the paper and from its code, with reasons.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.attention import attend_each, checked_heads
from milepost_lab.pooling.initial import drawn, identity, norms, zeros
from milepost_lab.pooling.layer_norm import named_norm
from milepost_lab.pooling.operator import Batch, Operator, Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

SEED_SPREAD = 0.02
"""Standard deviation of the initial seeds: far less than that of states."""


def pma(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Compute the equations at the top; all sums in float64."""
    import numpy as np

    own = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    read = batch.states.astype(np.float64)
    if settings["feed_states"]:
        read = _feed(read, own, "states")
    # The paper divides scores by the root of all channels, attend_each by that of one head's.
    query = own["seeds"] @ own["query_map"] / math.sqrt(settings["heads"])
    mixed = attend_each(
        np.broadcast_to(query, (len(batch.lengths), *query.shape)),
        read @ own["key_map"],
        read @ own["value_map"],
        batch.lengths,
        settings["heads"],
    )
    found = own["seeds"] + mixed @ own["out_map"]
    if settings["norms"]:
        found = named_norm(found, own, "attended")
    found = found + _feed(found, own, "found")
    if settings["norms"]:
        found = named_norm(found, own, "final")
    result: NDArray[np.floating] = found.mean(axis=1)
    return result


def _feed(
    values: NDArray[np.float64], weights: Mapping[str, NDArray[np.float64]], name: str
) -> NDArray[np.float64]:
    """rFF: ``relu(x W + b)``, row by row."""
    import numpy as np

    fed: NDArray[np.float64] = np.maximum(
        values @ weights[f"{name}_map"] + weights[f"{name}_bias"], 0.0
    )
    return fed


def _start(settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator) -> Weights:
    """Make small seeds and identity values: the initial vector is nearly that of a mean."""
    import numpy as np

    checked_heads("pma", settings["heads"], width)
    seeds = SEED_SPREAD * rng.standard_normal((settings["seeds"], width))
    weights = {
        "seeds": seeds.astype(np.float32),
        "query_map": drawn(rng, width, width),
        "key_map": drawn(rng, width, width),
        "value_map": identity(width),
        "out_map": identity(width),
        "found_map": drawn(rng, width, width),
        "found_bias": zeros(width),
    }
    if settings["feed_states"]:
        weights |= {"states_map": identity(width), "states_bias": zeros(width)}
    return weights | (norms(width, "attended", "final") if settings["norms"] else {})


OPERATORS = (
    Operator(
        "pma",
        "trained seeds attend over the states (Set Transformer)",
        paper="1810.00825",
        family="newer",
        equation="z = mean_r LN(H + rFF(H))_r, H = LN(S + MH(S, Y, Y)), Y = rFF(X)",
        order="free",
        compute=pma,
        start=_start,
        parameters={
            "seeds": Parameter(1, "Trained vectors that read the text; their mean is z.", least=1),
            "heads": Parameter(4, "Heads of the attention; they divide the width.", least=1),
            "norms": Parameter(True, "The two layer norms; the paper's code can omit them."),
            "feed_states": Parameter(
                True, "Apply rFF to states first, as in the paper; its code does not."
            ),
        },
    ),
)
