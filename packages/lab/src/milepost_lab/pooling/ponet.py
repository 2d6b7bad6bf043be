"""Multi-granularity pooling: PoNet (arXiv 2110.02442), and its three poolings without weights.

Each token is combined with a global summary of its text, the maxima of its segment and the maxima
of its neighbours. Time and memory grow linearly with the number of tokens. The result has one state
for each token; a setting says which of them are averaged into the text's vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.layer_norm import layer_norm
from milepost_lab.pooling.operator import Batch, Need, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, means, owners, softmax, sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

MAPS = ("query", "key", "own", "segment", "local")
"""Linear maps of the states, in the order in which ``mixed`` reads them: H_Q, H_K, H_O, H_S, H_L
of the paper."""


def balanced(length: int, count: int) -> list[int]:
    """Cut a text evenly into ``count`` segments, and return the tokens of each.

    Token ``n`` is in segment ``floor(n · count / length)``, so lengths differ by 1 at most. The
    paper's code takes ``n // (length // count + 1)``, which makes fewer segments than requested
    (32 of 64 for a text of 64), and counts padding as text.

    Args:
        length: tokens of the text itself.
        count: number of segments; at most as many as tokens are made.

    Raises:
        InputError: a number is below 1.

    >>> balanced(10, 4)
    [3, 2, 3, 2]
    """
    if length < 1 or count < 1:
        raise InputError(f"{count} segments of {length} tokens cannot be", "give 1 or more of each")
    count = min(count, length)
    edges = [-(-number * length // count) for number in range(count + 1)]
    return [end - start for start, end in pairwise(edges)]


def by_specials(special: Sequence[bool]) -> list[int]:
    """Cut a text at special tokens, as PoNet's code does at ``[SEP]``: the tokens of each segment.

    Each special token is a segment of its own, and each run between two of them is one.

    >>> by_specials([True, False, False, True, False, True])  # [CLS] a b [SEP] c [SEP]
    [1, 2, 1, 1, 1]
    """
    found: list[int] = []
    run = False
    for each in special:
        if run and not each:
            found[-1] += 1
        else:
            found.append(1)
        run = not each
    return found


def by_headings(heading: Sequence[bool]) -> list[int]:
    """Cut a text where headings start, and return the tokens of each segment.

    Adjacent headings start a single segment. The text before the first heading is a segment, and
    so is a text without headings.

    Args:
        heading: for each token (or landmark, for states of landmarks) whether it belongs to a
            heading.

    >>> by_headings([False, True, True, False, True, False])  # a # b c # d
    [1, 3, 2]
    """
    found: list[int] = []
    before = False
    for each in heading:
        if found and (before or not each):
            found[-1] += 1
        else:
            found.append(1)
        before = each
    return found


def local_max(
    values: NDArray[np.floating], lengths: NDArray[np.int64], window: int
) -> NDArray[np.floating]:
    """Greatest value of each channel among a token and its neighbours in its own text.

    Args:
        values: ``(tokens, d)``.
        lengths: ``(texts,)``.
        window: tokens in all, an odd number: 3 is one on each side.

    Returns:
        ``(tokens, d)``.
    """
    import numpy as np

    text = owners(lengths)
    greatest = values.copy()
    for apart in range(1, window // 2 + 1):
        beside = (text[apart:] == text[:-apart])[:, None]
        left, right = values[:-apart], values[apart:]
        np.maximum(greatest[apart:], left, out=greatest[apart:], where=beside)
        np.maximum(greatest[:-apart], right, out=greatest[:-apart], where=beside)
    return greatest


def segment_max(values: NDArray[np.floating], segments: NDArray[np.int64]) -> NDArray[np.floating]:
    """Greatest value of each channel in a token's segment, ``(tokens, d)``."""
    result: NDArray[np.floating] = maxima(values, segments)[owners(segments)]
    return result


