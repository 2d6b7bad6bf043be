"""P2AT for text: a document as a grid of segments, with pyramids over rows and attention.

After *P2AT: Pyramid Pooling Axial Transformer for Real-time Semantic Segmentation* (arXiv
2310.15025), for text: a row of the grid is a segment, a column the tokens at the same position of
their segments. The block as published, for images, is ``milepost_lab.p2at.network.p2at``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost.errors import InputError
from milepost_lab.pooling.neighbours import averages, rms_scaled
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import maxima, means, owners, starts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

WIDTHS = (3, 5, 7)
"""Widths of the windows in the paper's pyramid."""


def scales(
    values: NDArray[np.floating],
    lengths: NDArray[np.int64],
    widths: Sequence[int],
    *,
    cascade: bool,
) -> NDArray[np.float64]:
    """Average windows of several widths around each row.

    Args:
        values: ``(rows, d)``.
        lengths: rows of each text.
        widths: widths of the windows, odd.
        cascade: whether to average the previous average, as published, not the values.

    Returns:
        ``(rows, d, scales)`` float64: the scales of a channel are adjacent, as grouped mixing
        needs.
    """
    import numpy as np

    made: list[NDArray[np.float64]] = []
    for width in widths:
        source = made[-1] if cascade and made else values
        made.append(averages(source, lengths, width))
    return np.stack(made, -1)


