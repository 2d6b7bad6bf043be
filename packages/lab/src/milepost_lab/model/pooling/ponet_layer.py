"""PoNet's mixing as a layer of an encoder, at a cost of O(n d²).

    x = LN(x + mixer(x)),  x = LN(x + feed-forward(x))

as in BERT. ``EncoderLayer`` takes any mixer of this signature, so that mixers can be compared.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.model.pooling.ponet import mixed


class PoNetMixer(nn.Module):
    """Global aggregation, segment maxima and local maxima, combined with each token: six maps.

    Args:
        width: d of the states.
        heads: heads of the global aggregation, a divisor of the width.
        window: tokens of the local maximum, an odd number.

    Raises:
        InputError: heads do not divide the width, or the window is even.
    """

    def __init__(self, width: int, heads: int = 1, window: int = 3) -> None:
        super().__init__()
        if width % heads or window % 2 == 0:
            raise InputError(
                f"{heads} heads of {width} channels and a window of {window} cannot be",
                "heads that divide the width, and an odd window",
            )
        self.maps = nn.Linear(width, 5 * width)
        self.out = nn.Linear(width, width)
        self._heads, self._window = heads, window

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """``(b, n, d)`` → ``(b, n, d)``; see ``milepost_lab.pooling.ponet.mixed``."""
        maps = [each.float() for each in self.maps(states).chunk(5, dim=-1)]
        mix = mixed(maps, mask, segments, heads=self._heads, window=self._window)
        result: Tensor = self.out(mix.to(states.dtype))
        return result


class EncoderLayer(nn.Module):
    """A mixer and a feed-forward layer, each followed by its residual sum and LayerNorm.

    Args:
        mixer: ``(states, mask, segments)`` → states.
        width: d of the states.
        inner: width of the feed-forward layer.
        dropout: dropout of both updates, in training.
    """

    def __init__(self, mixer: nn.Module, width: int, inner: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.mixer = mixer
        self.mixer_norm, self.inner_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, inner), nn.Linear(inner, width)
        self._dropout = dropout

    def forward(self, states: Tensor, mask: Tensor, segments: Tensor) -> Tensor:
        """Apply the mixer and the feed-forward layer.

        Args:
            states: ``(b, n, d)``; states beyond the mask are not read.
            mask: ``(b, n)`` bool.
            segments: ``(b, n)`` int64, the segment of each token, from 0 in each text.

        Returns:
            ``(b, n, d)``, 0 beyond the mask.
        """
        real = mask[..., None]
        clean = torch.where(real, states, torch.zeros_like(states))
        mix = F.dropout(self.mixer(clean, mask, segments), self._dropout, self.training)
        states = self.mixer_norm(clean + mix)
        update = self.narrow(F.gelu(self.widen(states)))
        states = self.inner_norm(states + F.dropout(update, self._dropout, self.training))
        return torch.where(real, states, torch.zeros_like(states))


def ponet_layer(
    width: int, *, heads: int = 1, window: int = 3, inner: int = 0, dropout: float = 0.0
) -> EncoderLayer:
    """Create PoNet's encoder layer.

    Args:
        width: d of the states.
        heads: heads of the global aggregation.
        window: tokens of the local maximum, an odd number.
        inner: width of the feed-forward layer; 0 for four times the width, as in BERT.
        dropout: dropout of both updates, in training.

    Raises:
        InputError: heads do not divide the width, or the window is even.
    """
    return EncoderLayer(PoNetMixer(width, heads, window), width, inner or 4 * width, dropout)
