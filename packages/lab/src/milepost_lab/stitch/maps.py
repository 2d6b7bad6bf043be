"""Four initializations of a stitch that must invert a known map: exact and measured errors.

States ``x`` of an ancestor are standard normal; those of a narrow encoder are
``s = W x + b + noise``. A stitch has to predict ``x`` from ``s``. The error is the expected squared
distance, summed over the components of ``x``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from milepost_lab.model.stitch.affine import Affine, least_squares


@dataclass(frozen=True, slots=True)
class Problem:
    """A map to invert.

    Attributes:
        down: ``W`` ``(k, d)`` and ``b``, ``k < d``.
        noise: standard deviation of the noise added to each component of ``W x + b``.
    """

    down: Affine
    noise: float

    def draw(self, count: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw ``x`` ``(n, d)`` and ``s`` ``(n, k)``, float64."""
        narrow, wide = self.down.weight.shape
        x = torch.randn(count, wide, generator=random, dtype=torch.float64)
        noise = torch.randn(count, narrow, generator=random, dtype=torch.float64)
        return x, self.down(x) + self.noise * noise

    def transpose(self) -> float:
        """Error of the transpose: ``|I - W^T W|^2 + |W^T b|^2 + noise^2 |W|^2``."""
        w = self.down.weight
        left = torch.eye(w.shape[1], dtype=w.dtype) - w.T @ w
        lost = (w.T @ self.down.bias).square().sum()
        return float(left.square().sum() + lost + self.noise**2 * w.square().sum())

    def pinv(self) -> float:
        """Error of the pseudo-inverse, of lost axes and noise: ``d - k + noise^2 |W^+|^2``."""
        narrow, wide = self.down.weight.shape
        back = torch.linalg.pinv(self.down.weight)
        return float(wide - narrow + self.noise**2 * back.square().sum())

    def least_squares(self, count: int | None = None) -> float:
        """Error of least squares: ``d - tr(W^T (W W^T + noise^2)^-1 W)``, the smallest possible.

        Args:
            count: number of rows that it is fitted to; for normal states the expected error is then
                ``(n + 1) (n - 2) / (n (n - k - 2))`` times larger. None for infinitely many.
        """
        w = self.down.weight
        spread = w @ w.T + self.noise**2 * torch.eye(len(w), dtype=w.dtype)
        best = float(w.shape[1] - torch.trace(w.T @ torch.linalg.solve(spread, w)))
        if count is None:
            return best
        return best * (count + 1) * (count - 2) / (count * (count - len(w) - 2))

    def random(self) -> float:
        """Error of a new layer, uniform within 1/sqrt k: ``d + d / (3 k) (E|s|^2 + 1)``."""
        narrow, wide = self.down.weight.shape
        size = self.down.weight.square().sum() + self.down.bias.square().sum()
        return float(wide + wide / (3 * narrow) * (size + narrow * self.noise**2 + 1))


def problem(seed: int = 0, *, wide: int = 24, narrow: int = 8, noise: float = 0.3) -> Problem:
    """Make ``W`` with singular values from 0.3 to 2 in random directions, a bias, and noise."""
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
        start: one of ``model.stitch.starts.STARTS``; for least squares with its number of rows.
        expected: exact error.
        measured: mean error over draws.
        error: standard error of ``measured``.
    """

    start: str
    expected: float
    measured: float
    error: float


def compare(
    task: Problem, *, draws: int = 200, rows: tuple[int, ...] = (16, 64, 1024), seed: int = 1
) -> Iterator[MapError]:
    """Compare exact expected errors with measured means.

    Args:
        task: the map to invert.
        draws: samples of 200 new states; a random or fitted stitch is made anew for each.
        rows: numbers of rows that least squares is fitted to, each more than ``k + 2``.
        seed: seed of all draws.
    """
    random = torch.Generator().manual_seed(seed)

    def fresh() -> Affine:
        narrow, wide = task.down.weight.shape
        layer = nn.Linear(narrow, wide)
        bound = narrow**-0.5  # that of nn.Linear, drawn from a seeded generator
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
