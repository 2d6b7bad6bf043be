"""Basic poolings: mean, max, first, last, mean of landmarks, and a learned attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, means, softmax, starts, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights


def mean(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """``(1/n) Σ x_i``."""
    return means(batch.states, batch.lengths)


def greatest(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """``max_i x_i``, channel by channel."""
    return maxima(batch.states, batch.lengths)


def first(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """The first token's state: ``[CLS]`` where the texts begin with it."""
    result: NDArray[np.floating] = batch.states[starts(batch.lengths)]
    return result


def last(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """The last token's state, as causal models have it."""
    result: NDArray[np.floating] = batch.states[starts(batch.lengths) + batch.lengths - 1]
    return result


def landmarks(batch: Batch, _: Mapping[str, Any], __: Weights) -> NDArray[np.floating]:
    """Mean of the states that close a segment (LMK pooling, arXiv 2601.21525)."""
    import numpy as np

    return means(batch.states[np.cumsum(batch.segments) - 1], batch.per_text)


def attention(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """``Σ a_i x_i`` with ``a = softmax(x · w / τ)``; ``w`` starts at 0, which is the mean."""
    scores = batch.states.astype("float64") @ weights["query"] / settings["temperature"]
    share = softmax(scores, batch.lengths)
    return sums(share[:, None] * batch.states, batch.lengths)


def _attention_start(
    _: Mapping[str, Any], width: int, __: int, ___: np.random.Generator
) -> Weights:
    import numpy as np

    return {"query": np.zeros(width, np.float32)}


OPERATORS = (
    Operator(
        "mean",
        "mean of all states",
        paper="",
        family="plain",
        equation="z = (1/n) Σ x_i",
        order="free",
        compute=mean,
        single="same",
    ),
    Operator(
        "max",
        "greatest value of each channel",
        paper="",
        family="plain",
        equation="z_j = max_i x_ij",
        order="free",
        compute=greatest,
        single="same",
    ),
    Operator(
        "cls",
        "the first state",
        paper="",
        family="plain",
        equation="z = x_1",
        order="kept",
        compute=first,
        single="same",
    ),
    Operator(
        "last",
        "the last state",
        paper="",
        family="plain",
        equation="z = x_n",
        order="kept",
        compute=last,
        single="same",
    ),
    Operator(
        "lmk",
        "mean of the states that close a segment",
        paper="2601.21525",
        family="plain",
        equation="z = (1/m) Σ x_l, l closes a segment",
        order="kept",
        compute=landmarks,
        needs=frozenset({"segments"}),
        single="same",
    ),
    Operator(
        "attention",
        "mean weighted by a learned direction",
        paper="",
        family="plain",
        equation="z = Σ a_i x_i, a = softmax(x·w/τ)",
        order="free",
        compute=attention,
        start=_attention_start,
        parameters={"temperature": Parameter(1.0, "Divides the scores.", least=1e-3)},
        single="same",
    ),
)
