"""P2AT for images (arXiv 2310.15025): its block, as published or corrected.

    1. u = PReLU(norm(conv x)); P2(x) = u · mix(avg3 u, avg5 avg3 u, avg7 avg5 avg3 u)
    2. rows and columns of q, k, v are means; A = softmax(q k' / √c) among rows, among columns
    3. attention(x) = proj(v + row_i + col_j) · local(x)
    4. block: x + attention(P2(x)), then x + MLP(x)

Rows and columns are reduced to means, so position (i, j) attends to (i', j') only through the means
of its row and column: this is neither full nor axial attention. What joins and decodes the levels
of a network around the block is in ``segmenter``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class Wiring:
    """One flag for each flaw; by default all are corrected.

    Attributes:
        middle: the pyramid's second average is used; as published the first stands there twice.
        interleave: each group of the mixing reads the scales of its own channel; as published it
            reads three channels of (mostly) one scale.
        masked: averages, means and attention know which cells are there.
        per_image: each channel is normed over the cells of its own image; as published over those
            of the whole batch.
        alike: the projections of rows and columns are the same; as published only the rows' has
            norm and activation.
        bounded: attention is squeezed to 0 … 1 before it multiplies the local branch, as in
            SeaFormer; as published it is not.
        scaled: position tables begin at 0.02 of N(0, 1); as published at N(0, 1).
        live: no weight of the global context is beyond the reach of gradients, and the upper
            level's gate is a sigmoid; as published 3x3 and 7x7 kernels meet a map of one cell, and
            a softmax over channels makes the gate 1/channels.
    """

    middle: bool = True
    interleave: bool = True
    masked: bool = True
    per_image: bool = True
    alike: bool = True
    bounded: bool = True
    scaled: bool = True
    live: bool = True


CORRECTED = Wiring()
PUBLISHED = Wiring(False, False, False, False, False, False, False, False)


class Norm(nn.Module):
    """The norm of a wiring, with a learned scale and shift for each channel.

    Args:
        channels: in and out.
        wiring: see there.
    """

    def __init__(self, channels: int, wiring: Wiring) -> None:
        super().__init__()
        self.batch = None if wiring.per_image else nn.BatchNorm2d(channels)
        if self.batch is None:
            self.scale = nn.Parameter(torch.ones(channels, 1, 1))
            self.shift = nn.Parameter(torch.zeros(channels, 1, 1))

    def forward(self, x: Tensor, there: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out; ``there`` as from ``cells``, None for all cells."""
        if self.batch is not None:
            normed: Tensor = self.batch(x)
            return normed
        if there is None:
            there = torch.ones_like(x[:, :1])
        count = there.sum((2, 3), keepdim=True).clamp(min=1)
        off = (x - (x * there).sum((2, 3), keepdim=True) / count) * there
        spread = off.square().sum((2, 3), keepdim=True) / count
        return off * torch.rsqrt(spread + 1e-5) * self.scale + self.shift


def cells(x: Tensor, mask: Tensor | None, wiring: Wiring) -> Tensor:
    """Which cells are there, ``(b, 1, h, w)`` in the type of ``x``; all without a mask."""
    if mask is None or not wiring.masked:
        return torch.ones_like(x[:, :1])
    return mask[:, None].to(x.dtype)


WIDTHS = (3, 5, 7)
TABLE = 16
"""Length of a position table before it is drawn out."""


