"""Small tensors and modules for equations that are worked out by hand."""

from typing import Any

import torch
from torch import Tensor, nn


def tensor(*rows: Any) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32)


def texts(*parts: list[float]) -> tuple[Tensor, Tensor]:
    from milepost_lab.pooling.base import padded

    return padded([torch.tensor(part, dtype=torch.float32)[:, None] for part in parts])


def full(states: Tensor) -> Tensor:
    return torch.ones(states.shape[:2], dtype=torch.bool)


def same(found: Tensor, wanted: Any, **near: float) -> None:
    wanted = torch.as_tensor(wanted, dtype=torch.float32)
    torch.testing.assert_close(
        found.detach().float(), wanted, **{"rtol": 1e-5, "atol": 1e-6, **near}
    )


def eye(made: nn.Module, *names: str) -> None:
    """Set linear maps to the identity."""
    for name in names:
        linear: Any = made.get_submodule(name)
        nn.init.eye_(linear.weight)
        if linear.bias is not None:
            nn.init.zeros_(linear.bias)