def aggregated(
    query: NDArray[np.floating], key: NDArray[np.floating], lengths: NDArray[np.int64], heads: int
) -> NDArray[np.float64]:
    """Global aggregation: ``g' = Σ a_n k_n``, ``a = softmax(g · k_n / sqrt(c))``, ``g = mean q``.

    The values are the keys; each head has width ``c``.

    Args:
        query: ``(tokens, d)``.
        key: ``(tokens, d)``.
        lengths: ``(texts,)``.
        heads: a divisor of d.

    Returns:
        ``(texts, d)``.
    """
    width = key.shape[1]
    keys = key.reshape(len(key), heads, width // heads)
    whole = means(query, lengths).reshape(len(lengths), heads, width // heads)
    logits = (whole[owners(lengths)] * keys).sum(-1) / keys.shape[-1] ** 0.5
    found = sums(softmax(logits, lengths)[..., None] * keys, lengths)
    return found.reshape(len(lengths), width)


def mixed(
    maps: Sequence[NDArray[np.floating]],
    lengths: NDArray[np.int64],
    segments: NDArray[np.int64],
    heads: int,
    window: int,
) -> NDArray[np.float64]:
    """Pooling fusion: ``(g' + S) · H_O + L``, token by token and channel by channel.

    Args:
        maps: H_Q, H_K, H_O, H_S and H_L, each ``(tokens, d)``, see ``MAPS``.
        lengths: ``(texts,)``.
        segments: tokens of each segment.
        heads: of the global aggregation.
        window: of the local maximum.

    Returns:
        ``(tokens, d)``.
    """
    query, key, own, segment, local = maps
    whole = aggregated(query, key, lengths, heads)[owners(lengths)]
    result: NDArray[np.float64] = (whole + segment_max(segment, segments)) * own
    return result + local_max(local, lengths, window)


def ponet(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """PoNet's block without its feed-forward layer, ``LN(x + P W + b)``, averaged by ``_read``."""
    states = batch.states.astype("float64")
    maps = [states @ weights[f"{name}_map"] + weights[f"{name}_bias"] for name in MAPS]
    mix = mixed(maps, batch.lengths, batch.segments, settings["heads"], settings["window"])
    update = mix @ weights["out_map"] + weights["out_bias"]
    return _read(
        layer_norm(states + update, weights["norm_scale"], weights["norm_shift"]), batch, settings
    )


def triple(batch: Batch, settings: Mapping[str, Any], _: Weights) -> NDArray[np.floating]:
    """``[mean ; segments' maxima ; neighbours' maxima]``, the last two averaged by ``_read``."""
    import numpy as np

    _checked_window(settings)
    states = batch.states
    near = local_max(states, batch.lengths, settings["window"])
    parts = [_read(each, batch, settings) for each in (segment_max(states, batch.segments), near)]
    return np.concatenate([means(states, batch.lengths), *parts], axis=1)


def _read(
    values: NDArray[np.floating], batch: Batch, settings: Mapping[str, Any]
) -> NDArray[np.float64]:
    """Average all tokens, or those that close a segment."""
    import numpy as np

    if settings["readout"] == "mean":
        return means(values, batch.lengths)
    return means(values[np.cumsum(batch.segments) - 1], batch.per_text)


def _checked_window(settings: Mapping[str, Any]) -> None:
    if settings["window"] % 2 == 0:
        raise InputError(
            f"a window of {settings['window']} tokens has no middle", "give an odd number"
        )


def _start(settings: Mapping[str, Any], width: int, _: int, __: np.random.Generator) -> Weights:
    import numpy as np

    _checked_window(settings)
    if width % settings["heads"]:
        raise InputError(
            f"{settings['heads']} heads do not divide states of width {width}",
            "a divisor of the width",
        )
    weights: dict[str, NDArray[np.float32]] = {}
    for name in (*MAPS, "out"):
        weights[f"{name}_map"] = np.eye(width, dtype=np.float32)
        weights[f"{name}_bias"] = np.zeros(width, np.float32)
    weights["norm_scale"] = np.ones(width, np.float32)
    weights["norm_shift"] = np.zeros(width, np.float32)
    return weights


_SEGMENTS: frozenset[Need] = frozenset({"segments"})
_READING = {
    "window": Parameter(3, "Tokens of the local maximum, an odd number.", least=1),
    "readout": Parameter(
        "landmarks",
        "States that are averaged: those that close a segment, or all.",
        choices=("landmarks", "mean"),
    ),
}

OPERATORS = (
    Operator(
        "ponet",
        "tokens mixed with pools of text, segment and neighbours (PoNet)",
        paper="2110.02442",
        family="ponet",
        equation="z = mean LN(x + PW + b), P = (g' + S) · H_O + L",
        order="kept",
        compute=ponet,
        start=_start,
        parameters={
            "heads": Parameter(
                1, "Heads of the global aggregation; they must divide the width.", least=1
            ),
            **_READING,
        },
        needs=_SEGMENTS,
    ),
    Operator(
        "ponet-triple",
        "mean, maxima of segments and maxima of neighbours side by side",
        paper="2110.02442",
        family="ponet",
        equation="z = [mean x ; mean S ; mean L]",
        order="kept",
        compute=triple,
        parameters=_READING,
        needs=_SEGMENTS,
    ),
)
