"""Pooling by a query; the reference is ``milepost_lab.pooling.xpool``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, masked_softmax


class Conditioned(PoolModule):
    """Base class of poolings by a query; subclasses define ``conditioned``.

    Queries are ``(texts, d)``, one for each text, or ``(texts, q, d)``, which gives vectors
    ``(texts, q, d)``: ``queries.expand(texts, -1, -1)`` gives all pairs of a batch.
    """

    def pool(self, states: Tensor, mask: Tensor, queries: Tensor | None, _: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.xpool``."""
        assert queries is not None
        if queries.ndim == 3:
            return self.conditioned(states, mask, queries)
        return self.conditioned(states, mask, queries[:, None])[:, 0]

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """Pool states ``(b, n, d)``, mask ``(b, n)`` by queries ``(b, q, d)``: ``(b, q, d)``."""
        raise NotImplementedError


class XPool(Conditioned):
    """``xpool``."""

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.xpool.XPool``."""
        held = self.layer_norm(states, "input")
        asked = self._heads(self._map("query", self.normed(queries)))
        keys = self._heads(held @ self.weight("key_map"))
        values = self._heads(self._map("value", held))
        sharp = asked.shape[-1] ** 0.5 * float(self.settings["temperature"])
        logits = asked @ keys.transpose(2, 3) / sharp  # (b, heads, q, n)
        shares = masked_softmax(logits, mask[:, None, None].expand_as(logits), 3)
        merged = (shares @ values).transpose(1, 2).flatten(2)
        vectors = self.layer_norm(self._map("out", merged), "pooled")
        if self.settings["branch"]:
            beside = self._map("branch", vectors)
            vectors = vectors + F.dropout(beside, float(self.settings["dropout"]), self.training)
        return self.layer_norm(vectors, "final") if self.settings["final_norm"] else vectors

    def normed(self, queries: Tensor) -> Tensor:
        """Apply the first LayerNorm, LN1, to the queries."""
        return self.layer_norm(queries, "input" if self.settings["shared_norm"] else "query")

    def _map(self, name: str, values: Tensor) -> Tensor:
        return values @ self.weight(f"{name}_map") + self.weight(f"{name}_bias")

    def _heads(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (int(self.settings["heads"]), -1)).transpose(1, 2)


class Similar(Conditioned):
    """Base class of poolings weighted only by cosines; subclasses define ``shares``."""

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.xpool.Similar``."""
        held = F.normalize(states, dim=-1)
        cosines = F.normalize(queries, dim=-1) @ held.transpose(1, 2)
        return self.shares(cosines, mask[:, None].expand_as(cosines)) @ held

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """Convert cosines ``(b, q, n)`` to the weight of each state in the mean."""
        raise NotImplementedError


class QueryTopK(Similar):
    """``query-top-k``."""

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.xpool.QueryTopK``."""
        shown = cosines.masked_fill(~mask, -torch.inf)
        ordered = torch.sort(shown, dim=-1, descending=True, stable=True).indices
        # The argsort of an argsort gives ranks.
        best = mask & (ordered.argsort(-1) < int(self.settings["k"]))
        return best / best.sum(-1, keepdim=True)


class QuerySoftmax(Similar):
    """``query-softmax``."""

    def shares(self, cosines: Tensor, mask: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.xpool.QuerySoftmax``."""
        return masked_softmax(cosines / float(self.settings["temperature"]), mask, -1)


MODULES: dict[str, type[PoolModule]] = {
    "xpool": XPool,
    "query-top-k": QueryTopK,
    "query-softmax": QuerySoftmax,
}
