"""Trained latents that attend over the layers of a network (Tang and Yang, arXiv 2409.02727).

    u_l = mean, or last state, of layer l          a key for each layer; or all states
    U'  = normalised(U) + E                        E: one vector for each layer
    q   = LN(Q) W_q,  [k|v] = LN(U') W_kv          Q: the latents
    X   = softmax(q kᵀ / √c) v W_o + Q             per head, over the keys of one text
    X   = X + FF(LN(X))                            FF: two halves, value · gelu(gate)
    z   = mean over the latents of X

``docs/pooling/multilayer.md`` lists the differences from the published code, with reasons.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from milepost_lab.pooling.gelu import gelu
from milepost_lab.pooling.layer_norm import named_norm
from milepost_lab.pooling.layer_weights import SUMMARY, summaries
from milepost_lab.pooling.neighbours import rms_scaled
from milepost_lab.pooling.operator import Batch, Operator, Parameter
from milepost_lab.pooling.ragged import softmax, sums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.pooling.operator import Weights


def multilayer(batch: Batch, settings: Mapping[str, Any], weights: Weights) -> NDArray[np.floating]:
    """Compute the equations at the top; all sums in float64.

    The order of tokens matters only with ``summary="last"`` and ``keys="layers"``.
    """
    import numpy as np

    exact = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    keys, lengths = _keys(batch, settings, exact)
    heads = settings["heads"]
    latents = exact["latents"]
    asked = named_norm(latents, exact, "norm_latents") @ exact["to_query"]
    read = named_norm(keys, exact, "norm_keys") @ exact["to_key_value"]
    asked = asked.reshape(len(latents), heads, -1)
    key, value = np.moveaxis(read.reshape(len(read), 2, *asked.shape[1:]), 1, 0)
    scores = np.einsum("khc,rhc->krh", key, asked) / math.sqrt(asked.shape[-1])
    share = softmax(scores, lengths)
    mixed = sums(share[..., None] * value[:, None], lengths)
    found = mixed.reshape(*mixed.shape[:2], len(exact["to_out"])) @ exact["to_out"]
    if settings["residual"]:
        found = found + latents
    if settings["widen"]:
        found = found + _feed_forward(named_norm(found, exact, "norm_wide"), exact)
    result: NDArray[np.floating] = found.mean(axis=1)
    return result


def _keys(
    batch: Batch, settings: Mapping[str, Any], weights: Mapping[str, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Keys of all texts ``(keys, d)``, and the number of keys of each text."""
    import numpy as np

    if settings["keys"] == "layers":
        found = summaries(batch, settings["summary"])
        lengths = np.full(len(found), batch.layers)
    else:
        found = batch.states.astype(np.float64)
        lengths = batch.lengths * batch.layers
    if settings["normalised"]:
        found = rms_scaled(found)
    if "layer_table" in weights:
        found = found + weights["layer_table"]
    return found.reshape(-1, batch.width), lengths


def _feed_forward(
    values: NDArray[np.float64], weights: Mapping[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    import numpy as np

    wide = values @ weights["wide"] + weights["wide_shift"]
    value, gate = np.split(wide, 2, axis=-1)
    result: NDArray[np.float64] = value * gelu(gate) @ weights["narrow"] + weights["narrow_shift"]
    return result


def shapes(settings: Mapping[str, Any], width: int, layers: int) -> dict[str, tuple[int, ...]]:
    """The shape of each weight by name; their sizes add up to the number of parameters."""
    inner = settings["heads"] * (settings["head_width"] or -(-width // settings["heads"]))
    found: dict[str, tuple[int, ...]] = {
        "latents": (settings["latents"], width),
        "norm_latents_scale": (width,),
        "norm_latents_shift": (width,),
        "norm_keys_scale": (width,),
        "norm_keys_shift": (width,),
        "to_query": (width, inner),
        "to_key_value": (width, 2 * inner),
        "to_out": (inner, width),
    }
    if settings["layer_table"] != "none":
        found["layer_table"] = (layers, width)
    if settings["widen"]:
        wide = settings["widen"] * width
        found |= {
            "norm_wide_scale": (width,),
            "norm_wide_shift": (width,),
            "wide": (width, 2 * wide),
            "wide_shift": (2 * wide,),
            "narrow": (wide, width),
            "narrow_shift": (width,),
        }
    return found


def _start(
    settings: Mapping[str, Any], width: int, _: int, rng: np.random.Generator, *, layers: int
) -> Weights:
    import numpy as np

    begun: dict[str, NDArray[np.float32]] = {}
    for name, shape in shapes(settings, width, layers).items():
        if name.endswith("_scale"):
            value = np.ones(shape)
        elif name == "latents" or (name == "layer_table" and settings[name] == "normal"):
            value = rng.standard_normal(shape)
        elif name.endswith("_shift") or name == "layer_table":
            value = np.zeros(shape)
        else:
            value = rng.uniform(-1, 1, shape) / math.sqrt(shape[0])
        begun[name] = value.astype(np.float32)
    return begun


OPERATORS = (
    Operator(
        "multilayer",
        "trained latents attend over layers",
        paper="2409.02727",
        family="multilayer",
        equation="z = mean_r [X + FF(X)]_r, X = softmax(QKᵀ/√c) V W_o + Q, keys: u_l + E_l",
        order="free",
        compute=multilayer,
        start=_start,
        parameters={
            "latents": Parameter(4, "Latent queries.", least=1),
            "heads": Parameter(4, "Heads of the attention.", least=1),
            "head_width": Parameter(
                0, "Width of a head; 0 for the width of states over heads.", least=0
            ),
            "keys": Parameter(
                "layers",
                "Keys of the attention: one summary of each layer, or all states of all layers.",
                choices=("layers", "tokens"),
            ),
            "summary": SUMMARY,
            "layer_table": Parameter(
                "zero",
                "Initialization of the vector added to the keys of a layer; none for no vector.",
                choices=("zero", "normal", "none"),
            ),
            "normalised": Parameter(True, "Scale each key to a mean square of 1."),
            "residual": Parameter(True, "Add the latents to the attention output."),
            "widen": Parameter(
                4, "Width of the feed-forward part as a multiple; 0 for none.", least=0
            ),
        },
        needs=frozenset({"layers"}),
    ),
)
