"""One weight for each layer: the plain mean over layers, ELMo's mix, and a sparse mix.

These are the baselines of trained poolings over layers (``multilayer.py``): L + 1 weights at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.neighbours import rms_scaled
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import means, starts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

SUMMARY = Parameter(
    "mean",
    "Summary of a layer: the mean of its tokens, or the state of its last token.",
    choices=("mean", "last"),
)
NORMALISED = Parameter(False, "Scale the summary of each layer to a mean square of 1.")


def summaries(batch: Batch, summary: str) -> NDArray[np.float64]:
    """One vector for each layer of each text, ``(texts, layers, d)`` float64.

    ``"last"`` is found by length: position -1 of a padded batch is a pad token (which the published
    code of 2409.02727 reads if padding is on the right).
    """
    if summary == "mean":
        return means(batch.states, batch.lengths)
    ends = starts(batch.lengths) + batch.lengths - 1
    last: NDArray[np.float64] = batch.states[ends].astype("float64")
    return last


def sparsemax(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Find the nearest point of the simplex, ``(n,)``: like softmax, but small scores get 0.

    Martins and Astudillo (arXiv 1602.02068), algorithm 1. [0.1, 0.2, 0.9] → [1/30, 4/30, 25/30].

    >>> sparsemax([0.0, 0.5]).tolist(), sparsemax([0.0, 1.5]).tolist()
    ([0.25, 0.75], [0.0, 1.0])
    """
    import numpy as np

    given = np.asarray(scores, np.float64)
    falling = np.sort(given)[::-1]
    total = np.cumsum(falling)
    inside = int((1 + np.arange(1, len(given) + 1) * falling > total).sum())
    threshold = (total[inside - 1] - 1) / inside
    result: NDArray[np.float64] = np.maximum(given - threshold, 0.0)
    return result


def _softmax(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    import numpy as np

    grown = np.exp(np.asarray(scores, np.float64) - np.max(scores))
    result: NDArray[np.float64] = grown / grown.sum()
    return result


def _read(batch: Batch, settings: Mapping[str, Any]) -> NDArray[np.float64]:
    found = summaries(batch, settings["summary"])
    # The scales of layers differ by orders of magnitude.
    return rms_scaled(found) if settings["normalised"] else found


def layer_mean(batch: Batch, settings: Mapping[str, Any], _: Weights) -> NDArray[np.floating]:
    """``(1/L) Σ_l u_l``."""
    result: NDArray[np.floating] = _read(batch, settings).mean(axis=1)
    return result


def layer_mix(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """``γ Σ_l a_l u_l``, ``a = softmax(s)`` (ELMo, arXiv 1802.05365, equation 1)."""
    share = _softmax(weights["scores"])
    result: NDArray[np.floating] = weights["scale"] * (share @ _read(batch, settings))
    return result


def layer_sparse(
    batch: Batch, settings: Mapping[str, Any], weights: Weights
) -> NDArray[np.floating]:
    """``Σ_l a_l u_l``, ``a = sparsemax(s)``: useless layers get exactly 0."""
    result: NDArray[np.floating] = sparsemax(weights["scores"]) @ _read(batch, settings)
    return result


def _even(
    _: Mapping[str, Any], __: int, ___: int, ____: np.random.Generator, *, layers: int
) -> Weights:
    import numpy as np

    return {"scores": np.zeros(layers, np.float32)}


def _even_scaled(
    settings: Mapping[str, Any], width: int, asked: int, rng: np.random.Generator, *, layers: int
) -> Weights:
    import numpy as np

    return {
        **_even(settings, width, asked, rng, layers=layers),
        "scale": np.ones(1, np.float32),
    }


_PARAMETERS = {"summary": SUMMARY, "normalised": NORMALISED}

OPERATORS = (
    Operator(
        "layer-mean",
        "plain mean over layers",
        paper="",
        family="multilayer",
        equation="z = (1/L) Σ_l u_l, u_l = mean of layer l",
        order="free",
        compute=layer_mean,
        parameters=_PARAMETERS,
        needs=frozenset({"layers"}),
    ),
    Operator(
        "layer-mix",
        "mean over layers with learned weights",
        paper="1802.05365",
        family="multilayer",
        equation="z = γ Σ_l a_l u_l, a = softmax(s)",
        order="free",
        compute=layer_mix,
        start=_even_scaled,
        parameters=_PARAMETERS,
        needs=frozenset({"layers"}),
    ),
    Operator(
        "layer-sparse",
        "mean over layers with learned weights, many of them 0",
        paper="2506.13901",
        family="multilayer",
        equation="z = Σ_l a_l u_l, a = sparsemax(s)",
        order="free",
        compute=layer_sparse,
        start=_even,
        parameters=_PARAMETERS,
        needs=frozenset({"layers"}),
    ),
)
