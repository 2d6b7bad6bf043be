"""What fusions of two vectors are built from: roots, sketches, their base class; and baselines.

z_c = x' W_c y           full bilinear; every method of ``fusion`` constrains W
concat, concat-mlp and relu-sum do not multiply
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling.base import check

ROOT = 1e-4
"""Added under the signed root, so that its slope at 0 is 50, not infinite."""
NORM = 1e-12


def signed_root(z: Tensor) -> Tensor:
    """``sign(z) (√(|z| + ε) − √ε)``: odd, 0 at 0, and smooth there."""
    return z / (torch.sqrt(z.abs() + ROOT) + math.sqrt(ROOT))


def normal(z: Tensor) -> Tensor:
    """Signed root, then unit length over the last dimension."""
    rooted = signed_root(z)
    return rooted / torch.sqrt(rooted.square().sum(-1, keepdim=True) + NORM)


def count_sketch(vectors: Tensor, bins: Tensor, signs: Tensor, size: int) -> Tensor:
    """``psi_j = Σ s_i v_i over h_i = j``, ``(…, m)`` → ``(…, size)``."""
    return (vectors * signs) @ F.one_hot(bins.long(), size).to(vectors.dtype)


class ProductSketch(nn.Module):
    """Count sketch of all products of two vectors: circular convolution of their sketches (MCB)."""

    def __init__(self, x_width: int, y_width: int, size: int) -> None:
        super().__init__()
        check(
            max(x_width, y_width) <= size,
            "mcb",
            f"{size} bins for vectors of {max(x_width, y_width)} numbers",
            "at least as many bins as numbers",
        )
        self.size = size
        for side, width in (("x", x_width), ("y", y_width)):
            self.register_buffer(f"{side}_bin", torch.randint(size, (width,)))
            self.register_buffer(f"{side}_sign", 2.0 * torch.randint(2, (width,)) - 1)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """``(…, m)`` and ``(…, n)``, which broadcast → ``(…, size)``."""
        left = torch.fft.rfft(count_sketch(x, self.x_bin, self.x_sign, self.size))
        right = torch.fft.rfft(count_sketch(y, self.y_bin, self.y_sign, self.size))
        # Without n an odd size would come back as one less.
        found: Tensor = torch.fft.irfft(left * right, n=self.size)
        return found


class Fusion(nn.Module):
    """A fusion of x ``(…, m)`` and y ``(…, n)``, which broadcast, to ``(…, out)``.

    Args:
        x_width, y_width: m and n.
        out: width of the result.
        bias: whether maps have biases, which add terms that are not bilinear.
    """

    paper: ClassVar[str] = ""
    active: ClassVar[bool] = False

    def __init__(self, x_width: int, y_width: int, wide: int, out: int, bias: bool) -> None:
        super().__init__()
        self.x_width, self.y_width, self.bias = x_width, y_width, bias
        self.out = nn.Linear(wide, out, bias=bias)

    def sides(self, wide: int) -> tuple[nn.Linear, nn.Linear]:
        """A map for each side."""
        return (
            nn.Linear(self.x_width, wide, bias=self.bias),
            nn.Linear(self.y_width, wide, bias=self.bias),
        )

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """See the class."""
        fused: Tensor = self.out(self.core(x, y))
        return torch.relu(fused) if self.active else fused

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """The combination of both sides."""
        raise NotImplementedError


def beside(x: Tensor, y: Tensor) -> Tensor:
    """Concatenate, broadcast by a sum: shapes that code reads are constants in a traced graph."""
    nothing = 0 * (x[..., :1] + y[..., :1])
    return torch.cat([x + nothing, y + nothing], -1)


class Concat(Fusion):
    """One linear map of both: no interaction."""

    def __init__(self, x_width: int, y_width: int, *, out: int = 64, bias: bool = True) -> None:
        super().__init__(x_width, y_width, x_width + y_width, out, bias)

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``[x; y]``."""
        return beside(x, y)


class ConcatMLP(Fusion):
    """ReLU layers over both."""

    def __init__(
        self,
        x_width: int,
        y_width: int,
        *,
        hidden: int = 64,
        depth: int = 1,
        out: int = 64,
        bias: bool = True,
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        widths = [x_width + y_width, *(hidden,) * depth]
        self.layers = nn.ModuleList(
            nn.Linear(widths[n], widths[n + 1], bias=bias) for n in range(depth)
        )

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(W [x; y] + b)``, as deep as there are layers."""
        states = beside(x, y)
        for layer in self.layers:
            states = torch.relu(layer(states))
        return states


class ReluSum(Fusion):
    """Sum of two ReLU layers, then a third."""

    active = True

    def __init__(
        self, x_width: int, y_width: int, *, hidden: int = 64, out: int = 64, bias: bool = True
    ) -> None:
        super().__init__(x_width, y_width, hidden, out, bias)
        self.x, self.y = self.sides(hidden)

    def core(self, x: Tensor, y: Tensor) -> Tensor:
        """``relu(Ux) + relu(Vy)``."""
        return torch.relu(self.x(x)) + torch.relu(self.y(y))
