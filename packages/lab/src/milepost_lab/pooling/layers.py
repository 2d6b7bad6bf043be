"""Poolings over the layers of a network (arXiv 2409.02727; 1802.05365; 2506.13901)."""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import (
    Pooling,
    check,
    last_state,
    masked_mean,
    masked_softmax,
    rms_scaled,
)

Summary = Literal["mean", "last"]


def summaries(states: Tensor, mask: Tensor, summary: Summary) -> Tensor:
    """One vector a layer (2409.02727, eq. 1): ``(texts, n, layers, d)`` → ``(texts, layers, d)``.

    Over the real length: padding at the left or right changes nothing.
    """
    return masked_mean(states, mask) if summary == "mean" else last_state(states, mask)


def sparsemax(scores: Tensor) -> Tensor:
    """The nearest point of the simplex (Martins & Astudillo 2016), ``(n,)`` → ``(n,)``."""
    falling = torch.sort(scores, descending=True).values
    total = torch.cumsum(falling, 0)
    count = torch.arange(1, len(scores) + 1, device=scores.device)
    inside = (1 + count * falling > total).sum()
    threshold = (torch.gather(total, 0, (inside - 1)[None]) - 1) / inside
    return torch.relu(scores - threshold)


class LayerMean(Pooling):
    """Plain mean over layers."""

    name, title = "layer-mean", "plain mean over layers"
    equation = "z = (1/L) Σ_l u_l, u_l = mean of layer l"
    needs = frozenset({"layers"})

    def __init__(
        self, width: int, *, layers: int = 1, summary: Summary = "mean", normalised: bool = False
    ) -> None:
        super().__init__(width)
        self.summary, self.normalised = summary, normalised

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        found = summaries(states, mask, self.summary)
        return self.mixed(rms_scaled(found) if self.normalised else found)

    def mixed(self, found: Tensor) -> Tensor:
        """Mix layers: ``(texts, layers, d)`` → ``(texts, d)``."""
        return found.mean(1)


class LayerMix(LayerMean):
    """Mean over layers with softmax weights and a scale (ELMo)."""

    name, title, paper = "layer-mix", "mean over layers with learned weights", "1802.05365"
    equation = "z = γ Σ_l a_l u_l, a = softmax(s)"

    def __init__(
        self, width: int, *, layers: int = 1, summary: Summary = "mean", normalised: bool = False
    ) -> None:
        super().__init__(width, layers=layers, summary=summary, normalised=normalised)
        self.scores, self.scale = nn.Parameter(torch.zeros(layers)), nn.Parameter(torch.ones(1))

    def mixed(self, found: Tensor) -> Tensor:
        """See ``LayerMean.mixed``."""
        return self.scale * (torch.softmax(self.scores, 0)[:, None] * found).sum(1)


class LayerSparse(LayerMean):
    """Mean over layers with sparsemax weights."""

    name, paper = "layer-sparse", "2506.13901"
    title = "mean over layers with learned weights, many of them 0"
    equation = "z = Σ_l a_l u_l, a = sparsemax(s)"

    def __init__(
        self, width: int, *, layers: int = 1, summary: Summary = "mean", normalised: bool = False
    ) -> None:
        super().__init__(width, layers=layers, summary=summary, normalised=normalised)
        self.scores = nn.Parameter(torch.zeros(layers))

    def mixed(self, found: Tensor) -> Tensor:
        """See ``LayerMean.mixed``."""
        return (sparsemax(self.scores)[:, None] * found).sum(1)


class MultiLayer(Pooling):
    """Trained latents attend over the layers (arXiv 2409.02727).

    Args:
        width: d.
        layers: L, without the embeddings.
        latents: r; only their mean is used.
        heads: h.
        head_width: c; 0 for the width over heads.
        keys: one summary of each layer (eq. 1), or all states of all layers.
        summary: of a layer.
        layer_table: how E of eq. 2 begins: ``zero``, ``normal``, or ``none`` of it.
        normalised: scale each key to a mean square of 1, so that E does not swamp early layers.
        residual: add the latents in eq. 3.
        widen: width of the feed-forward part (eq. 4) as a multiple; 0 for none.
    """

    name, title, paper = "multilayer", "trained latents attend over layers", "2409.02727"
    equation = "z = mean_r [X + FF(X)]_r, X = softmax(QKᵀ/√c) V W_o + Q, keys: u_l + E_l"
    needs = frozenset({"layers"})

    def __init__(
        self,
        width: int,
        *,
        layers: int = 1,
        latents: int = 4,
        heads: int = 4,
        head_width: int = 0,
        keys: Literal["layers", "tokens"] = "layers",
        summary: Summary = "mean",
        layer_table: Literal["zero", "normal", "none"] = "zero",
        normalised: bool = True,
        residual: bool = True,
        widen: int = 4,
    ) -> None:
        super().__init__(width)
        check(latents >= 1 and heads >= 1, self.name, "no latents or heads", "1 or more")
        inner = heads * (head_width or -(-width // heads))
        self.heads, self.keys, self.summary = heads, keys, summary
        self.normalised, self.residual = normalised, residual
        self.latents = nn.Parameter(torch.randn(latents, width))
        self.norm_latents, self.norm_keys = nn.LayerNorm(width), nn.LayerNorm(width)
        self.to_query = nn.Linear(width, inner, bias=False)
        self.to_key_value = nn.Linear(width, 2 * inner, bias=False)
        self.to_out = nn.Linear(inner, width, bias=False)
        self.layer_table = None
        if layer_table != "none":
            begun = torch.randn if layer_table == "normal" else torch.zeros
            self.layer_table = nn.Parameter(begun(layers, width))
        self.norm_wide = nn.LayerNorm(width) if widen else None
        self.wide = nn.Linear(width, 2 * widen * width) if widen else None
        self.narrow = nn.Linear(widen * width, width) if widen else None

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        keys, readable = self._keys(states, mask)
        asked = self.to_query(self.norm_latents(self.latents)).unflatten(-1, (self.heads, -1))
        read = self.to_key_value(self.norm_keys(keys)).unflatten(-1, (2, self.heads, -1))
        key, value = read.unbind(2)
        scores = torch.einsum("bkhc,rhc->bkrh", key, asked) / math.sqrt(asked.shape[-1])
        weights = masked_softmax(scores, readable[..., None, None])  # eq. 3
        found = self.to_out(torch.einsum("bkrh,bkhc->brhc", weights, value).flatten(2))
        if self.residual:
            found = found + self.latents
        if self.wide is not None and self.narrow is not None and self.norm_wide is not None:
            value, gate = self.wide(self.norm_wide(found)).chunk(2, -1)  # eq. 4
            found = found + self.narrow(value * F.gelu(gate))
        return found.mean(1)  # eq. 5; the L2 norm is the score's business

    def _keys(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Keys ``(texts, keys, d)`` with their layer's term (eq. 2), and which of them exist."""
        if self.keys == "layers":
            found = summaries(states, mask, self.summary)
            readable = torch.ones_like(found[..., 0], dtype=torch.bool)
        else:
            found = states
            readable = mask[..., None].expand(states.shape[:3]).flatten(1)
        if self.normalised:
            found = rms_scaled(found)
        if self.layer_table is not None:
            found = found + self.layer_table
        return found.reshape(len(found), -1, self.width), readable


POOLINGS = (LayerMean, LayerMix, LayerSparse, MultiLayer)
