"""Encoder layers that differ in their token mixer alone, with equal numbers of parameters.

    attention    softmax attention, by torch's fused kernel
    plain        the same with its n × n matrix written out: memory O(n²)
    fft          FNet (arXiv 2105.03824): real part of a Fourier transform of tokens and channels
    aggregation  PoNet's equation 1 alone, times each token
    ponet        equations 1 to 4, ``milepost_lab.pooling.ponet``

Equation 5 is BERT's layer: ``x = LN(x + mixer(x)), x = LN(x + FFN(x))``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import attend, masked_mean, masked_softmax
from milepost_lab.pooling.ponet import PoNetMixer, global_aggregation
from milepost_lab.training import parameters


class Attention(nn.Module):
    """Softmax attention; ``fused`` never writes the matrix of weights."""

    def __init__(self, width: int, heads: int, *, fused: bool = True) -> None:
        super().__init__()
        self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.fused = heads, fused

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        query, key, value = self.maps(states).chunk(3, dim=-1)
        if self.fused:
            mixed: Tensor = self.out(attend(query, key, value, self.heads, mask))
            return mixed
        split = [x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in (query, key, value)]
        logits = split[0] @ split[1].transpose(2, 3) / split[0].shape[-1] ** 0.5
        weights = masked_softmax(logits, mask[:, None, None].expand_as(logits), 3)
        written: Tensor = self.out((weights @ split[2]).transpose(1, 2).flatten(2))
        return written


class Fourier(nn.Module):
    """FNet's mixing. It ignores the mask, so its output depends on the padding of a batch."""

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        return torch.fft.fft2(states).real


class Aggregation(nn.Module):
    """Global aggregation times each token, without segments and neighbours."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads = heads

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``."""
        query, key, own = self.maps(states).chunk(3, dim=-1)
        mixed: Tensor = self.out(global_aggregation(query, key, mask, self.heads)[:, None] * own)
        return mixed


MIXERS: dict[str, Callable[[int, int], nn.Module]] = {
    "attention": Attention,
    "plain": lambda width, heads: Attention(width, heads, fused=False),
    "fft": lambda width, heads: Fourier(),
    "aggregation": Aggregation,
    "ponet": PoNetMixer,
}


class EncoderLayer(nn.Module):
    """Equation 5, with as many parameters as a PoNet layer whose inner width is 2 d.

    A mixer with fewer parameters has a wider feed-forward part, up to the rounding of one channel.
    """

    def __init__(self, mixer: str, width: int, heads: int) -> None:
        super().__init__()
        self.mixer = MIXERS[mixer](width, heads)
        spare = parameters(PoNetMixer(width, heads)) - parameters(self.mixer)
        inner = 2 * width + round(spare / (2 * width + 1))
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self.mixer_norm, self.inner_norm = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``, 0 beyond the mask."""
        clean = states * mask[..., None]
        states = self.mixer_norm(clean + self.mixer(clean, mask, segments))
        states = self.inner_norm(states + self.narrow(F.gelu(self.widen(states))))
        return states * mask[..., None]


class Classifier(nn.Module):
    """Token embeddings, sinusoidal positions, two layers, mean pooling, a linear head."""

    def __init__(
        self, mixer: str, vocabulary: int, classes: int, width: int = 64, heads: int = 2
    ) -> None:
        super().__init__()
        self.table, self.norm = nn.Embedding(vocabulary, width), nn.LayerNorm(width)
        self.layers = nn.ModuleList(EncoderLayer(mixer, width, heads) for _ in range(2))
        self.head = nn.Linear(width, classes)

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """Class scores ``(b, classes)`` from three inputs ``(b, n)``."""
        table = self.table(ids)
        states = self.norm(table + positions(ids.shape[1], table.shape[-1]))
        for layer in self.layers:
            states = layer(states, mask, segments)
        scores: Tensor = self.head(masked_mean(states, mask))
        return scores


def positions(length: int, width: int) -> Tensor:
    """Sinusoids of the positions ``0 … length - 1``, ``(length, width)`` (arXiv 1706.03762)."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)[:, :width]
