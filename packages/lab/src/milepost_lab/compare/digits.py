"""Poolings at the end of a small patch transformer that classifies digits.

The 1,797 digits of 8 × 8 that come with scikit-learn, cut into 16 patches of 2 × 2; two layers of
width 32 with four heads; the pooling reads the states behind the last LayerNorm. Everything but
the pooling is the same for all: images, their order, steps, rates, and initial weights. Small
effects are out of reach: with 597 test images, one image is 0.17 points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost._optional import require
from milepost.errors import InputError
from milepost_lab.model.pooling import PoolModule, module
from milepost_lab.pooling.table import operator
from milepost_train.fit_steps import fit_steps

TRAINED = 1200
"""Images that are trained on; the other 597 are tested."""

FOLDS = 3
"""Parts of 597 images of which each can be the one that is tested; six images are in none."""

_KINDS, _SIDE, _PATCH = 10, 8, 2
_PATCHES = (_SIDE // _PATCH) ** 2
_ROW = _SIDE // _PATCH


@dataclass(frozen=True, slots=True)
class DigitRecipe:
    """Sizes and training of a digit reader.

    Attributes:
        width, heads, layers: of the transformer.
        rounds: how often each image is seen.
        batch: images a step.
        rate: highest learning rate of AdamW, after a warm-up of a tenth of the steps; then it falls
            along a line to 0.
        pool_rate: the pooling's own highest rate; its weights do not decay.
        decay: weight decay of everything else.
    """

    width: int = 32
    heads: int = 4
    layers: int = 2
    rounds: int = 20
    batch: int = 64
    rate: float = 3e-3
    pool_rate: float = 1e-2
    decay: float = 1e-2

    def __repr__(self) -> str:
        # Published runs are keyed by this text: a new class name must not make them again.
        return f"Recipe({', '.join(f'{name}={value!r}' for name, value in asdict(self).items())})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trained reader's test.

    Attributes:
        accuracy: share of correctly classified test images, 0-1.
        right: of each test image, in one order for all operators and seeds.
        pooling: as it was trained.
    """

    accuracy: float
    right: tuple[bool, ...]
    pooling: PoolModule


class DigitReader(nn.Module):
    """Patches → states → one vector → scores of the ten digits.

    Args:
        recipe: sizes.
        pooling: takes ``recipe.width``.
    """

    def __init__(self, recipe: DigitRecipe, pooling: PoolModule) -> None:
        super().__init__()
        width = recipe.width
        self.patches = nn.Linear(_PATCH * _PATCH, width)
        self.opening = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, _PATCHES, width))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width,
                recipe.heads,
                2 * width,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            for _ in range(recipe.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.pooling = pooling
        self.head = nn.LazyLinear(_KINDS)

    def forward(self, images: Tensor) -> Tensor:
        """Scores ``(b, 10)`` of images ``(b, 16, 4)``."""
        name, needs = self.pooling.operator.name, self.pooling.operator.needs
        states = self.patches(images) + self.places
        if name == "cls":  # the one operator that wants a token of its own
            states = torch.cat([self.opening.expand(len(states), -1, -1), states], 1)
        every = [states]
        for layer in self.layers:
            every.append(layer(every[-1]))
        read = torch.stack(every, 2) if "layers" in needs else every[-1]
        lengths = torch.full((len(images),), read.shape[1])
        rows = torch.arange(read.shape[1]) // _ROW
        segments = rows.expand(len(images), -1) if "segments" in needs else None
        scores: Tensor = self.head(self.pooling(self.norm(read), lengths, segments=segments))
        return scores


@lru_cache(maxsize=1)
def digits() -> tuple[Tensor, Tensor]:
    """Images ``(1797, 8, 8)`` float32 from 0 to 1, and what they show, ``(1797,)`` int64.

    In one shuffled order; the first ``TRAINED`` are for training.

    Raises:
        MissingExtra: scikit-learn, which holds them, is not installed.
    """
    found = require("sklearn.datasets", extra="lab").load_digits()
    order = torch.randperm(len(found.target), generator=torch.Generator().manual_seed(0))
    images = torch.from_numpy(found.images).float() / 16
    return images[order], torch.from_numpy(found.target).long()[order]


def patched(images: Tensor) -> Tensor:
    """Images ``(b, 8, 8)`` as patches from left to right and top to bottom, ``(b, 16, 4)``."""
    cut = images.unfold(1, _PATCH, _PATCH).unfold(2, _PATCH, _PATCH)
    return cut.reshape(len(images), _PATCHES, _PATCH * _PATCH)


def train_digits(
    name: str,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    recipe: DigitRecipe = DigitRecipe(),
    *,
    guess: bool = False,
    fold: int = 0,
) -> Outcome:
    """Train a digit reader that ends in an operator, and test it.

    Args:
        name: see ``milepost_lab.pooling.names``.
        settings: of the operator.
        seed: of the beginning of all weights and of the images' order.
        recipe: sizes and rates.
        guess: train on shuffled labels: what the operator's weights learn where there is nothing
            to learn.
        fold: which images are tested, 0 to ``FOLDS - 1``; those of other folds are others.

    Raises:
        InputError: the operator reads queries, and digits have none; or a wrong setting.
        MissingExtra: scikit-learn is not installed.
    """
    # The pooling draws from a generator of its own: the network begins alike whatever it draws.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if "queries" in operator(name).needs:
            raise InputError(f"{name} reads queries, and digits have none", "choose another")
        # What the patches are mapped to counts as a layer, too.
        layers = recipe.layers + 1
        pooling = module(name, recipe.width, layers=layers, seed=seed, **(settings or {}))
        reader = DigitReader(recipe, pooling)
        images, kinds = (part.roll(fold * (len(part) - TRAINED), 0) for part in digits())
        images = patched(images)
        with torch.no_grad():
            reader(images[:2])  # the head learns how wide vectors are
        taught = kinds[:TRAINED]
        if guess:
            taught = taught[torch.randperm(TRAINED)]
        _train(reader, images[:TRAINED], taught, recipe, seed)
    with torch.no_grad():
        right = reader.eval()(images[TRAINED:]).argmax(1) == kinds[TRAINED:]
    return Outcome(right.float().mean().item(), tuple(right.tolist()), pooling)


def _train(
    reader: DigitReader, images: Tensor, kinds: Tensor, recipe: DigitRecipe, seed: int
) -> None:
    pool = list(reader.pooling.parameters())
    mine = {id(weight) for weight in pool}
    rest = [weight for weight in reader.parameters() if id(weight) not in mine]
    optimizer = torch.optim.AdamW(
        [
            {"params": rest, "lr": recipe.rate, "weight_decay": recipe.decay},
            {"params": pool, "lr": recipe.pool_rate, "weight_decay": 0.0},
        ]
    )
    steps = recipe.rounds * -(-len(images) // recipe.batch)
    warm = max(1, steps // 10)
    order = torch.Generator().manual_seed(seed)
    batches = (
        numbers
        for _ in range(recipe.rounds)
        for numbers in torch.randperm(len(images), generator=order).split(recipe.batch)
    )

    def loss(_: int) -> Tensor:
        numbers = next(batches)
        return F.cross_entropy(reader(images[numbers]), kinds[numbers])

    fit_steps(
        optimizer,
        steps,
        loss,
        share=lambda step, _: min((step + 1) / warm, (steps - step) / max(1, steps - warm)),
    )