def columns(
    values: NDArray[np.floating], segments: NDArray[np.int64], per_text: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Compute means of the tokens at the same position of their segments, text by text.

    Args:
        values: ``(tokens, d)``.
        segments: tokens of each segment.
        per_text: segments of each text.

    Returns:
        ``(columns, d)`` means over the segments that are long enough, the number of columns of each
        text, and the column of each token.
    """
    import numpy as np

    wide = np.maximum.reduceat(segments, starts(per_text))
    place = np.arange(len(values)) - np.repeat(starts(segments), segments)
    text = owners(per_text)[owners(segments)]
    column = starts(wide)[text] + place
    order = np.argsort(column, kind="stable")
    return means(values[order], np.bincount(column)), wide, column


def attended(
    queries: NDArray[np.floating],
    keys: NDArray[np.floating],
    values: NDArray[np.floating],
    lengths: NDArray[np.int64],
    position: NDArray[np.floating],
) -> NDArray[np.float64]:
    """Attention of each row to the rows of its text, with a learned bias for each distance.

    Args:
        queries: ``(rows, heads, k)``.
        keys: of the same shape.
        values: of the same shape.
        lengths: rows of each text.
        position: ``(heads, 2 reach + 1)``: added to a score by its distance, from ``-reach`` to
            ``reach``; larger distances are clipped.

    Returns:
        ``(rows, heads, k)`` float64: ``softmax(q k' / √k + position) v``.
    """
    import numpy as np

    reach = position.shape[1] // 2
    given = np.zeros(values.shape)
    for start, length in zip(starts(lengths), lengths, strict=True):
        text = slice(start, start + length)
        place = np.arange(length)
        far = np.clip(place[None] - place[:, None], -reach, reach) + reach
        scores = np.einsum("ihk,jhk->hij", queries[text], keys[text]) / np.sqrt(keys.shape[-1])
        scores = scores + position[:, far]
        share = np.exp(scores - scores.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        given[text] = np.einsum("hij,jhk->ihk", share, values[text])
    return given


def landmarks(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.float64]:
    """One vector for each segment, from its neighbours (pyramid) and all others (attention).

    With ``u`` the scaled states of ``channels`` channels, ``r`` their mean over a row::

        grid   = u · 2σ(Σ_s mix_s · average_s(r))       the gate depends on the token's row
        rows   = mean of grid over a row;  columns = mean over a column
        y      = v(rows) + attention(rows) W_row [+ mean over the row of attention(columns) W_col]
        vector = mean of states over the row + y W_out

    Returns:
        ``(segments, d)`` float64.
    """
    import numpy as np

    segments, per_text, heads = batch.segments, batch.per_text, settings["heads"]
    grid = rms_scaled(batch.states) @ weights["inward"]
    rows = means(grid, segments)
    if settings["pyramid"] != "none":
        seen = scales(rows, per_text, WIDTHS, cascade=settings["pyramid"] == "cascade")
        gate = 1 + np.tanh((seen * weights["mix"]).sum(-1) / 2)  # 2σ(x)
        rows, grid = rows * gate, grid * gate[owners(segments)]

    def attention(of: NDArray[np.float64], lengths: NDArray[np.int64], axis: str) -> Any:
        split = (len(of), heads, settings["key"])
        q, k, v = ((of @ weights[name]).reshape(split) for name in ("query", "key", "value"))
        found = attended(q, k, v, lengths, weights[f"{axis}_position"])
        return found.reshape(len(of), len(weights[axis])) @ weights[axis]

    mixed = rows @ weights["value"]
    if settings["rows"]:
        mixed = mixed + attention(rows, per_text, "row")
    if settings["columns"]:
        means_down, wide, column = columns(grid, segments, per_text)
        mixed = mixed + means(attention(means_down, wide, "column")[column], segments)
    result: NDArray[np.float64] = means(batch.states, segments) + mixed @ weights["outward"]
    return result


def p2at(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Mean of ``landmarks``; initially the mean of the segments' means."""
    return means(landmarks(batch, settings, weights), batch.per_text)


def _start(
    settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    import numpy as np

    channels, inner = settings["channels"], settings["heads"] * settings["key"]

    def drawn(rows: int, across: int) -> NDArray[np.float32]:
        values: NDArray[np.float32] = rng.standard_normal((rows, across)).astype(np.float32)
        values /= np.sqrt(rows)
        return values

    weights = {"inward": drawn(width, channels)}
    if settings["pyramid"] != "none":
        weights["mix"] = np.zeros((channels, len(WIDTHS)), np.float32)  # every gate begins at 1
    weights["value"] = drawn(channels, inner)
    axes = [axis for axis in ("row", "column") if settings[f"{axis}s"]]
    if axes:
        weights |= {name: drawn(channels, inner) for name in ("query", "key")}
    for axis in axes:
        weights[axis] = drawn(inner, inner)
        distances = rng.standard_normal((settings["heads"], 2 * settings["reach"] + 1))
        weights[f"{axis}_position"] = (0.02 * distances).astype(np.float32)
    weights["outward"] = np.zeros((inner, width), np.float32)
    return weights


def pyramid(batch: Batch, settings: Mapping[str, Any], _: Weights) -> NDArray[np.floating]:
    """Mean over window widths of the greatest (or mean) window, channel by channel."""
    rows = means(batch.states, batch.segments)
    seen = scales(rows, batch.per_text, odd(settings["widths"]), cascade=settings["cascade"])
    read = maxima if settings["read"] == "max" else means
    vectors: NDArray[np.floating] = read(seen, batch.per_text).mean(-1)
    return vectors


def odd(widths: tuple[int, ...]) -> tuple[int, ...]:
    """Return the widths if they are valid.

    Raises:
        InputError: there are none, or one is not a positive odd number.
    """
    if not widths or any(type(width) is not int or width < 1 or width % 2 == 0 for width in widths):
        raise InputError(
            f"pyramid: widths are {widths}",
            "odd numbers, since a window is centred",
        )
    return widths


OPERATORS = (
    Operator(
        "p2at",
        "segments that attend to neighbours and to each other",
        paper="2310.15025",
        family="p2at",
        equation="z = (1/m) Σ (l_i + W(v_i + Σ_j a_ij v_j)), l_i = mean of segment i, gated",
        order="kept",
        compute=p2at,
        start=_start,
        parameters={
            "channels": Parameter(16, "Channels of the grid.", least=1),
            "heads": Parameter(2, "Heads of the attention.", least=1),
            "key": Parameter(8, "Width of a head's keys and values.", least=1),
            "reach": Parameter(8, "Largest distance with its own weight.", least=1),
            "pyramid": Parameter(
                "cascade",
                "Averages of averages (as published), of the rows, or none.",
                choices=("cascade", "parallel", "none"),
            ),
            "rows": Parameter(True, "Attention among segments."),
            "columns": Parameter(False, "Attention among positions in segments: an ablation."),
        },
        needs=frozenset({"segments"}),
    ),
    Operator(
        "pyramid",
        "greatest average over windows of several widths",
        paper="2310.15025",
        family="p2at",
        equation="z_j = (1/S) Σ_s max_i average_s(l)_ij, l = means of segments",
        order="kept",
        compute=pyramid,
        parameters={
            "widths": Parameter((1, 3, 5, 7), "Widths of the windows, odd."),
            "cascade": Parameter(False, "Each average is of the one before."),
            "read": Parameter("max", "Value taken from each scale.", choices=("max", "mean")),
        },
        needs=frozenset({"segments"}),
        single="same",
    ),
)
