"""Fusions of two vectors, of the family of bilinear pooling (arXiv 2012.10285), and poolings.

z_c = x' W_c y           full bilinear; every method constrains W
MCB 1606.01847, MLB 1610.04325, MFB 1708.01471, MFH 1708.03619, MUTAN 1705.06676,
BLOCK 1902.00038; concat, concat-mlp, relu-sum and hadamard are baselines
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from milepost_lab.pooling.base import Pooling, check, masked_mean
from milepost_lab.pooling.conditioned import Conditioned
from milepost_lab.pooling.fusion_base import (
    Concat,
    ConcatMLP,
    Fusion,
    ProductSketch,
    ReluSum,
    normal,
)

Norm = Literal["none", "chunk", "whole"]


def chunk_sizes(width: int, chunks: int) -> list[int]:
    """Sizes that differ by at most 1, none of them 0; the published rule leaves empty chunks.

    >>> chunk_sizes(10, 4)
    [3, 3, 2, 2]

    Raises:
        InputError: more chunks than numbers.
    """
    check(1 <= chunks <= width, "block", f"{chunks} chunks of {width} numbers", "fewer chunks")
    return [width // chunks + (n < width % chunks) for n in range(chunks)]


class MLB(Fusion):
    """Product of two activated maps; without activation the Hadamard product."""

    paper = "1610.04325"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        activation: Literal["tanh", "relu", "none"] = "tanh",
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        self.x, self.y = self.sides(hidden)
        self.activation = {"tanh": nn.Tanh(), "relu": nn.ReLU(), "none": nn.Identity()}[activation]

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``act(Ux) · act(Vy)``."""
        product: Tensor = self.activation(self.x(x)) * self.activation(self.y(y))
        return product


class Hadamard(MLB):
    """Product of two maps."""

    paper = ""

    def __init__(
        self, x_width: int, y_width: int, *, hidden: int = 64, out: int = 64, bias: bool = True
    ) -> None:
        super().__init__(x_width, y_width, hidden=hidden, activation="none", out=out, bias=bias)


class MCB(Fusion):
    """Sketch of all products; hashes and signs are buffers, drawn once."""

    paper = "1606.01847"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 512,
        normalise: bool = True,
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        self.sketch, self.normalise = ProductSketch(x_width, y_width, hidden), normalise

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``sketch(x y')``."""
        found: Tensor = self.sketch(x, y)
        return normal(found) if self.normalise else found


class MFB(Fusion):
    """Products of two maps, summed in groups of ``factor`` neighbours."""

    paper = "1708.01471"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        factor: int = 5,
        normalise: bool = True,
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        self.x, self.y = self.sides(hidden * factor)
        self.factor, self.normalise = factor, normalise

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``SumPool_k(Ux · Vy)``."""
        return self.pooled(self.x(x) * self.y(y))

    def pooled(self, product: Tensor) -> Tensor:
        """Sum neighbours, then signed roots of unit length."""
        sums = product.unflatten(-1, (-1, self.factor)).sum(-1)
        return normal(sums) if self.normalise else sums


class MFH(MFB):
    """Two orders of grouped products; the first multiplies the second before either is pooled."""

    paper = "1708.03619"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 32,
        factor: int = 5,
        normalise: bool = True,
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(
            x_width, y_width, hidden=hidden, factor=factor, normalise=normalise, out=out, bias=bias
        )
        self.out = nn.Linear(2 * hidden, out, bias=bias)
        self.x_2, self.y_2 = self.sides(hidden * factor)

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``[pool(e_1); pool(e_2)]``, ``e_2 = (U_2 x · V_2 y) e_1``."""
        first = self.x(x) * self.y(y)
        second = self.x_2(x) * self.y_2(y) * first
        return torch.cat([self.pooled(first), self.pooled(second)], -1)


class Block(Fusion):
    """Chunks of ``Σ_r (M_r x~) · (N_r y~)``, tensors of rank ``rank``; one chunk is MUTAN."""

    paper = "1902.00038"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        chunks: int = 8,
        rank: int = 4,
        norm: Norm = "whole",
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        self.x, self.y = self.sides(hidden)
        self.sizes, self.norm = chunk_sizes(hidden, chunks), norm
        self.cores = nn.ModuleList(self.chunk(size, rank) for size in self.sizes)

    def chunk(self, size: int, rank: int) -> nn.Module:
        """The tensor of one chunk."""
        return _LowRank(size, rank, self.bias)

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """See the class; ``norm`` says what gets signed roots of unit length."""
        cut = zip(
            self.cores,
            self.x(x).split(self.sizes, -1),
            self.y(y).split(self.sizes, -1),
            strict=True,
        )
        parts = [core(a, b) for core, a, b in cut]
        if self.norm == "chunk":
            parts = [normal(part) for part in parts]
        whole = torch.cat(parts, -1)
        return normal(whole) if self.norm == "whole" else whole


class _LowRank(nn.Module):
    def __init__(self, size: int, rank: int, bias: bool) -> None:
        super().__init__()
        self.rank = rank
        self.left = nn.Linear(size, size * rank, bias=bias)
        self.right = nn.Linear(size, size * rank, bias=bias)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.left(x) * self.right(y)).unflatten(-1, (self.rank, -1)).sum(-2)


