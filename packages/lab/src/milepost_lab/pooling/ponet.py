"""Multi-granularity pooling of PoNet (arXiv 2110.02442): global, segment and local, fused."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import (
    Pooling,
    check,
    check_heads,
    closes,
    identity,
    masked_mean,
    masked_softmax,
)

Readout = Literal["landmarks", "mean"]


def global_aggregation(query: Tensor, key: Tensor, mask: Tensor, heads: int) -> Tensor:
    """Equation 1: ``g' = Σ a_n k_n``, ``a = softmax(<g, k_n>/√c)``, ``g`` the mean query.

    ``(b, n, d)`` twice → ``(b, d)``. Values are the keys.
    """
    keys = key.unflatten(-1, (heads, -1))
    whole = masked_mean(query, mask).unflatten(-1, (heads, -1))
    logits = (whole[:, None] * keys).sum(-1) / keys.shape[-1] ** 0.5
    weights = masked_softmax(logits, mask[..., None].expand_as(logits))
    return (weights[..., None] * keys).sum(1).flatten(1)


def segment_max(values: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
    """Equation 2: the maximum of each token's segment; arbitrary beyond the mask.

    Equal maxima share the gradient.
    """
    place = torch.where(mask, segments, torch.zeros_like(segments))[..., None].expand_as(values)
    shown = values.masked_fill(~mask[..., None], -torch.inf)
    nothing = torch.full_like(values, -torch.inf)
    return nothing.scatter_reduce(1, place, shown, "amax").gather(1, place)


def local_max(values: Tensor, mask: Tensor, window: int) -> Tensor:
    """Equation 3: the maximum over ``window`` neighbours; -inf where no neighbour is a token."""
    length, around = values.shape[1], window // 2
    shown = values.masked_fill(~mask[..., None], -torch.inf)
    wide = F.pad(shown, (0, 0, around, around), value=-torch.inf)
    return torch.stack([wide[:, at : at + length] for at in range(window)]).amax(0)


def fused(maps: list[Tensor], mask: Tensor, segments: Tensor, heads: int, window: int) -> Tensor:
    """Equation 4: ``P = (g' + S) · H_O + L``, ``(b, n, d)``, 0 beyond the mask.

    Args:
        maps: H_Q, H_K, H_O, H_S and H_L, ``(b, n, d)`` each.
        mask: ``(b, n)`` bool.
        segments: ``(b, n)``.
        heads: see ``global_aggregation``.
        window: see ``local_max``.
    """
    query, key, own, segment, local = maps
    whole = global_aggregation(query, key, mask, heads)[:, None]
    mix = (whole + segment_max(segment, mask, segments)) * own + local_max(local, mask, window)
    # Not a product with the mask: a window without a token is minus infinity.
    return torch.where(mask[..., None], mix, torch.zeros_like(mix))


def balanced_segments(mask: Tensor, count: int) -> Tensor:
    """Cut each text's own length into ``count`` segments: ``floor(n K / N)``, ``(b, n)``.

    The published rule cuts the padded length, so that a text depends on its batch.
    """
    lengths = mask.sum(1, keepdim=True)
    places = torch.arange(mask.shape[1], device=mask.device)
    return (places * count // lengths).clamp(max=count - 1)


class PoNetMixer(nn.Module):
    """Equations 1 to 4 and the output map: six maps of width d.

    Raises:
        InputError: heads do not divide the width, or the window is even.
    """

    def __init__(self, width: int, heads: int = 1, window: int = 3) -> None:
        super().__init__()
        check_heads("ponet", heads, width)
        check(window % 2 == 1, "ponet", f"window={window}", "an odd number")
        self.maps = nn.ModuleList(nn.Linear(width, width) for _ in range(5))
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        maps = [each(states) for each in self.maps]
        mixed: Tensor = self.out(fused(maps, mask, segments, self.heads, self.window))
        return mixed


def read_out(values: Tensor, mask: Tensor, segments: Tensor, readout: Readout) -> Tensor:
    """Average all tokens, or those that close a segment: ``(b, n, d)`` → ``(b, d)``."""
    chosen = mask if readout == "mean" else closes(mask, segments)
    return masked_mean(values.masked_fill(~chosen[..., None], 0.0), chosen)


class PoNet(Pooling):
    """One mixing layer that begins as the identity, then a mean."""

    name, paper = "ponet", "2110.02442"
    title = "tokens mixed with pools of text, segment and neighbours (PoNet)"
    equation = "z = mean LN(x + PW + b), P = (g' + S) · H_O + L"
    needs, ordered = frozenset({"segments"}), True

    def __init__(
        self, width: int, *, heads: int = 1, window: int = 3, readout: Readout = "landmarks"
    ) -> None:
        super().__init__(width)
        self.mixer, self.norm, self.readout = (
            PoNetMixer(width, heads, window),
            nn.LayerNorm(width),
            readout,
        )
        self.mixer.maps = nn.ModuleList(identity(width, bias=True) for _ in range(5))
        self.mixer.out = identity(width, bias=True)

    def forward(self, states: Tensor, mask: Tensor, *, segments: Tensor) -> Tensor:
        """See ``Pooling``."""
        vectors = self.norm(states + self.mixer(states, mask, segments))
        return read_out(vectors, mask, segments, self.readout)


class PoNetTriple(Pooling):
    """The three pools without parameters, side by side."""

    name, paper = "ponet-triple", "2110.02442"
    title = "mean, maxima of segments and maxima of neighbours side by side"
    equation = "z = [mean x ; mean S ; mean L]"
    needs, ordered = frozenset({"segments"}), True

    def __init__(self, width: int, *, window: int = 3, readout: Readout = "landmarks") -> None:
        super().__init__(width)
        check(window % 2 == 1, self.name, f"window={window}", "an odd number")
        self.window, self.readout = window, readout

    def forward(self, states: Tensor, mask: Tensor, *, segments: Tensor) -> Tensor:
        """See ``Pooling``."""
        maxima = segment_max(states, mask, segments), local_max(states, mask, self.window)
        parts = [read_out(each, mask, segments, self.readout) for each in maxima]
        return torch.cat([masked_mean(states, mask), *parts], 1)


POOLINGS = (PoNet, PoNetTriple)
