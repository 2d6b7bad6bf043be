"""``p2at`` and ``pyramid`` in torch; the reference is ``milepost_lab.pooling.p2at``."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from milepost_lab.model.pooling.module import PoolModule, masked_max, masked_mean, masked_softmax
from milepost_lab.model.pooling.neighbours import averages, rms_scaled
from milepost_lab.pooling.p2at import WIDTHS, odd


def members(number: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Build a matrix that averages the tokens of each group, and the mask of existing groups.

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


def scales(values: Tensor, mask: Tensor, widths: Sequence[int], *, cascade: bool) -> Tensor:
    """Average windows of several widths, ``(texts, n, d, scales)``; see the reference."""
    made: list[Tensor] = []
    for width in widths:
        made.append(averages(made[-1] if cascade and made else values, mask, width))
    return torch.stack(made, -1)


class P2AT(PoolModule):
    """``p2at``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, segments: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.p2at.p2at``."""
        row_means, rows_are = members(segments, mask)
        grid = rms_scaled(states) @ self.weight("inward")
        rows = row_means @ grid
        # Selects a token's row; a product, because padding has no row to index.
        of_row = (row_means > 0).float().transpose(1, 2)
        if self.settings["pyramid"] != "none":
            cascade = self.settings["pyramid"] == "cascade"
            seen = scales(rows, rows_are, WIDTHS, cascade=cascade)
            gate = 2 * torch.sigmoid((seen * self.weight("mix")).sum(-1))
            rows, grid = rows * gate, grid * (of_row @ gate)
        mixed = rows @ self.weight("value")
        if self.settings["rows"]:
            mixed = mixed + self._attention(rows, rows_are, "row")
        if self.settings["columns"]:
            earlier = (segments[:, None] < segments[:, :, None]) & mask[:, None]
            place = torch.cumsum(torch.ones_like(segments), 1) - 1 - earlier.sum(-1)
            column_means, columns_are = members(place, mask)
            down = self._attention(column_means @ grid, columns_are, "column")
            mixed = mixed + row_means @ ((column_means > 0).float().transpose(1, 2) @ down)
        landmarks = row_means @ states + mixed @ self.weight("outward")
        return masked_mean(landmarks * rows_are[..., None], rows_are)

    def _attention(self, of: Tensor, there: Tensor, axis: str) -> Tensor:
        """Apply attention among rows or columns, with its projection."""
        heads, reach = int(self.settings["heads"]), int(self.settings["reach"])
        q, k, v = (
            (of @ self.weight(name)).unflatten(-1, (heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        place = torch.cumsum(torch.ones_like(there[0], dtype=torch.long), 0)
        far = torch.clamp(place[None] - place[:, None], -reach, reach) + reach
        scores = q @ k.transpose(-1, -2) / int(self.settings["key"]) ** 0.5
        scores = scores + self.weight(f"{axis}_position")[:, far]
        share = masked_softmax(scores, there[:, None, None], -1)
        return (share @ v).transpose(1, 2).flatten(2) @ self.weight(axis)


class Pyramid(PoolModule):
    """``pyramid``."""

    def pool(self, states: Tensor, mask: Tensor, _: Tensor | None, segments: Tensor) -> Tensor:
        """See ``milepost_lab.pooling.p2at.pyramid``."""
        row_means, rows_are = members(segments, mask)
        widths, cascade = odd(self.settings["widths"]), bool(self.settings["cascade"])
        seen = scales(row_means @ states, rows_are, widths, cascade=cascade).flatten(2)
        read = masked_max if self.settings["read"] == "max" else masked_mean
        return read(seen, rows_are).unflatten(-1, (self.width, len(widths))).mean(-1)


MODULES: dict[str, type[PoolModule]] = {"p2at": P2AT, "pyramid": Pyramid}