class Mutan(Block):
    """One tensor of low rank."""

    paper = "1705.06676"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        rank: int = 4,
        norm: Literal["none", "whole"] = "none",
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(
            x_width, y_width, hidden=hidden, chunks=1, rank=rank, norm=norm, out=out, bias=bias
        )


class BlockTucker(Block):
    """Chunks of tensors of full rank."""

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        chunks: int = 8,
        norm: Norm = "whole",
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(
            x_width, y_width, hidden=hidden, chunks=chunks, norm=norm, out=out, bias=bias
        )

    def chunk(self, size: int, rank: int) -> nn.Module:
        """See ``Block.chunk``."""
        return nn.Bilinear(size, size, size, bias=self.bias)

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """See ``Block.core``; ``nn.Bilinear`` does not broadcast."""
        nothing = 0 * (x[..., :1] + y[..., :1])
        return super().core(x + nothing, y + nothing)


class Tucker(BlockTucker):
    """One tensor of full rank."""

    paper = "1705.06676"

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 16,
        norm: Literal["none", "whole"] = "none",
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden=hidden, chunks=1, norm=norm, out=out, bias=bias)


FUSIONS: dict[str, type[Fusion]] = {
    "concat": Concat,
    "concat-mlp": ConcatMLP,
    "relu-sum": ReluSum,
    "hadamard": Hadamard,
    "mcb": MCB,
    "mlb": MLB,
    "mfb": MFB,
    "mfh": MFH,
    "mutan": Mutan,
    "block": Block,
    "tucker": Tucker,
    "block-tucker": BlockTucker,
}


class Fused(Conditioned):
    """A fusion of the query with each state, then their mean or maximum.

    A linear fusion and the mean commute, so the maximum is what MUTAN begins with.
    """

    fusion: ClassVar[type[Fusion]]

    def __init__(
        self,
        width: int,
        *,
        query_width: int = 0,
        over: Literal["mean", "max"] = "mean",
        **settings: Any,
    ) -> None:
        super().__init__(width)
        self.fused, self.over = self.fusion(query_width or width, width, **settings), over

    def conditioned(self, states: Tensor, mask: Tensor, queries: Tensor) -> Tensor:
        """See ``Conditioned``."""
        found = self.fused(queries[:, :, None], states[:, None])  # (b, q, n, out)
        there = mask[:, None, :, None]
        if self.over == "max":
            return found.masked_fill(~there, -torch.inf).amax(2)
        return (found * there).sum(2) / there.sum(2)  # biases make padding non-zero


def _fused(name: str) -> type[Fused]:
    made = FUSIONS[name]
    return type(
        f"Fused{made.__name__}",
        (Fused,),
        {
            "name": name,
            "title": f"query and each state fused: {(made.__doc__ or '').partition('.')[0]}",
            "paper": made.paper,
            "equation": f"z = mean_i out(core(x, y_i)), x the query, y_i a state, core: {name}",
            "fusion": made,
        },
    )


class SketchMoment(Pooling):
    """Mean sketch of the second moment of centred states (after arXiv 1606.01847)."""

    name, title, paper = "sketch-moment", "sketch of the second moment", "1606.01847"
    equation = "z = (1/n) Σ sketch((x_i - c)(x_i - c)')"

    def __init__(self, width: int, *, size: int = 512) -> None:
        super().__init__(width)
        self.centre = nn.Parameter(torch.zeros(width))
        self.sketch = ProductSketch(width, width, size)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """See ``Pooling``."""
        centred = states - self.centre
        return masked_mean(self.sketch(centred, centred), mask)


POOLINGS: tuple[type[Pooling], ...] = (
    *(_fused(name) for name in ("mcb", "mlb", "mfb", "mfh", "mutan", "block")),
    SketchMoment,
)
