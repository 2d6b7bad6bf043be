"""Latent attention of NV-Embed (Lee et al., arXiv 2405.17428, equation 1).

    o_i = x_i + MH(LN(x_i), LN(L), LN(L))           states are queries; L: trained latents
    y_i = o_i + MLP(LN(o_i))                        MLP: two maps, GELU between them
    z   = (1/n) Σ y_i

The paper shows neither LN nor the two sums with ``x_i`` and ``o_i``; its released model has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.attention import attend, checked_heads
from milepost_lab.pooling.gelu import gelu
from milepost_lab.pooling.initial import drawn, norms, zeros
from milepost_lab.pooling.layer_norm import named_norm
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights

WIDER = 4
"""Width of the MLP as a multiple of a state's, where ``hidden`` is 0."""


def latent_attention(
    batch: Batch, settings: Mapping[str, Any], weights: Weights
) -> NDArray[np.floating]:
    """Compute the equations at the top in float64, text by text: ``hidden`` numbers for a token."""
    import numpy as np

    own = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    texts = split(batch.states, batch.lengths)
    vectors = [_read(text.astype(np.float64), settings, own).mean(0) for text in texts]
    return np.array(vectors).reshape(len(texts), batch.width)


def _read(
    states: NDArray[np.float64],
    settings: Mapping[str, Any],
    own: Mapping[str, NDArray[np.float64]],
) -> NDArray[np.float64]:
    """``y`` of each token, ``(n, d)`` → ``(n, d)``."""

    def normed(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return named_norm(values, own, name) if settings["norms"] else values

    latents = normed(own["latents"], "latents")
    mixed = attend(
        normed(states, "states") @ own["query_map"],
        latents @ own["key_map"],
        latents @ own["value_map"],
        settings["heads"],
    )
    found = mixed @ own["out_map"]
    if settings["residual"]:
        found = found + states
    wide = gelu(normed(found, "found") @ own["widen"] + own["widen_bias"])
    result = wide @ own["narrow"] + own["narrow_bias"]
    return result + found if settings["residual"] else result


def _start(settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator) -> Weights:
    import numpy as np

    checked_heads("latent-attention", settings["heads"], width)
    hidden = settings["hidden"] or WIDER * width
    weights = {"latents": rng.standard_normal((settings["latents"], width)).astype(np.float32)}
    for name in ("query_map", "key_map", "value_map", "out_map"):
        weights[name] = drawn(rng, width, width)
    weights |= {
        "widen": drawn(rng, width, hidden),
        "widen_bias": zeros(hidden),
        "narrow": drawn(rng, hidden, width),
        "narrow_bias": zeros(width),
    }
    return weights | (norms(width, "states", "latents", "found") if settings["norms"] else {})


OPERATORS = (
    Operator(
        "latent-attention",
        "mean of states that have read trained latents (NV-Embed)",
        paper="2405.17428",
        family="newer",
        equation="z = (1/n) Σ (o_i + MLP(LN o_i)), o_i = x_i + MH(LN x_i, LN L, LN L), L: latents",
        order="free",
        compute=latent_attention,
        start=_start,
        parameters={
            "latents": Parameter(64, "Trained vectors that states read; 512 published.", least=1),
            "heads": Parameter(8, "Heads of the attention; they divide the width.", least=1),
            "hidden": Parameter(0, "Width of the MLP; 0 for four times the states'.", least=0),
            "residual": Parameter(
                True, "Add inputs of attention and MLP to their outputs, as the released model."
            ),
            "norms": Parameter(True, "Layer norms before attention and MLP, as released."),
        },
    ),
)
