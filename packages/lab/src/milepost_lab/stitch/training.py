"""Distil auxiliaries from a landmark encoder, and train stitched paths.

Each step uses one batch of windows of real sentences. The ancestor encodes them once; its landmark
vectors, centred and projected onto their principal axes, are the targets of every descendant: by
cosine, and by the similarities within the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.model.stitch.affine import Affine
from milepost_lab.model.stitch.paths import Path
from milepost_lab.model.stitch.pool import EncoderPool
from milepost_lab.model.stitch.starts import recorded
from milepost_train.batches import Batch
from milepost_train.check import vectors_of
from milepost_train.fit_steps import take_step
from milepost_train.light.training import principal_axes
from milepost_train.losses import away_from, divergence, similarities
from milepost_train.model.bert import Bert
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.schedule import half_cosine

_WARM_UP = 20
_TEMPERATURE = 0.1


@dataclass(frozen=True, slots=True)
class Lesson:
    """A batch with the ancestor's states and vectors.

    Attributes:
        batch: windows.
        vectors: ``(n, a)``: the ancestor's landmarks.
        depths: the ancestor's states ``(tokens, a)`` at each matched depth; at the last one only
            those of landmarks.
    """

    batch: Batch
    vectors: Tensor
    depths: Sequence[Tensor]

    @property
    def valid(self) -> Tensor:
        """Mask of the tokens that are not padding, ``(b, t)`` bool."""
        return self.batch.sentences >= 0


def matched(ancestor: int, depth: int) -> list[int]:
    """List the ancestor block that each block of an auxiliary is matched with.

    It is the last block of each ``ancestor / depth``-th part, counted from 0.

    Raises:
        InputError: the auxiliary is deeper than its ancestor.

    >>> matched(6, 3), matched(12, 3)
    ([1, 3, 5], [3, 7, 11])
    """
    if not 1 <= depth <= ancestor:
        raise InputError(
            f"{depth} blocks out of {ancestor}", "an auxiliary of at most as many blocks"
        )
    return [(number + 1) * ancestor // depth - 1 for number in range(depth)]


@torch.no_grad()
def lesson(ancestor: LandmarkEncoder, batch: Batch, depth: int) -> Lesson:
    """Read a batch with the ancestor.

    Raises:
        InputError: the ancestor is not a ``Bert``, so its blocks cannot be read.
    """
    backbone = ancestor.backbone
    if not isinstance(backbone, Bert):
        raise InputError(
            f"an ancestor of kind {ancestor.config.get('model_type')!r}", "distil from a bert"
        )
    layers = backbone.layers
    chosen = [layers[number] for number in matched(len(layers), depth)]
    with recorded(chosen) as states:
        vectors = vectors_of(ancestor, batch)
    masks = [batch.sentences >= 0] * (depth - 1) + [batch.used]
    return Lesson(batch, vectors, [s[mask] for s, mask in zip(states, masks, strict=True)])


@dataclass(frozen=True, slots=True)
class Space:
    """The space that all descendants share: the ancestor's, centred, on its principal axes.

    It is centred because landmarks share a common direction: from targets that contain it, a small
    encoder learns that direction alone (all cosines 0.49, and rankings no better than chance).

    Attributes:
        middle: ``(a,)`` mean of the ancestor's landmarks.
        axes: ``(a, width)``; the identity where the width is the ancestor's.
    """

    middle: Tensor
    axes: Tensor

    def __call__(self, vectors: Tensor) -> Tensor:
        """Map the ancestor's vectors ``(n, a)`` to targets ``(n, width)`` of unit length."""
        return F.normalize((vectors - self.middle) @ self.axes, dim=-1)


def space_of(lessons: Sequence[Lesson], width: int) -> Space:
    """Find the space of this width that keeps most of the variance of the ancestor's vectors."""
    vectors = torch.cat([each.vectors for each in lessons])
    axes = torch.eye(width)
    if width != vectors.shape[1]:
        axes = torch.from_numpy(principal_axes(vectors.numpy(), width))
    return Space(vectors.mean(0), axes)


def loss_of(vectors: Tensor, targets: Tensor) -> Tensor:
    """One minus the cosine, plus the divergence of similarities within the batch.

    The divergence compares each row's similarities to the others: ``losses.divergence`` at
    temperature 0.1.
    """
    others = ~torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    own, theirs = similarities(vectors, vectors), similarities(targets, targets)
    alike = divergence(own, theirs, others, _TEMPERATURE, _TEMPERATURE)
    return away_from(vectors, targets) + alike


