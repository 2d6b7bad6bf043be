"""Newer attention poolings: pma, latent-attention, adapool, splade, wordpool."""

from __future__ import annotations

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import (
    Pooling,
    attend,
    check,
    check_heads,
    identity,
    last_state,
    masked_mean,
)


class PMA(Pooling):
    """Pooling by multihead attention: trained seeds attend over the states (Set Transformer).

    Args:
        width: d.
        seeds: trained vectors that read the text; their mean is the result.
        heads: divide the width.
        norms: the two layer norms; the paper's code can omit them.
        feed_states: apply rFF to states first, as in the paper; its code does not.
    """

    name, title, paper = (
        "pma",
        "trained seeds attend over the states (Set Transformer)",
        "1810.00825",
    )
    equation = "z = mean_r LN(H + rFF(H))_r, H = LN(S + MH(S, Y, Y)), Y = rFF(X)"

    def __init__(
        self,
        width: int,
        *,
        seeds: int = 1,
        heads: int = 4,
        norms: bool = True,
        feed_states: bool = True,
    ) -> None:
        super().__init__(width)
        check_heads(self.name, heads, width)
        self.heads = heads
        self.seeds = nn.Parameter(0.02 * torch.randn(seeds, width))
        self.query, self.key = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.value, self.out = identity(width), identity(width)  # begins near a mean
        self.feed = nn.Linear(width, width)
        self.feed_states = identity(width, bias=True) if feed_states else None
        self.norms = nn.ModuleList(nn.LayerNorm(width) if norms else nn.Identity() for _ in "12")

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        read = states if self.feed_states is None else F.relu(self.feed_states(states))
        seeds = self.seeds.expand(len(states), -1, -1)
        query = self.query(seeds) / math.sqrt(self.heads)  # as published: √d, not √c
        mixed = attend(query, self.key(read), self.value(read), self.heads, mask)
        found = self.norms[0](seeds + self.out(mixed))
        return self.norms[1](found + F.relu(self.feed(found))).mean(1)


class LatentAttention(Pooling):
    """Mean of states that have read trained latents (NV-Embed).

    Args:
        width: d.
        latents: trained vectors; 512 published.
        heads: divide the width.
        hidden: width of the MLP; 0 for four times the states'.
        residual: add inputs of attention and MLP to their outputs, as the released model.
        norms: layer norms before attention and MLP, as released.
    """

    name, paper = "latent-attention", "2405.17428"
    title = "mean of states that have read trained latents (NV-Embed)"
    equation = "z = (1/n) Σ (o_i + MLP(LN o_i)), o_i = x_i + MH(LN x_i, LN L, LN L), L: latents"

    def __init__(
        self,
        width: int,
        *,
        latents: int = 64,
        heads: int = 8,
        hidden: int = 0,
        residual: bool = True,
        norms: bool = True,
    ) -> None:
        super().__init__(width)
        check_heads(self.name, heads, width)
        check(latents >= 1, self.name, f"latents={latents}", "1 or more")
        self.heads, self.residual = heads, float(residual)
        self.latents = nn.Parameter(torch.randn(latents, width))
        self.maps = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(4))
        wide = hidden or 4 * width
        self.mlp = nn.Sequential(nn.Linear(width, wide), nn.GELU(), nn.Linear(wide, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) if norms else nn.Identity() for _ in "123")

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        query, key, value, out = self.maps
        latents = self.norms[1](self.latents).expand(len(states), -1, -1)
        mixed = attend(query(self.norms[0](states)), key(latents), value(latents), self.heads)
        found = out(mixed) + self.residual * states
        return masked_mean(self.mlp(self.norms[2](found)) + self.residual * found, mask)


