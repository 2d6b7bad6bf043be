"""A small patch transformer that ends in a pooling; equation 1 is ``milepost_lab.pooling.ggem``.

Images of 8 × 8 are cut into 16 patches of 2 × 2; layers of width 32 with four heads; the pooling
reads the states behind the last LayerNorm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost_lab.data.digits import TRAINED, digits
from milepost_lab.pooling import module
from milepost_lab.training import fit

FOLDS = 3
"""Parts of 597 images of which each can be the one that is tested; six images are in none."""

_KINDS, _PATCH, _PATCHES = 10, 2, 16


@dataclass(frozen=True, slots=True)
class Recipe:
    """Sizes and training; ``pool_rate`` is the pooling's own, whose weights do not decay."""

    width: int = 32
    heads: int = 4
    layers: int = 2
    rounds: int = 20
    batch: int = 64
    rate: float = 3e-3
    pool_rate: float = 1e-2
    decay: float = 1e-2


def patches(images: Tensor) -> Tensor:
    """Images ``(b, 8, 8)`` as patches from left to right and top to bottom, ``(b, 16, 4)``."""
    cut = images.unfold(1, _PATCH, _PATCH).unfold(2, _PATCH, _PATCH)
    return cut.reshape(len(images), _PATCHES, _PATCH * _PATCH)


class DigitReader(nn.Module):
    """Patches → states → one vector → scores of the ten digits."""

    def __init__(self, recipe: Recipe, pooling: nn.Module) -> None:
        super().__init__()
        width = recipe.width
        self.patches = nn.Linear(_PATCH * _PATCH, width)
        self.places = nn.Parameter(0.02 * torch.randn(1, _PATCHES, width))
        layer = nn.TransformerEncoderLayer(
            width, recipe.heads, 2 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(
            layer, recipe.layers, nn.LayerNorm(width), enable_nested_tensor=False
        )
        self.pooling, self.head = pooling, nn.Linear(width, _KINDS)

    def forward(self, images: Tensor) -> Tensor:
        """Scores ``(b, 10)`` of patches ``(b, 16, 4)``."""
        states = self.layers(self.patches(images) + self.places)
        mask = torch.ones(states.shape[:2], dtype=torch.bool)
        scores: Tensor = self.head(self.pooling(states, mask))
        return scores


def train_digits(
    name: str,
    settings: Mapping[str, Any],
    seed: int = 0,
    recipe: Recipe = Recipe(),
    *,
    fold: int = 0,
) -> tuple[list[int], nn.Module]:
    """Train a reader that ends in a pooling; of each test image whether it is right, and the pool.

    The network begins alike whatever the pooling draws, and reads images in the same order.

    Args:
        name: of the pooling.
        settings: of the pooling.
        seed: of weights and order.
        recipe: sizes and rates.
        fold: which images are tested, 0 to ``FOLDS - 1``.
    """
    pooling = module(name, recipe.width, seed=seed, **settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = DigitReader(recipe, pooling)
    images, kinds = (part.roll(fold * (len(part) - TRAINED), 0) for part in digits())
    images = patches(images)
    order = torch.Generator().manual_seed(seed)
    batches = [
        numbers
        for _ in range(recipe.rounds)
        for numbers in torch.randperm(TRAINED, generator=order).split(recipe.batch)
    ]

    def loss(step: int) -> Tensor:
        numbers = batches[step]
        return F.cross_entropy(reader(images[numbers]), kinds[numbers])

    own = list(pooling.parameters())
    rest = [weight for name, weight in reader.named_parameters() if not name.startswith("pooling")]
    groups: list[dict[str, Any]] = [{"params": rest, "weight_decay": recipe.decay}]
    if own:
        groups.append({"params": own, "lr": recipe.pool_rate})
    fit(groups, loss, len(batches), recipe.rate, schedule="linear")
    with torch.no_grad():
        right = reader.eval()(images[TRAINED:]).argmax(1) == kinds[TRAINED:]
    return right.int().tolist(), pooling
