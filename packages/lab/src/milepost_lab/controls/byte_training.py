"""Pre-training of byte encoders on a text by span corruption: one recipe for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch

from milepost.errors import InputError
from milepost_lab.model.bytes.encoder import TINY, ByteModel, ByteShape, made, padded_ids
from milepost_lab.model.bytes.span import corrupt, gaps_of, random_gaps
from milepost_lab.model.bytes.tokenizer import SENTINELS, encode, window_at
from milepost_train.fit_steps import fit_steps
from milepost_train.schedule import warmed


@dataclass(frozen=True, slots=True)
class ByteRecipe:
    """How a byte encoder is pre-trained; the whole pool shares one.

    Attributes:
        shape: sizes.
        steps: of AdamW, no decay, rate falling to a tenth along a cosine after 10 % warm-up.
        batch: windows a step.
        window: bytes of a window.
        gap: mean bytes of a gap.
        rate: highest learning rate.
    """

    shape: ByteShape = TINY
    steps: int = 200
    batch: int = 16
    window: int = 128
    gap: float = 8.0
    rate: float = 3e-3

    def __post_init__(self) -> None:
        if gaps_of(self.window, self.gap)[1] > SENTINELS:
            raise InputError(
                f"windows of {self.window} bytes with gaps of {self.gap:g} have more gaps than "
                f"there are marks ({SENTINELS})",
                "read shorter windows or make longer gaps",
            )


def rate_share(step: int, steps: int) -> float:
    """A linear warm-up over a tenth of the steps, then a cosine to a tenth of the highest rate."""
    return warmed(step, steps, max(1, steps // 10), floor=0.1)


def pretrain(
    data: bytes, recipe: ByteRecipe, seed: int = 0, *, begun: ByteModel | None = None
) -> ByteModel:
    """A model trained on a text; weights, windows and gaps depend on the seed alone.

    Args:
        data: the text.
        recipe: how.
        seed: see above.
        begun: a model to go on from, which is left as it is; None for random weights.

    Raises:
        InputError: the text is shorter than a window.
    """
    if len(data) <= recipe.window:
        raise InputError(
            f"{len(data)} bytes are too few for windows of {recipe.window}", "give more text"
        )
    model = made(recipe.shape, seed) if begun is None else deepcopy(begun).train()
    rng = np.random.default_rng(seed)
    weights = list(model.parameters())

    def loss(_: int) -> torch.Tensor:
        places = rng.integers(0, len(data) - recipe.window, recipe.batch)
        rows = [window_at(data, int(place), recipe.window) for place in places]
        return model.loss(*gapped(rows, recipe.gap, rng))

    adam = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=0.0)
    fit_steps(adam, recipe.steps, loss, share=rate_share, clipped=weights)
    model.eval()
    return model


def gapped(
    rows: Sequence[bytes], gap: float, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets of windows, ``(b, n)`` and ``(b, m)``, gaps drawn."""
    both = [
        corrupt(encode(row, end=False), random_gaps(len(row), gap, rng).tolist()) for row in rows
    ]
    return padded_ids([inputs for inputs, _ in both]), padded_ids([gaps for _, gaps in both])
