"""Four initializations of a stitch, for a known map to be inverted: exact and measured errors.

States ``x`` of an ancestor are standard normal, a narrow encoder's are ``s = W x + b + noise``. A
stitch has to predict ``x`` from ``s``. The error is the expected squared distance, in sum over the
numbers of ``x``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from milepost.model.stitch.affine import Affine, least_squares


@dataclass(frozen=True, slots=True)
class Problem:
    """A map to be inverted.

    Attributes:
        down: ``W`` ``(k, d)`` and ``b``, ``k < d``.
        noise: standard deviation of each narrow number beside ``W x + b``.
    """

    down: Affine
    noise: float

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """``x`` ``(n, d)`` and ``s`` ``(n, k)``, float64."""
        narrow, wide = self.down.weight.shape
        x = torch.randn(count, wide, generator=random, dtype=torch.float64)
        noise = torch.randn(count, narrow, generator=random, dtype=torch.float64)
        return x, self.down(x) + self.noise * noise

    def transpose(self) -> float:
        """``|I - W^T W|^2 + |W^T b|^2 + noise^2 |W|^2``."""
        w = self.down.weight
        left = torch.eye(w.shape[1], dtype=w.dtype) - w.T @ w
        lost = (w.T @ self.down.bias).square().sum()
        return float(left.square().sum() + lost + self.noise**2 * w.square().sum())

    def pinv(self) -> float:
        """``d - k + noise^2 |W^+|^2``: what the narrow states lost, and noise that grew."""
        narrow, wide = self.down.weight.shape
        back = torch.linalg.pinv(self.down.weight)
        return float(wide - narrow + self.noise**2 * back.square().sum())

    def least_squares(self, count: int | None = None) -> float:
        """``d - tr(W^T (W W^T + noise^2)^-1 W)``, the least there is.

        Args:
            count: rows that it is fitted to: with normal states the expected error is then
                ``(n + 1) (n - 2) / (n (n - k - 2))`` times that; None for endlessly many.
        """
        w = self.down.weight
        spread = w @ w.T + self.noise**2 * torch.eye(len(w), dtype=w.dtype)
        best = float(w.shape[1] - torch.trace(w.T @ torch.linalg.solve(spread, w)))
        if count is None:
            return best
        return best * (count + 1) * (count - 2) / (count * (count - len(w) - 2))

    def random(self) -> float:
        """``d + d / (3 k) (E|s|^2 + 1)``: a layer's fresh weights and bias, uniform to 1/sqrt k."""
        narrow, wide = self.down.weight.shape
        size = self.down.weight.square().sum() + self.down.bias.square().sum()
        return float(wide + wide / (3 * narrow) * (size + narrow * self.noise**2 + 1))


def problem(seed: int = 0, *, wide: int = 24, narrow: int = 8, noise: float = 0.3) -> Problem:
    """``W`` of singular values from 0.3 to 2 in random directions, a bias, and some noise."""
    random = torch.Generator().manual_seed(seed)

    def turn(size: int) -> Tensor:
        return torch.linalg.qr(torch.randn(size, size, generator=random, dtype=torch.float64)).Q

    values = torch.linspace(0.3, 2.0, narrow, dtype=torch.float64)
    weight = turn(narrow) @ torch.diag(values) @ turn(wide)[:narrow]
    bias = 0.5 * torch.randn(narrow, generator=random, dtype=torch.float64)
    return Problem(Affine(weight, bias), noise)


@dataclass(frozen=True, slots=True)
class MapError:
    """The error of one initialization.

    Attributes:
        start: of ``model.stitch.starts.STARTS``, with the rows that least squares saw.
        expected: exact.
        measured: mean over draws.
        error: standard error of it.
    """

    start: str
    expected: float
    measured: float
    error: float


def compare(
    task: Problem, *, draws: int = 200, rows: tuple[int, ...] = (16, 64, 1024), seed: int = 1
) -> Iterator[MapError]:
    """Exact expectations and measured means.

    Args:
        task: what is to be undone.
        draws: samples of 200 fresh states, each with a map of its own where that is random.
        rows: activations that least squares is fitted to; more than ``k + 2``.
        seed: of all draws.
    """
    random = torch.Generator().manual_seed(seed)

    def fresh() -> Affine:
        narrow, wide = task.down.weight.shape
        layer = nn.Linear(narrow, wide)
        bound = narrow**-0.5  # nn.Linear's own, from a generator that can be seeded
        with torch.no_grad():
            for part in (layer.weight, layer.bias):
                part.uniform_(-bound, bound, generator=random)
        return Affine.of(layer)

    def fitted(count: int) -> Callable[[], Affine]:
        def fit() -> Affine:
            x, s = task.draw(count, random)
            return least_squares(s, x)

        return fit

    ways: list[tuple[str, float, Callable[[], Affine]]] = [
        ("random", task.random(), fresh),
        ("transpose", task.transpose(), task.down.transposed),
        ("pinv", task.pinv(), task.down.inverted),
        *((f"least_squares of {n}", task.least_squares(n), fitted(n)) for n in rows),
    ]
    for name, expected, make in ways:
        found = []
        for _ in range(draws):
            x, s = task.draw(200, random)
            found.append(float((make()(s) - x).square().sum(dim=1).mean()))
        told = torch.tensor(found, dtype=torch.float64)
        yield MapError(name, expected, float(told.mean()), float(told.std() / draws**0.5))
