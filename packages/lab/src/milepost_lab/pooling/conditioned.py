"""Poolings by a query: X-Pool (arXiv 2203.15086) and its baselines without parameters."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import Pooling, check, check_heads, identity, masked_softmax


class Conditioned(Pooling):
    """Base of poolings by a query; subclasses define ``conditioned``."""

    needs = frozenset({"queries"})

    def forward(self, states: Tensor, mask: Tensor, *, queries: Tensor) -> Tensor:
        """See ``Pooling``."""
        if queries.ndim == 3:
            return self.conditioned(states, mask, queries)
        return self.conditioned(states, mask, queries[:, None])[:, 0]

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """Pool states ``(b, n, d)``, mask ``(b, n)`` by queries ``(b, q, d)``: ``(b, q, d_out)``.

        States may have the batch size 1: they are then pooled for all queries.
        """
        raise NotImplementedError


class XPool(Conditioned):
    """Attention of the query over the states, equations 1 to 5 of X-Pool.

    Args:
        width: d of states and queries.
        query_width: must be the width.
        heads: h; 1 in every experiment of the paper.
        temperature: divides the logits: with √c alone narrow states get flat weights.
        shared_norm: one LayerNorm for queries and states, as published.
        branch: the linear branch of eq. 5.
        final_norm: the LayerNorm of eq. 5.
        start: what the maps begin as.
        dropout: of the branch in training; 0.3 in the paper.
    """

    name, title, paper = "xpool", "attention of the query over the states (X-Pool)", "2203.15086"
    equation = "z = LN(r + rW + b), r = LN(Σ a_i v_i W_o + b_o), a = softmax(k·q/√c)"

    def __init__(
        self,
        width: int,
        *,
        query_width: int = 0,
        heads: int = 1,
        temperature: float = 1.0,
        shared_norm: bool = True,
        branch: bool = True,
        final_norm: bool = True,
        start: Literal["identity", "random"] = "identity",
        dropout: float = 0.0,
    ) -> None:
        super().__init__(width)
        check_heads(self.name, heads, width)
        check(temperature > 0, self.name, f"temperature={temperature}", "a number above 0")
        check(
            query_width in (0, width),
            self.name,
            f"queries have the width {query_width}, states {width}",
            "vectors of the same model for both",
        )
        self.heads, self.temperature = heads, temperature

        def linear() -> nn.Linear:
            return identity(width, bias=True) if start == "identity" else nn.Linear(width, width)

        self.norm = nn.LayerNorm(width)
        self.query_norm = self.norm if shared_norm else nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (linear() for _ in range(4))
        self.pooled_norm = nn.LayerNorm(width)
        self.branch = linear() if branch else None
        self.dropout = nn.Dropout(dropout)
        self.final_norm = nn.LayerNorm(width) if final_norm else None

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``Conditioned``."""
        weights, held = self.weights(states, mask, queries)
        values = self._split(self.value(held))
        merged = (weights @ values).transpose(1, 2).flatten(2)
        r = self.pooled_norm(self.out(merged))  # eq. 4
        z = r if self.branch is None else r + self.dropout(self.branch(r))  # eq. 5
        return z if self.final_norm is None else self.final_norm(z)

    def weights(self, states: Tensor, mask: Tensor, queries: Tensor) -> tuple[Tensor, Tensor]:
        """Attention (eq. 3) ``(b, heads, q, n)``, and the normed states (eq. 2) ``(b, n, d)``."""
        held = self.norm(states)
        asked, keys = self._split(self.query(self.query_norm(queries))), self._split(self.key(held))
        logits = asked @ keys.transpose(2, 3) / (asked.shape[-1] ** 0.5 * self.temperature)
        return masked_softmax(logits, mask[:, None, None].expand_as(logits), 3), held

    def _split(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Similar(Conditioned):
    """Base of means of unit states weighted by cosines; subclasses define ``shares``."""

    paper = "2203.15086"

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``Conditioned``."""
        held = F.normalize(states, dim=-1)
        cosines = F.normalize(queries, dim=-1) @ held.transpose(1, 2)
        return self.shares(cosines, mask[:, None].expand_as(cosines)) @ held

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """Weight of each state in the mean, of cosines ``(b, q, n)``."""
        raise NotImplementedError


class QueryTopK(Similar):
    """Mean of the k states nearest to the query."""

    name, title = "query-top-k", "mean of the k states nearest to the query"
    equation = "z = (1/k) Σ x_i/|x_i| over the k greatest cos(q, x_i), k = min(k, n)"

    def __init__(self, width: int, *, query_width: int = 0, k: int = 3) -> None:
        super().__init__(width)
        check(k >= 1, self.name, f"k={k}", "1 or more")
        self.k = k

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """See ``Similar.shares``."""
        shown = cosines.masked_fill(~mask, -torch.inf)
        ordered = torch.sort(shown, dim=-1, descending=True, stable=True).indices
        best = mask & (ordered.argsort(-1) < self.k)  # the argsort of an argsort gives ranks
        return best / best.sum(-1, keepdim=True)


class QuerySoftmax(Similar):
    """Mean weighted by similarity to the query."""

    name, title = "query-softmax", "mean weighted by similarity to the query"
    equation = "z = Σ a_i x_i/|x_i|, a = softmax(cos(q, x_i)/τ)"

    def __init__(self, width: int, *, query_width: int = 0, temperature: float = 0.01) -> None:
        super().__init__(width)
        check(temperature > 0, self.name, f"temperature={temperature}", "a number above 0")
        self.temperature = temperature

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """See ``Similar.shares``."""
        return masked_softmax(cosines / self.temperature, mask, -1)


POOLINGS = (XPool, QueryTopK, QuerySoftmax)
