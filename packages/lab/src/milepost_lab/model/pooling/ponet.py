"""Multi-granularity pooling; the reference is ``milepost_lab.pooling.ponet``.

Equal maxima share the gradient equally, in segments and in windows.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, closes, masked_mean, masked_softmax
from milepost_lab.pooling.ponet import MAPS


def local_max(values: Tensor, mask: Tensor, window: int) -> Tensor:
    """See ``pooling.ponet.local_max``; minus infinity where no neighbour is a token."""
    length, around = values.shape[1], window // 2
    shown = values.masked_fill(~mask[..., None], -torch.inf)
    wide = F.pad(shown, (0, 0, around, around), value=-torch.inf)
    return torch.stack([wide[:, at : at + length] for at in range(window)]).amax(0)


def segment_max(values: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
    """See ``milepost_lab.pooling.ponet.segment_max``; values beyond the mask are arbitrary."""
    place = torch.where(mask, segments, torch.zeros_like(segments))[..., None].expand_as(values)
    shown = values.masked_fill(~mask[..., None], -torch.inf)
    nothing = torch.full_like(values, -torch.inf)
    return nothing.scatter_reduce(1, place, shown, "amax").gather(1, place)


def aggregated(query: Tensor, key: Tensor, mask: Tensor, heads: int) -> Tensor:
    """See ``milepost_lab.pooling.ponet.aggregated``: ``(b, n, d)`` twice → ``(b, d)``."""
    keys = key.unflatten(-1, (heads, -1))
    real = mask[..., None]
    whole = masked_mean(query * real, mask).unflatten(-1, (heads, -1))
    logits = (whole[:, None] * keys).sum(-1) / keys.shape[-1] ** 0.5
    shares = masked_softmax(logits, real.expand_as(logits))
    return (shares[..., None] * keys).sum(1).flatten(1)


def mixed(maps: list[Tensor], mask: Tensor, segments: Tensor, *, heads: int, window: int) -> Tensor:
    """See ``milepost_lab.pooling.ponet.mixed``: ``(b, n, d)``, 0 beyond the mask."""
    query, key, own, segment, local = maps
    whole = aggregated(query, key, mask, heads)[:, None]
    mix = (whole + segment_max(segment, mask, segments)) * own + local_max(local, mask, window)
    # Not a product with the mask: a window without a token is minus infinity.
    return torch.where(mask[..., None], mix, torch.zeros_like(mix))


class PoNet(PoolModule):
    """``ponet``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, segments: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.ponet.ponet``."""
        heads, window = int(self.settings["heads"]), int(self.settings["window"])
        maps = [self._map(name, states) for name in MAPS]
        update = self._map("out", mixed(maps, mask, segments, heads=heads, window=window))
        scale, shift = self.weight("norm_scale"), self.weight("norm_shift")
        vectors = F.layer_norm(states + update, (self.width,), scale, shift)
        return read_out(vectors, mask, segments, str(self.settings["readout"]))

    def _map(self, name: str, values: Tensor) -> Tensor:
        return values @ self.weight(f"{name}_map") + self.weight(f"{name}_bias")


class Triple(PoolModule):
    """``ponet-triple``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, segments: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.ponet.triple``."""
        readout, window = str(self.settings["readout"]), int(self.settings["window"])
        maximal = segment_max(states, mask, segments), local_max(states, mask, window)
        parts = [read_out(each, mask, segments, readout) for each in maximal]
        return torch.cat([masked_mean(states, mask), *parts], 1)


def read_out(values: Tensor, mask: Tensor, segments: Tensor, readout: str) -> Tensor:
    """Average all tokens, or those that close a segment: ``(b, n, d)`` → ``(b, d)``."""
    chosen = mask if readout == "mean" else closes(mask, segments)
    return masked_mean(values.masked_fill(~chosen[..., None], 0.0), chosen)


MODULES: dict[str, type[PoolModule]] = {"ponet": PoNet, "ponet-triple": Triple}
