"""Token mixers with one signature and equal numbers of parameters.

attention     softmax attention, by torch's fused kernel: time O(n²), memory O(n)
plain         the same with its n × n matrix written out: memory O(n²)
fft           FNet (arXiv 2105.03824): the real part of a Fourier transform over tokens and
              channels, without parameters: O(n log n)
aggregation   PoNet's global aggregation alone: O(n)
ponet         PoNet (arXiv 2110.02442): O(n)
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError, nearest
from milepost_lab.model.pooling.module import masked_mean, masked_softmax
from milepost_lab.model.pooling.ponet import aggregated
from milepost_lab.model.pooling.ponet_layer import EncoderLayer, PoNetMixer


class Attention(nn.Module):
    """Softmax attention (arXiv 1706.03762).

    Args:
        width: d of the states.
        heads: number of heads, a divisor of the width.
        fused: let torch choose a kernel that never writes the matrix of weights.
    """

    def __init__(self, width: int, heads: int, *, fused: bool = True) -> None:
        super().__init__()
        self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self._heads, self._fused = heads, fused

    def forward(self, states: Tensor, mask: Tensor, _: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        maps = self.maps(states).chunk(3, dim=-1)
        query, key, value = (each.unflatten(-1, (self._heads, -1)).transpose(1, 2) for each in maps)
        seen = mask[:, None, None]
        if self._fused:
            mix = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        else:
            logits = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5
            mix = masked_softmax(logits, seen.expand_as(logits), 3) @ value
        result: Tensor = self.out(mix.transpose(1, 2).flatten(2))
        return result


class Fourier(nn.Module):
    """FNet's mixing. It ignores the mask, so its output depends on the padding of a batch."""

    def forward(self, states: Tensor, _: Tensor, __: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        return torch.fft.fft2(states.float()).real.to(states.dtype)


class Aggregation(nn.Module):
    """PoNet's global aggregation times each token, without segments and neighbours.

    Args:
        width: d of the states.
        heads: number of heads, a divisor of the width.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self._heads = heads

    def forward(self, states: Tensor, mask: Tensor, _: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        query, key, own = self.maps(states).chunk(3, dim=-1)
        whole = aggregated(query.float(), key.float(), mask, self._heads)
        result: Tensor = self.out(whole[:, None].to(own.dtype) * own)
        return result


MIXERS: dict[str, Callable[[int, int], nn.Module]] = {
    "attention": Attention,
    "plain": lambda width, heads: Attention(width, heads, fused=False),
    "fft": lambda width, heads: Fourier(),
    "aggregation": Aggregation,
    "ponet": PoNetMixer,
}
"""Name → constructor, which takes the width and the number of heads."""


def mixer(name: str, width: int, heads: int) -> nn.Module:
    """Make a mixer by name.

    Raises:
        InputError: there is no such mixer; the hint gives the nearest known name.
    """
    if name not in MIXERS:
        raise InputError(
            f"unknown mixer {name!r}",
            f"{nearest(name, tuple(MIXERS))}one of {', '.join(MIXERS)}",
        )
    return MIXERS[name](width, heads)


def layer(name: str, width: int, heads: int) -> EncoderLayer:
    """Make a layer with as many parameters as a PoNet layer with an inner width of 2 d.

    A mixer with fewer parameters has a wider feed-forward layer, up to the rounding of one
    channel (2 d + 1 parameters).
    """
    made = mixer(name, width, heads)
    spare = count(PoNetMixer(width, heads)) - count(made)
    return EncoderLayer(made, width, 2 * width + round(spare / (2 * width + 1)))


def count(module: nn.Module) -> int:
    """Number of trainable parameters."""
    return sum(weight.numel() for weight in module.parameters() if weight.requires_grad)


class Classifier(nn.Module):
    """Token embeddings, sinusoidal positions, layers of one mixer, mean pooling, a linear head.

    Args:
        name: name of the mixer.
        vocabulary: number of token ids.
        classes: number of classes.
        width, heads, layers: sizes of the encoder.
    """

    def __init__(
        self,
        name: str,
        vocabulary: int,
        classes: int,
        *,
        width: int = 64,
        heads: int = 2,
        layers: int = 2,
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(layer(name, width, heads) for _ in range(layers))
        self.head = nn.Linear(width, classes)
        self._width = width

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """Class scores ``(b, classes)`` from three inputs ``(b, n)``."""
        result: Tensor = self.head(masked_mean(self.states(ids, mask, segments), mask))
        return result

    def states(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """States of the last layer, ``(b, n, width)``, from three inputs ``(b, n)``."""
        states: Tensor = self.norm(self.table(ids) + places(ids.shape[1], self._width))
        for each in self.layers:
            states = each(states, mask, segments)
        return states


def places(length: int, width: int) -> Tensor:
    """Sinusoids of the positions ``0 … length - 1``, ``(length, width)`` (arXiv 1706.03762)."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]