@torch.no_grad()
def inherit_tables(auxiliary: Bert, ancestor: Bert) -> None:
    """Initialize the embeddings of an auxiliary as the ancestor's on their principal axes.

    The tables are frozen, because training on few sentences would spoil them.
    """
    words = ancestor.embeddings["word_embeddings"].weight
    width = auxiliary.width
    axes = torch.eye(width)
    if width < words.shape[1]:
        axes = torch.from_numpy(principal_axes(words.numpy(), width))
    for name in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        own: Any = auxiliary.embeddings[name]
        rows: Any = ancestor.embeddings[name]
        own.weight.copy_((rows.weight @ axes)[: len(own.weight)])
        own.weight.requires_grad_(False)


@dataclass(frozen=True, slots=True)
class Schedule:
    """The length and rates of training.

    Attributes:
        steps: number of optimizer steps.
        rate: peak learning rate of AdamW, after a warm-up over 20 steps; then a cosine to 0.
        matching: weight of the loss at matched depths, which is added to that of the vectors.
        seed: seed of all draws.
    """

    steps: int
    rate: float = 2e-3
    matching: float = 0.02
    seed: int = 0

    def optimizer(self, parameters: Sequence[nn.Parameter]) -> torch.optim.Optimizer:
        """Create AdamW for the trainable parameters; those without a gradient in a step stay."""
        trained = [each for each in parameters if each.requires_grad]
        return torch.optim.AdamW(trained, lr=self.rate, weight_decay=0.01)

    def go(self, optimizer: torch.optim.Optimizer, step: int, loss: Tensor) -> None:
        """Compute gradients and take step ``step``, counted from 0."""
        share = min(1.0, (step + 1) / _WARM_UP) * half_cosine(step / self.steps)
        trained = [each for group in optimizer.param_groups for each in group["params"]]
        take_step(optimizer, loss, share, trained)


def distil(
    pool: EncoderPool,
    which: str,
    lessons: Sequence[Lesson],
    space: Space,
    schedule: Schedule,
) -> list[Affine]:
    """Train one auxiliary alone, with a map from the ancestor's states to each of its blocks.

    The maps are trained too, which one version of the paper's code forgets.

    Args:
        pool: its ``narrow`` or ``wide`` part is changed in place.
        which: ``narrow`` or ``wide``.
        lessons: batches to train on, at least one.
        space: space of the targets.
        schedule: length and rates.

    Returns:
        The maps, one for each block.
    """
    encoder = pool.encoder(which).train()
    layers = (pool.narrow if which == "narrow" else pool.wide).layers
    width = pool.configs[which]["hidden_size"]
    torch.manual_seed(schedule.seed)
    maps = nn.ModuleList(nn.Linear(each.shape[1], width) for each in lessons[0].depths)
    optimizer = schedule.optimizer([*encoder.parameters(), *maps.parameters()])
    random = Random(schedule.seed)
    for step in range(schedule.steps):
        one = random.choice(lessons)
        with recorded(layers) as states:
            vectors = vectors_of(encoder, one.batch)
        masks = [one.valid] * (len(states) - 1) + [one.batch.used]
        away = sum(
            F.mse_loss(own[mask], down(theirs))
            for own, mask, down, theirs in zip(states, masks, maps, one.depths, strict=True)
        )
        loss = loss_of(vectors, space(one.vectors)) + schedule.matching * away
        schedule.go(optimizer, step, loss)
    return [Affine.of(each) for each in maps if isinstance(each, nn.Linear)]


def train_paths(
    pool: EncoderPool,
    paths: Sequence[Path],
    lessons: Sequence[Lesson],
    space: Space,
    schedule: Schedule,
    chances: Sequence[float] | None = None,
) -> list[Path]:
    """Train some paths of a pool together: each step draws one of them and one lesson.

    Args:
        pool: changed in place.
        paths: paths to draw from.
        lessons: batches to train on, at least one.
        space: space of the targets.
        schedule: length and rates.
        chances: probability of each path; None for equal ones.

    Returns:
        The paths that were drawn, in order.
    """
    encoders = {path: pool.encoder(path).train() for path in paths}
    # Each weight once, since paths share them.
    held = {id(each): each for one in encoders.values() for each in one.parameters()}
    optimizer = schedule.optimizer(list(held.values()))
    random = Random(schedule.seed)
    drawn = []
    for step in range(schedule.steps):
        path = random.choices(paths, chances)[0]
        one = random.choice(lessons)
        vectors = vectors_of(encoders[path], one.batch)
        schedule.go(optimizer, step, loss_of(vectors, space(one.vectors)))
        drawn.append(path)
    return drawn
