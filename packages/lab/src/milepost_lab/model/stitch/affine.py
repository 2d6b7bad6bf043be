"""Affine maps between widths: least squares, pseudo-inverse, transpose, mean, composition.

Distillation trains a map from the ancestor's states to a narrow encoder's; a stitch needs the
inverse direction. The paper uses the transpose, which inverts ``W`` only if its rows are
orthonormal; the pseudo-inverse inverts it in its row space; least squares fits the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from milepost.errors import InputError


@dataclass(frozen=True, slots=True)
class Affine:
    """``x -> W x + b``.

    Attributes:
        weight: ``(out, in)`` float64.
        bias: ``(out,)`` float64.
    """

    weight: Tensor
    bias: Tensor

    @classmethod
    def of(cls, layer: nn.Linear) -> Affine:
        """Create the map that a layer computes."""
        return cls(layer.weight.detach().double(), layer.bias.detach().double())

    def __call__(self, states: Tensor) -> Tensor:
        """Apply the map to rows ``(n, in)``: ``(n, out)`` float64."""
        return states.double() @ self.weight.T + self.bias

    def transposed(self) -> Affine:
        """``y -> W^T y``; the bias is lost, as in the paper's code."""
        return Affine(self.weight.T, torch.zeros_like(self.weight[0]))

    def inverted(self) -> Affine:
        """``y -> W^+ (y - b)``, by the pseudo-inverse: exact in the row space of ``W``."""
        back = torch.linalg.pinv(self.weight)
        return Affine(back, -back @ self.bias)

    def then(self, after: Affine) -> Affine:
        """Compose two maps: this one first, then ``after``."""
        return Affine(after.weight @ self.weight, after.weight @ self.bias + after.bias)

    def write(self, layer: nn.Linear) -> None:
        """Make a layer compute this map."""
        with torch.no_grad():
            layer.weight.copy_(self.weight)
            layer.bias.copy_(self.bias)


def identity(width: int) -> Affine:
    """The identity map."""
    return Affine(torch.eye(width, dtype=torch.float64), torch.zeros(width, dtype=torch.float64))


def mean(maps: Sequence[Affine]) -> Affine:
    """The mean of the weights and biases of some maps; not a joint fit, see ``least_squares``."""
    return Affine(
        torch.stack([each.weight for each in maps]).mean(0),
        torch.stack([each.bias for each in maps]).mean(0),
    )


def least_squares(start: Tensor, end: Tensor, pull: float = 0.0) -> Affine:
    """Fit the map with the least squared error from rows of ``start`` to rows of ``end``.

    ``[W b] = pinv([X 1]) Y``. A stitch of several paths is fitted jointly, on the rows of all.
    Stitchable Networks fit each path and average, which gives a different map.

    Args:
        start: ``(n, in)``.
        end: ``(n, out)``.
        pull: ridge on the weight, per row; needed where rows are fewer than columns.

    Raises:
        InputError: no rows, rows that do not match, NaN or infinity.
    """
    if not len(start) or len(start) != len(end):
        raise InputError(f"{len(start)} rows to {len(end)}", "as many, and at least one")
    if not (torch.isfinite(start).all() and torch.isfinite(end).all()):
        raise InputError("a state is not finite", "finite states: check the encoder's input")
    x, y = start.double(), end.double()
    middle, target = x.mean(0), y.mean(0)
    x, y = x - middle, y - target
    if pull:
        ridge = pull * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
        weight = torch.linalg.solve(x.T @ x + ridge, x.T @ y).T
    else:
        weight = (torch.linalg.pinv(x) @ y).T
    return Affine(weight, target - weight @ middle)
