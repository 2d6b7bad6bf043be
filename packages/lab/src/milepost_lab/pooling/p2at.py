"""P2AT for texts (arXiv 2310.15025): segments are rows of a grid, which attend to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import (
    Pooling,
    check,
    masked_max,
    masked_mean,
    masked_softmax,
    rms_scaled,
)

WIDTHS = (3, 5, 7)


def averages(values: Tensor, mask: Tensor, width: int) -> Tensor:
    """Average of each position's window without the part outside the text, ``(texts, n, d)``.

    The published pools count zero padding, so that a constant text sags at its ends.
    """
    there = mask[:, None].to(values.dtype)
    total, count = (
        F.avg_pool1d(part, width, stride=1, padding=width // 2)
        for part in (values.transpose(1, 2), there)
    )
    return (total / count.clamp(min=0.5 / width) * there).transpose(1, 2)


def scales(values: Tensor, mask: Tensor, widths: Sequence[int], *, cascade: bool) -> Tensor:
    """Averages over several widths, ``(texts, n, d, scales)``: all of them, p2 as well.

    ``cascade``: each average is of the one before, as published.
    """
    made: list[Tensor] = []
    for width in widths:
        made.append(averages(made[-1] if cascade and made else values, mask, width))
    return torch.stack(made, -1)


def members(number: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """A matrix that averages the tokens of each group, and the mask of existing groups.

    Args:
        number: ``(texts, n)`` int64, each token's group, from 0 in each text.
        mask: ``(texts, n)`` bool.

    Returns:
        ``(texts, groups, n)`` float32 whose rows sum to 1 (0 for missing groups), and
        ``(texts, groups)`` bool; there are as many groups as tokens, most of them empty.
    """
    groups = torch.cumsum(torch.ones_like(number[:1]), 1)[..., None] - 1
    inside = ((number[:, None] == groups) & mask[:, None]).float()
    count = inside.sum(-1)
    return inside / count.clamp(min=1)[..., None], count > 0


class P2AT(Pooling):
    """Squeezed attention among rows, and columns as an ablation; with a gate by a pyramid.

    Args:
        width: d.
        channels: of the grid.
        heads, key: heads of the attention, and the width of each.
        reach: largest distance with a weight of its own.
        pyramid: averages of averages as published, averages of the rows, or none.
        rows: attention among segments.
        columns: attention among positions in segments, which have no meaning in a text.
    """

    name, title, paper = "p2at", "segments that attend to neighbours and each other", "2310.15025"
    equation = "z = (1/m) Σ (l_i + W(v_i + Σ_j a_ij v_j)), l_i = mean of segment i, gated"
    needs, ordered = frozenset({"segments"}), True

    def __init__(
        self,
        width: int,
        *,
        channels: int = 16,
        heads: int = 2,
        key: int = 8,
        reach: int = 8,
        pyramid: Literal["cascade", "parallel", "none"] = "cascade",
        rows: bool = True,
        columns: bool = False,
    ) -> None:
        super().__init__(width)
        check(min(channels, heads, key, reach) >= 1, self.name, "a size below 1", "1 or more")
        inner = heads * key
        self.heads, self.key, self.reach, self.pyramid = heads, key, reach, pyramid
        self.inward = nn.Linear(width, channels, bias=False)
        self.mix = nn.Parameter(torch.zeros(channels, len(WIDTHS)))  # every gate begins at 1
        self.maps = nn.ModuleList(nn.Linear(channels, inner, bias=False) for _ in range(3))
        axes = [axis for axis, wanted in (("row", rows), ("column", columns)) if wanted]
        self.axes = nn.ModuleDict({axis: nn.Linear(inner, inner, bias=False) for axis in axes})
        self.positions = nn.ParameterDict(
            {axis: nn.Parameter(0.02 * torch.randn(heads, 2 * reach + 1)) for axis in axes}
        )
        self.outward = nn.Linear(inner, width, bias=False)
        nn.init.zeros_(self.outward.weight)

    def forward(self, states: Tensor, mask: Tensor, *, segments: Tensor) -> Tensor:
        """See ``Pooling``."""
        row_means, rows_are = members(segments, mask)
        grid = self.inward(rms_scaled(states))
        rows = row_means @ grid
        # Selects a token's row; a product, because padding has no row to index.
        of_row = (row_means > 0).float().transpose(1, 2)
        if self.pyramid != "none":
            seen = scales(rows, rows_are, WIDTHS, cascade=self.pyramid == "cascade")
            gate = 2 * torch.sigmoid((seen * self.mix).sum(-1))
            rows, grid = rows * gate, grid * (of_row @ gate)
        mixed = self.maps[2](rows)
        if "row" in self.axes:
            mixed = mixed + self._attention(rows, rows_are, "row")
        if "column" in self.axes:
            earlier = (segments[:, None] < segments[:, :, None]) & mask[:, None]
            place = torch.cumsum(torch.ones_like(segments), 1) - 1 - earlier.sum(-1)
            column_means, columns_are = members(place, mask)
            down = self._attention(column_means @ grid, columns_are, "column")
            mixed = mixed + row_means @ ((column_means > 0).float().transpose(1, 2) @ down)
        return masked_mean(row_means @ states + self.outward(mixed), rows_are)

    def _attention(self, of: Tensor, there: Tensor, axis: str) -> Tensor:
        q, k, v = (each(of).unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in self.maps)
        place = torch.cumsum(torch.ones_like(there[0], dtype=torch.long), 0)
        far = torch.clamp(place[None] - place[:, None], -self.reach, self.reach) + self.reach
        scores = q @ k.transpose(-1, -2) / self.key**0.5 + self.positions[axis][:, far]
        weights = masked_softmax(scores, there[:, None, None].expand_as(scores), -1)
        found: Tensor = self.axes[axis]((weights @ v).transpose(1, 2).flatten(2))
        return found


class Pyramid(Pooling):
    """Greatest average over windows of several widths, without parameters."""

    name, title, paper = "pyramid", "greatest average over windows of several widths", "2310.15025"
    equation = "z_j = (1/S) Σ_s max_i average_s(l)_ij, l = means of segments"
    needs, ordered = frozenset({"segments"}), True

    def __init__(
        self,
        width: int,
        *,
        widths: tuple[int, ...] = (1, 3, 5, 7),
        cascade: bool = False,
        read: Literal["max", "mean"] = "max",
    ) -> None:
        super().__init__(width)
        odd = bool(widths) and all(each > 0 and each % 2 for each in widths)
        check(odd, self.name, f"widths={widths}", "odd numbers above 0")
        self.widths, self.cascade, self.read = widths, cascade, read

    def forward(self, states: Tensor, mask: Tensor, *, segments: Tensor) -> Tensor:
        """See ``Pooling``."""
        row_means, rows_are = members(segments, mask)
        seen = scales(row_means @ states, rows_are, self.widths, cascade=self.cascade).flatten(2)
        read = masked_max if self.read == "max" else masked_mean
        return read(seen, rows_are).unflatten(-1, (self.width, -1)).mean(-1)


POOLINGS = (P2AT, Pyramid)
