"""The five designs (arXiv 2409.02727) over a frozen encoder.

Equations 1 to 5 are ``milepost_lab.pooling.layers``.

    M1  last token                      causal
    M2  trained, last layer             causal          one key: attention that attends to nothing
    M3  trained, all layers             causal
    M4  trained, last layer             both sides
    M5  trained, all layers             both sides

A linear map that begins as the identity follows every pooling. Loss: scaled cosine cross-entropy
over the passages of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.pooling import module
from milepost_lab.pooling.base import identity, padded
from milepost_lab.pooling.registry import operator, pool

TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class Design:
    """A pooling and an attention.

    Attributes:
        pooling: name.
        settings: of the pooling.
        every_layer: whether it reads all layers instead of the last.
        both_sides: whether tokens see both sides.
    """

    pooling: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    every_layer: bool = False
    both_sides: bool = False


DESIGNS: dict[str, Design] = {
    "M1": Design("last"),
    "M2": Design("multilayer", {"summary": "last"}),
    "M3": Design("multilayer", {"summary": "last"}, every_layer=True),
    "M4": Design("multilayer", {"keys": "tokens"}, both_sides=True),
    "M5": Design("multilayer", every_layer=True, both_sides=True),
    "mean": Design("mean", both_sides=True),
    "layer-mix": Design("layer-mix", every_layer=True, both_sides=True),
    "layer-mean": Design("layer-mean", every_layer=True, both_sides=True),
}
PAIRS = (("M5", "M1"), ("M5", "mean"), ("M3", "M2"), ("M5", "M4"), ("M5", "layer-mix"))
"""The paper's best design against the simplest and the mean, then the effect of all layers."""


class Reading(nn.Module):
    """A design over stored states: pooling, then a linear map."""

    def __init__(self, design: Design, layers: int, width: int, seed: int) -> None:
        super().__init__()
        self.design, self.needs = design, operator(design.pooling).needs
        read = layers if design.every_layer else 1
        self.pooling = module(design.pooling, width, layers=read, seed=seed, **design.settings)
        self.head = identity(width)

    def forward(self, texts: Sequence[Tensor]) -> Tensor:
        """Unit vectors ``(texts, d)`` of states ``(tokens, layers, d)``."""
        states, mask = padded(list(texts))
        if not self.design.every_layer:
            states = states[:, :, -1:]
        if "layers" not in self.needs:
            states = states[:, :, -1]
        return F.normalize(self.head(pool(self.pooling, self.needs, states, mask)), dim=1)


def contrast(queries: Tensor, passages: Tensor) -> Tensor:
    """Cross-entropy of unit vectors ``(b, d)``, scale 20; passage i answers question i."""
    return F.cross_entropy(queries @ passages.T / TEMPERATURE, torch.arange(len(queries)))