def window(x: Tensor, there: Tensor, width: int, *, masked: bool) -> Tensor:
    """Mean of the window around each cell.

    Args:
        x: ``(b, c, h, w)``.
        there: ``(b, 1, h, w)``, 1 for cells that are there.
        width: odd.
        masked: divide by the cells that are there; else by ``width²``, zeros beyond the border
            counted in, as published.
    """
    total = F.avg_pool2d(x * there, width, 1, width // 2)
    if not masked:
        return total
    count = F.avg_pool2d(there, width, 1, width // 2)
    return total / count.clamp(min=0.5 / width**2) * there


class Pyramid(nn.Module):
    """Averages of averages, mixed and multiplied with what they are of (P2).

    Args:
        channels: in and out.
        wiring: see there.
    """

    def __init__(self, channels: int, wiring: Wiring = CORRECTED) -> None:
        super().__init__()
        self.wiring = wiring
        self.inward = nn.Conv2d(channels, channels, 1)
        self.norm = Norm(channels, wiring)
        self.activation = nn.PReLU(channels)
        self.mix = nn.Conv2d(3 * channels, channels, 3, padding=1, groups=channels)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        there = cells(x, mask, self.wiring)
        u = self.activation(self.norm(self.inward(x), there)) * there
        seen = [u]
        for width in WIDTHS:
            seen.append(window(seen[-1], there, width, masked=self.wiring.masked))
        mixed: Tensor = u * self.mix(self.joined(*seen[1:]))
        return mixed

    def joined(self, first: Tensor, second: Tensor, third: Tensor) -> Tensor:
        """The three scales as ``(b, 3c, h, w)``, of which group g reads channels 3g to 3g + 2."""
        scales = [first, second if self.wiring.middle else first, third]
        if self.wiring.interleave:
            return torch.stack(scales, 2).flatten(1, 2)
        return torch.cat(scales, 1)


def drawn_out(table: Tensor, lengths: Tensor, places: int) -> Tensor:
    """A table of positions drawn out to each item's own length, half-pixel and linear.

    Args:
        table: ``(c, t)``.
        lengths: ``(b,)``: what the table's ends stand for.
        places: how many to give.

    Returns:
        ``(b, c, places)``; beyond an item's length the last one goes on.
    """
    last = table.shape[1] - 1
    place = torch.arange(places, device=table.device, dtype=table.dtype) + 0.5
    place = place[None] * (last + 1) / lengths[:, None].to(table.dtype) - 0.5
    place = place.clamp(0, last)
    left = place.floor().long().clamp(max=max(last - 1, 0))
    share = (place - left)[None]
    right = (left + 1).clamp(max=last)
    return (table[:, left] * (1 - share) + table[:, right] * share).movedim(1, 0)


def squeezed(x: Tensor, there: Tensor, axis: Literal["row", "column"]) -> tuple[Tensor, Tensor]:
    """Means of rows or columns over the cells that are there.

    Args:
        x: ``(b, c, h, w)``.
        there: ``(b, 1, h, w)``.
        axis: what remains.

    Returns:
        ``(b, c, n)``, and ``(b, n)`` bool: which have any cell.
    """
    over = 3 if axis == "row" else 2
    count = there.sum(over)
    return (x * there).sum(over) / count.clamp(min=1), count[:, 0] > 0


def attended(queries: Tensor, keys: Tensor, values: Tensor, there: Tensor, heads: int) -> Tensor:
    """``softmax(q k' / √d) v`` among rows or columns, head by head.

    Args:
        queries: ``(b, heads·k, n)``.
        keys: of the same shape.
        values: ``(b, heads·v, n)``.
        there: ``(b, n)`` bool; what is not there gives and gets nothing.
        heads: how many.

    Returns:
        ``(b, heads·v, n)``.
    """
    q, k, v = (part.unflatten(1, (heads, -1)) for part in (queries, keys, values))
    scores = q.transpose(-1, -2) @ k / q.shape[2] ** 0.5
    # An image without any cell has no score that is finite; its rows are zeroed below.
    scores = scores.masked_fill(~there[:, None, None], torch.finfo(scores.dtype).min)
    share = torch.softmax(scores, -1)
    given = (v @ share.transpose(-1, -2)).flatten(1, 2)
    return given * there[:, None].to(given.dtype)


class SqueezedAttention(nn.Module):
    """Attention among the means of rows and among those of columns, beside the values themselves.

    Args:
        channels: in and out.
        heads: of the attention.
        key: width of a head's keys; its values are ``ratio`` times as wide.
        ratio: see ``key``.
        rows: have the row branch.
        columns: have the column branch.
        wiring: see there.
    """

    def __init__(
        self,
        channels: int,
        *,
        heads: int = 8,
        key: int = 16,
        ratio: int = 2,
        rows: bool = True,
        columns: bool = True,
        wiring: Wiring = CORRECTED,
    ) -> None:
        super().__init__()
        self.heads, self.wiring = heads, wiring
        self.axes: list[Literal["row", "column"]] = []
        inner, wide = heads * key, heads * key * ratio
        self.query = nn.Conv2d(channels, inner, 1)
        self.key = nn.Conv2d(channels, inner, 1)
        self.value = nn.Conv2d(channels, wide, 1)
        self.after, self.tables = nn.ModuleDict(), nn.ParameterDict()
        for axis, wanted in (("row", rows), ("column", columns)):
            if wanted:
                self.axes.append("row" if axis == "row" else "column")
                parts: list[nn.Module] = [nn.Conv2d(wide, wide, 1)]
                if axis == "row" and not wiring.alike:
                    parts += [Norm(wide, wiring), nn.PReLU(wide)]
                self.after[axis] = nn.Sequential(*parts)
                for of in ("query", "key"):
                    table = torch.randn(inner, TABLE) * (0.02 if wiring.scaled else 1)
                    self.tables[f"{axis}_{of}"] = nn.Parameter(table)
        self.outward, self.local = (nn.Conv2d(size, channels, 1) for size in (wide, channels))
        self.outward_norm, self.local_norm = (Norm(channels, wiring) for _ in range(2))
        self.around = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        there = cells(x, mask, self.wiring)
        local = self.local_norm(self.local(x), there) * there
        local = local + self.around(local)
        global_ = self.outward_norm(self.outward(self.spread(x, there)), there)
        if self.wiring.bounded:
            global_ = F.hardsigmoid(global_)
        result: Tensor = global_ * local
        return result

    def spread(self, x: Tensor, there: Tensor) -> Tensor:
        """Values, and for each cell what its row and its column have found: ``v + r_i + c_j``."""
        q, k, v = self.query(x), self.key(x), self.value(x)
        total: Tensor = v
        for axis in self.axes:
            (queries, some), (keys, _), (values, _) = (
                squeezed(part, there, axis) for part in (q, k, v)
            )
            count = some.sum(1).clamp(min=1)
            queries = queries + drawn_out(self.tables[f"{axis}_query"], count, some.shape[1])
            keys = keys + drawn_out(self.tables[f"{axis}_key"], count, some.shape[1])
            found = attended(queries, keys, values, some, self.heads)
            aside = -1 if axis == "row" else -2
            total = total + self.after[axis](found.unsqueeze(aside))
        return total


class Perceptron(nn.Module):
    """1x1, depthwise 3x3, ReLU, 1x1.

    Args:
        channels: in and out.
        hidden: between them.
        wiring: see there.
    """

    def __init__(self, channels: int, hidden: int, wiring: Wiring = CORRECTED) -> None:
        super().__init__()
        self.wiring = wiring
        self.inward = nn.Conv2d(channels, hidden, 1)
        self.around = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden)
        self.outward = nn.Conv2d(hidden, channels, 1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        there = cells(x, mask, self.wiring)
        result: Tensor = self.outward(F.relu(self.around(self.inward(x) * there)))
        return result


class PyramidAttention(nn.Module):
    """Squeezed attention over the pyramid of a map; without the pyramid over the map.

    Args:
        channels: in and out.
        heads: of the attention.
        key: width of a head's keys.
        pyramid: have it.
        rows: have the row branch.
        columns: have the column branch.
        wiring: see there.
    """

    def __init__(
        self,
        channels: int,
        *,
        heads: int = 8,
        key: int = 16,
        pyramid: bool = True,
        rows: bool = True,
        columns: bool = True,
        wiring: Wiring = CORRECTED,
    ) -> None:
        super().__init__()
        self.pyramid = Pyramid(channels, wiring) if pyramid else None
        self.attention = SqueezedAttention(
            channels, heads=heads, key=key, rows=rows, columns=columns, wiring=wiring
        )

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out."""
        pooled = x if self.pyramid is None else self.pyramid(x, mask)
        found: Tensor = self.attention(pooled, mask)
        return found


class Block(nn.Module):
    """``x + mixer(x)``, then ``x + MLP(x)``; what is beyond the mask is 0.

    Args:
        channels: in and out.
        mixer: a map and a mask → a map; None for none.
        hidden: of the MLP; None for 4 times the channels.
        wiring: see there.
    """

    def __init__(
        self,
        channels: int,
        mixer: nn.Module | None,
        *,
        hidden: int | None = None,
        wiring: Wiring = CORRECTED,
    ) -> None:
        super().__init__()
        self.mixer, self.wiring = mixer, wiring
        self.perceptron = Perceptron(channels, hidden or 4 * channels, wiring)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """``(b, c, h, w)`` in and out; ``mask`` is ``(b, h, w)`` bool, None for all cells."""
        there = cells(x, mask, self.wiring)
        x = x * there
        if self.mixer is not None:
            x = x + self.mixer(x, mask) * there
        mixed: Tensor = x + self.perceptron(x, mask) * there
        return mixed


def scores(kind: Literal["full", "axial", "squeezed"], height: int, width: int) -> int:
    """Scores that attention over a map computes, of one head: what squeezing saves."""
    cells_ = height * width
    if kind == "full":
        return cells_**2
    if kind == "axial":
        return cells_ * (height + width)
    return height**2 + width**2
