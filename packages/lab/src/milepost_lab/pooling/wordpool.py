"""WordPool: learned prefixes read a text through a small attention encoder (arXiv 2310.11628).

An encoder reads ``p`` learned vectors followed by the bytes of a word; its outputs at the learned
vectors represent the word. Here the text may be any states: bytes of a word, tokens of a sentence,
landmarks of a document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.attention import attend, checked_heads
from milepost_lab.pooling.layer_norm import layer_norm
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import starts

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

EPSILON = 1e-6
"""Added to variances."""

WIDER = 2
"""Width of the feed-forward part as a multiple of a state's."""


def wordpool(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """``z = LN(encoder([P; x_1 … x_n])[:p])``, joined to one vector a text.

    A layer is ``y = s + W_o attend(LN(s)); y + W_2 gelu(W_1 LN(y))``. No positions are added: the
    states contain them, or the order does not matter. In the last layer only the prefixes attend,
    so one layer costs O(n), not O(n²).
    """
    import numpy as np

    own = {name: value.astype(np.float64) for name, value in weights.items()}
    found = [
        _one(batch.states[start : start + length].astype(np.float64), settings, own)
        for start, length in zip(starts(batch.lengths), batch.lengths, strict=True)
    ]
    width = batch.width * (settings["prefixes"] if settings["join"] == "concat" else 1)
    return np.array(found).reshape(len(found), width)


def _one(
    states: NDArray[np.float64], settings: Mapping[str, Any], own: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    import numpy as np

    prefixes, layers = settings["prefixes"], settings["layers"]
    row = np.concatenate([own["prefix"], states])
    for layer in range(layers):
        asking = prefixes if layer == layers - 1 else len(row)
        seen = layer_norm(row, own["gain"][layer, 0], own["shift"][layer, 0], EPSILON)
        query, key, value = (
            rows @ own[name][layer]
            for rows, name in ((seen[:asking], "query"), (seen, "key"), (seen, "value"))
        )
        row = row[:asking] + attend(query, key, value, settings["heads"]) @ own["out"][layer]
        held = layer_norm(row, own["gain"][layer, 1], own["shift"][layer, 1], EPSILON)
        wide = held @ own["widen"][layer]
        row = row + _gelu(wide + own["widen_shift"][layer]) @ own["narrow"][layer]
        row = row + own["narrow_shift"][layer]
    read = layer_norm(row, own["last_gain"], own["last_shift"], EPSILON)
    return read.mean(0) if settings["join"] == "mean" else read.reshape(-1)


def _gelu(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """GELU in its tanh form, which needs no erf."""
    import numpy as np

    inner = np.sqrt(2 / np.pi) * (values + 0.044715 * values**3)
    result: NDArray[np.float64] = 0.5 * values * (1 + np.tanh(inner))
    return result


def _start(settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator) -> Weights:
    """Make small prefixes and identity values: the initial output is nearly the mean of LN(x).

    The paper draws all weights from N(0, 0.02), so that its initial output hardly depends on the
    text.
    """
    import numpy as np

    heads, layers = settings["heads"], settings["layers"]
    checked_heads("wordpool", heads, width)

    def drawn(*shape: int, scale: float) -> NDArray[np.float32]:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    passed = np.tile(np.eye(width, dtype=np.float32), (layers, 1, 1))
    wide = WIDER * width
    return {
        "prefix": drawn(settings["prefixes"], width, scale=0.02),
        "query": drawn(layers, width, width, scale=width**-0.5),
        "key": drawn(layers, width, width, scale=width**-0.5),
        "value": passed,
        "out": passed.copy(),
        "gain": np.ones((layers, 2, width), np.float32),
        "shift": np.zeros((layers, 2, width), np.float32),
        "widen": drawn(layers, width, wide, scale=width**-0.5),
        "widen_shift": np.zeros((layers, wide), np.float32),
        "narrow": drawn(layers, wide, width, scale=0.02),
        "narrow_shift": np.zeros((layers, width), np.float32),
        "last_gain": np.ones(width, np.float32),
        "last_shift": np.zeros(width, np.float32),
    }


OPERATORS = (
    Operator(
        "wordpool",
        "learned prefixes read the text through a small encoder",
        paper="2310.11628",
        family="words",
        equation="z = LN(encoder([P; x_1 … x_n])[:p])",
        order="free",
        compute=wordpool,
        start=_start,
        parameters={
            "prefixes": Parameter(1, "Learned vectors that read the text.", least=1, most=16),
            "heads": Parameter(1, "Attention heads; they divide the width.", least=1),
            "layers": Parameter(1, "Layers of the encoder.", least=1, most=8),
            "join": Parameter(
                "mean", "Mean of the prefixes, or all of them.", choices=("mean", "concat")
            ),
        },
    ),
)
