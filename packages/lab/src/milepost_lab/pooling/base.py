"""The base of all poolings: padded states and a mask in, one vector for each text out.

A pooling is a ``torch.nn.Module`` whose ``forward(states, mask, *, queries, segments)`` takes

    states    (texts, n, d) float32, 0 beyond the mask; (texts, n, layers, d) if it needs layers
    mask      (texts, n) bool, true at tokens
    queries   (texts, d), or (texts, q, d) for several queries of each text; if it needs them
    segments  (texts, n) int64, the number of each token's segment from 0; if it needs them

and returns ``(texts, d_out)``, or ``(texts, q, d_out)`` for several queries. Settings are the
keyword arguments of its class.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError

Need = Literal["queries", "segments", "layers"]
Late = Literal["", "many", "one"]

RMS_FLOOR = 1e-6


class Pooling(nn.Module):
    """Base class; subclasses define ``forward``.

    Class attributes:
        name, title, paper, equation: of the table; ``paper`` is an arXiv number, or "".
        needs: inputs beside states and mask.
        ordered: whether the order of tokens matters.
        late: late interaction: ``many`` gives a vector for each token, scored by MaxSim, ``one``
            a vector whose product with a query's approximates MaxSim; "" for all others.
        query_settings: settings that replace those of texts when a query is pooled.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str] = ""
    equation: ClassVar[str]
    needs: ClassVar[frozenset[Need]] = frozenset()
    ordered: ClassVar[bool] = False
    late: ClassVar[Late] = ""
    query_settings: ClassVar[dict[str, int | str]] = {}

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width


def check(condition: bool, name: str, message: str, hint: str) -> None:
    """Raise ``InputError`` about a setting of the pooling ``name`` unless the condition holds."""
    if not condition:
        raise InputError(f"{name}: {message}", hint)


def check_heads(name: str, heads: int, width: int) -> None:
    """Raise ``InputError`` unless heads divide the width."""
    check(
        heads >= 1 and width % heads == 0,
        name,
        f"{heads} heads do not divide states of width {width}",
        "a divisor of the width",
    )


def identity(width: int, bias: bool = False) -> nn.Linear:
    """A linear map that begins as the identity."""
    made = nn.Linear(width, width, bias=bias)
    nn.init.eye_(made.weight)
    if bias:
        nn.init.zeros_(made.bias)
    return made


def padded(texts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Pad texts ``(tokens, …)`` to one tensor; also return the mask ``(texts, longest)``."""
    states = nn.utils.rnn.pad_sequence(texts, batch_first=True)
    lengths = torch.tensor([len(text) for text in texts], device=states.device)
    return states, torch.arange(states.shape[1], device=states.device) < lengths[:, None]


def masked_mean(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of ``(texts, n, …)`` where ``mask`` ``(texts, n)`` holds; 0 where it never does."""
    there = mask.view(*mask.shape, *(1,) * (states.ndim - 2))
    count = mask.sum(1).clamp(min=1).view(-1, *(1,) * (states.ndim - 2))
    return (states * there).sum(1) / count


def masked_max(states: Tensor, mask: Tensor) -> Tensor:
    """Maximum of ``(texts, n, d)`` where ``mask`` holds."""
    return states.masked_fill(~mask[..., None], -torch.inf).amax(1)


def last_state(states: Tensor, mask: Tensor) -> Tensor:
    """The state of each text's last token, ``(texts, n, …)`` → ``(texts, …)``."""
    place = (mask.sum(1) - 1).view(-1, *(1,) * (states.ndim - 1))
    return torch.gather(states, 1, place.expand(-1, 1, *states.shape[2:]))[:, 0]


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = 1) -> Tensor:
    """Softmax that is 0 beyond ``mask``, which has the scores' shape."""
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim)


def closes(mask: Tensor, segments: Tensor) -> Tensor:
    """Which positions are the last of their segment, ``(texts, n)`` bool."""
    inside = torch.where(mask, segments, torch.full_like(segments, -1))
    following = torch.cat([inside[:, 1:], torch.full_like(inside[:, :1], -1)], 1)
    return mask & (following != inside)


def rms_scaled(values: Tensor) -> Tensor:
    """Divide rows by their root mean square; a row of zeros stays zero."""
    return values * torch.rsqrt(values.square().mean(-1, keepdim=True) + RMS_FLOOR)


def attend(
    query: Tensor, key: Tensor, value: Tensor, heads: int, mask: Tensor | None = None
) -> Tensor:
    """Multihead attention: ``(b, q, d)``, ``(b, n, d)`` twice → ``(b, q, d)``.

    Args:
        query: already mapped.
        key: already mapped.
        value: already mapped.
        heads: divide d.
        mask: ``(b, n)`` bool, true at keys that may be read; None for all.
    """
    split = [each.unflatten(-1, (heads, -1)).transpose(1, 2) for each in (query, key, value)]
    allowed = None if mask is None else mask[:, None, None]
    found = F.scaled_dot_product_attention(split[0], split[1], split[2], attn_mask=allowed)
    return found.transpose(1, 2).flatten(2)