class AdaPool(Pooling):
    """The mean state, or one state, attends over the states; maps begin as the identity.

    Args:
        width: d.
        query: the state that attends.
        heads: divide the width.
        residual: add the query, as the paper's code does for a query that is a state.
    """

    name, paper = "adapool", "2506.09215"
    title = "the mean state, or one state, attends over the states (AdaPool)"
    equation = "z = Σ w_i x_i W_V W_O, w = softmax(x_q W_Q · x_i W_K / √c), x_q = mean of x"

    def __init__(
        self,
        width: int,
        *,
        query: Literal["mean", "first", "last"] = "mean",
        heads: int = 1,
        residual: bool = False,
    ) -> None:
        super().__init__(width)
        check_heads(self.name, heads, width)
        self.asking, self.heads, self.residual = query, heads, residual
        self.maps = nn.ModuleList(identity(width) for _ in range(4))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        query, key, value, out = self.maps
        if self.asking == "first":
            asking = states[:, 0]
        else:
            asking = (masked_mean if self.asking == "mean" else last_state)(states, mask)
        mixed = attend(query(asking)[:, None], key(states), value(states), self.heads, mask)
        found: Tensor = out(mixed[:, 0])
        return found + asking if self.residual else found


class Splade(Pooling):
    """Greatest log-saturated weight of each term (SPLADE v2), or their sum.

    Args:
        width: d.
        terms: width of the vector; BERT's vocabulary published.
        join: over tokens.
    """

    name, title = "splade", "greatest log-saturated weight of each term (SPLADE v2)"
    paper, equation = (
        "2109.10086",
        "z_j = max_i ln(1 + relu(E_j · t(x_i) + b_j)), t(x) = LN(gelu(xW + c))",
    )

    def __init__(
        self, width: int, *, terms: int = 1024, join: Literal["max", "sum"] = "max"
    ) -> None:
        super().__init__(width)
        check(terms >= 1, self.name, f"terms={terms}", "1 or more")
        self.join = join
        self.head = nn.Sequential(identity(width, bias=True), nn.GELU(), nn.LayerNorm(width))
        self.terms = nn.Linear(width, terms)
        nn.init.normal_(self.terms.weight, std=width**-0.5)
        nn.init.zeros_(self.terms.bias)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        # The bias gives padding weights; masking with 0 suits the maximum, too: none is negative.
        weights = torch.log1p(F.relu(self.terms(self.head(states)))) * mask[..., None]
        return weights.amax(1) if self.join == "max" else weights.sum(1)


class WordPool(Pooling):
    """Learned prefixes read the text through a small encoder (arXiv 2310.11628, step 3).

    Args:
        width: d.
        prefixes: p; 4 in the code, 1 in the paper's figure.
        heads: divide the width.
        layers: of the encoder.
        join: mean of the prefixes, or all of them.
    """

    name, title = "wordpool", "learned prefixes read the text through a small encoder"
    paper, equation = "2310.11628", "z = LN(encoder([P; x_1 … x_n])[:p])"

    def __init__(
        self,
        width: int,
        *,
        prefixes: int = 1,
        heads: int = 1,
        layers: int = 1,
        join: Literal["mean", "concat"] = "mean",
    ) -> None:
        super().__init__(width)
        check_heads(self.name, heads, width)
        check(prefixes >= 1 and layers >= 1, self.name, "no prefix or layer", "1 or more")
        self.prefixes, self.join = prefixes, join
        self.prefix = nn.Parameter(0.02 * torch.randn(prefixes, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        for layer in self.layers:  # identity values: the first output is nearly a mean of LN(x)
            with torch.no_grad():
                layer.self_attn.in_proj_weight[2 * width :] = torch.eye(width)
            nn.init.eye_(layer.self_attn.out_proj.weight)
            nn.init.normal_(layer.linear2.weight, std=0.02)
        self.norm = nn.LayerNorm(width)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        read = self.read(states, mask)
        return read.mean(1) if self.join == "mean" else read.flatten(1)

    def read(self, states: Tensor, mask: Tensor) -> Tensor:
        """States of the prefixes, ``(texts, p, d)``."""
        row = torch.cat([self.prefix.expand(len(states), -1, -1), states], 1)
        there = torch.ones_like(mask[:, :1]).expand(-1, self.prefixes)
        hidden = ~torch.cat([there, mask], 1)
        for layer in self.layers:
            row = layer(row, src_key_padding_mask=hidden)
        found: Tensor = self.norm(row[:, : self.prefixes])
        return found


POOLINGS = (PMA, LatentAttention, AdaPool, Splade, WordPool)
