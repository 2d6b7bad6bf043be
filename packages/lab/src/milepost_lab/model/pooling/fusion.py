"""Fusions of two vectors in torch; the reference is ``milepost_lab.pooling.fusion_cores``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from milepost_lab.model.pooling.sketch import product_sketch
from milepost_lab.pooling.fusion import NORM, ROOT, chunk_sizes
from milepost_lab.pooling.fusion_cores import FUSIONS
from milepost_lab.pooling.fusions import Fuse
from milepost_lab.pooling.sketch import DRAWN

Weights = Mapping[str, Tensor]
Settings = Mapping[str, Any]


class FusionModule(nn.Module):
    """A trainable fusion of pairs.

    ``FusionModule(fusion("mlb", out=8), 384, 384)``

    Args:
        made: the NumPy fusion; training begins with the weights of its seed.
        x_width: width of x.
        y_width: width of y.
    """

    def __init__(self, made: Fuse, x_width: int, y_width: int) -> None:
        super().__init__()
        self.row = made.row
        self.settings: Settings = made.settings
        random = np.random.default_rng(made.seed)
        for name, value in self.row.start(self.settings, x_width, y_width, random).items():
            tensor = torch.from_numpy(value)
            if name in DRAWN:
                self.register_buffer(name, tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Fuse ``(…, m)`` and ``(…, n)``, which broadcast, to ``(…, out)``."""
        weights = dict([*self.named_parameters(), *self.named_buffers()])
        return fuse(self.row.name, x, y, self.settings, weights)

    def reference(self) -> Fuse:
        """Make the NumPy fusion with the current weights."""
        weights = {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}
        return Fuse(self.row, self.settings, weights)


def fuse(name: str, x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    """Compute ``out(core(x, y))``, see ``milepost_lab.pooling.fusion.Fusion.fuse``."""
    fused = _linear(_CORES[name](x, y, settings, weights), "out", weights)
    return torch.relu(fused) if FUSIONS[name].active else fused


def signed_root(z: Tensor) -> Tensor:
    """See ``milepost_lab.pooling.fusion.signed_root``."""
    return z / (torch.sqrt(z.abs() + ROOT) + math.sqrt(ROOT))


def normal(z: Tensor) -> Tensor:
    """See ``milepost_lab.pooling.fusion.normal``."""
    rooted = signed_root(z)
    return rooted / torch.sqrt(rooted.square().sum(-1, keepdim=True) + NORM)


def _linear(v: Tensor, name: str, weights: Weights) -> Tensor:
    return nn.functional.linear(v, weights[f"{name}_map"], weights.get(f"{name}_bias"))


def _both(x: Tensor, y: Tensor, weights: Weights, mark: str = "") -> tuple[Tensor, Tensor]:
    return _linear(x, f"x{mark}", weights), _linear(y, f"y{mark}", weights)


def _active(v: Tensor, name: str) -> Tensor:
    return {"none": lambda v: v, "relu": torch.relu, "tanh": torch.tanh}[name](v)


def _concat(x: Tensor, y: Tensor, _: Settings, __: Weights) -> Tensor:
    # Broadcast by a sum: shapes that code reads would become constants in an exported graph.
    nothing = 0 * (x[..., :1] + y[..., :1])
    return torch.cat([x + nothing, y + nothing], -1)


def _mlp(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    states = _concat(x, y, settings, weights)
    for number in range(settings["depth"]):
        states = torch.relu(_linear(states, f"layer_{number}", weights))
    return states


def _sum(x: Tensor, y: Tensor, _: Settings, weights: Weights) -> Tensor:
    left, right = _both(x, y, weights)
    return torch.relu(left) + torch.relu(right)


def _product(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    left, right = _both(x, y, weights)
    active = settings.get("activation", "none")
    return _active(left, active) * _active(right, active)


def _mcb(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    sketch = product_sketch(x, y, weights, settings["hidden"])
    return normal(sketch) if settings["normalise"] else sketch


def _pooled(product: Tensor, settings: Settings) -> Tensor:
    sums = product.unflatten(-1, (settings["hidden"], settings["factor"])).sum(-1)
    return normal(sums) if settings["normalise"] else sums


def _mfb(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    left, right = _both(x, y, weights)
    return _pooled(left * right, settings)


def _mfh(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
    (a, b), (c, d) = (_both(x, y, weights, mark) for mark in ("_1", "_2"))
    first = a * b
    return torch.cat([_pooled(first, settings), _pooled(c * d * first, settings)], -1)


def _chunked(
    one: Callable[[Tensor, Tensor, int, Settings, Weights], Tensor],
) -> Callable[[Tensor, Tensor, Settings, Weights], Tensor]:
    def core(x: Tensor, y: Tensor, settings: Settings, weights: Weights) -> Tensor:
        left, right = _both(x, y, weights)
        sizes = chunk_sizes(settings["hidden"], settings.get("chunks", 1))
        cut = zip(left.split(sizes, -1), right.split(sizes, -1), strict=True)
        parts = [one(a, b, number, settings, weights) for number, (a, b) in enumerate(cut)]
        if settings["norm"] == "chunk":
            parts = [normal(part) for part in parts]
        whole = torch.cat(parts, -1)
        return normal(whole) if settings["norm"] == "whole" else whole

    return core


def _low_rank(x: Tensor, y: Tensor, number: int, settings: Settings, weights: Weights) -> Tensor:
    left, right = _both(x, y, weights, f"_core_{number}")
    return (left * right).unflatten(-1, (settings["rank"], x.shape[-1])).sum(-2)


def _full_rank(x: Tensor, y: Tensor, number: int, _: Settings, weights: Weights) -> Tensor:
    core = weights[f"core_{number}_map"]
    fused = torch.einsum("...i,kij,...j->...k", x, core, y)
    bias = weights.get(f"core_{number}_bias")
    return fused if bias is None else fused + bias


_CORES: dict[str, Callable[[Tensor, Tensor, Settings, Weights], Tensor]] = {
    "concat": _concat,
    "concat-mlp": _mlp,
    "relu-sum": _sum,
    "hadamard": _product,
    "mcb": _mcb,
    "mlb": _product,
    "mfb": _mfb,
    "mfh": _mfh,
    "mutan": _chunked(_low_rank),
    "block": _chunked(_low_rank),
    "tucker": _chunked(_full_rank),
    "block-tucker": _chunked(_full_rank),
}
