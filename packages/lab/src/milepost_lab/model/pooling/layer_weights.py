"""One weight for each layer; the reference is ``milepost_lab.pooling.layer_weights``."""

from __future__ import annotations

import torch
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, last_state, masked_mean
from milepost_lab.model.pooling.neighbours import rms_scaled


def summaries(states: Tensor, mask: Tensor, summary: str) -> Tensor:
    """See ``milepost_lab.pooling.layer_weights.summaries``: ``(texts, layers, d)``."""
    return (masked_mean if summary == "mean" else last_state)(states, mask)


def sparsemax(scores: Tensor) -> Tensor:
    """See ``pooling.layer_weights.sparsemax``; the gradient is that of the projection."""
    falling = torch.sort(scores, descending=True).values
    total = torch.cumsum(falling, 0)
    count = torch.arange(1, len(scores) + 1, device=scores.device)
    inside = (1 + count * falling > total).sum()
    threshold = (torch.gather(total, 0, (inside - 1)[None]) - 1) / inside
    return torch.relu(scores - threshold)


class _Weighted(PoolModule):
    """Weighted sum of one vector for each layer."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, __: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.layer_weights``."""
        found = summaries(states, mask, self.settings["summary"])
        found = rms_scaled(found) if self.settings["normalised"] else found
        return self.mixed(found)

    def mixed(self, found: Tensor) -> Tensor:
        """Mix layers: ``(texts, layers, d)`` → ``(texts, d)``."""
        raise NotImplementedError


class LayerMean(_Weighted):
    """``layer-mean``."""

    def mixed(self, found: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.layer_weights.layer_mean``."""
        return found.mean(1)


class LayerMix(_Weighted):
    """``layer-mix``."""

    def mixed(self, found: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.layer_weights.layer_mix``."""
        share = torch.softmax(self.weight("scores"), 0)
        return self.weight("scale") * (share[:, None] * found).sum(1)


class LayerSparse(_Weighted):
    """``layer-sparse``."""

    def mixed(self, found: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.layer_weights.layer_sparse``."""
        return (sparsemax(self.weight("scores"))[:, None] * found).sum(1)


MODULES: dict[str, type[PoolModule]] = {
    "layer-mean": LayerMean,
    "layer-mix": LayerMix,
    "layer-sparse": LayerSparse,
}
