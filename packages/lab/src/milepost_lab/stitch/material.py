"""The data of the stitch study: a text encoded by the ancestor, and its held-out part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.text import read
from milepost_lab.stitch.training import Lesson, Space, lesson, space_of
from milepost_train.batches import Batch, queries_of, windows_of
from milepost_train.check import vectors_of
from milepost_train.data import Text, tokenize
from milepost_train.model.checkpoint import Checkpoint, open_checkpoint
from milepost_train.model.landmark_encoder import LandmarkEncoder

NEAREST = 10
"""Number of neighbours found for a question."""

_HELD_OUT = 6  # one window in this many is held out
_LONGEST = 24  # maximum tokens of a sentence


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of the study.

    Attributes:
        narrow, wide: widths; inner layers are four times as wide, and heads have width 16.
        depth: blocks of each auxiliary.
        kernel: width of the window of paths, in blocks.
        distilling: training steps of each auxiliary.
        stitching: training steps of the pool, over all its paths together.
        windows: windows of six sentences each, for training and held out together.
        at_once: windows per step.
        sampling: how paths are drawn: ``uniform`` or ``balanced``.
    """

    narrow: int = 32
    wide: int = 128
    depth: int = 3
    kernel: int = 2
    distilling: int = 200
    stitching: int = 200
    windows: int = 144
    at_once: int = 4
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            InputError: a size is impossible.
        """
        if self.narrow % 16 or self.wide % 16 or not 0 < self.narrow <= self.wide:
            raise InputError(f"widths {self.narrow} and {self.wide}", "multiples of 16, rising")
        if min(self.distilling, self.stitching, self.at_once) < 1 or self.windows < 2 * _HELD_OUT:
            raise InputError("a number of steps or windows is too small", "1 step, 12 windows")
        if self.sampling not in ("uniform", "balanced"):
            raise InputError(f"unknown sampling {self.sampling!r}", "uniform or balanced")


TINY = Plan(narrow=16, wide=32, distilling=8, stitching=8, windows=36)
"""A check that everything runs, in seconds; its results mean nothing."""


@dataclass(frozen=True)
class Material:
    """The material that all seeds share.

    Attributes:
        ancestor: the checkpoint.
        lessons: training batches.
        held: batches of held-out windows, and one batch of their sentences alone.
        words: sentences of each held-out window, decoded from the tokens that are read.
        truth: ``(n, NEAREST)``: neighbours that the ancestor finds for each held-out sentence.
        space: the space of all descendants.
        wanted: ``(n, wide)``: the ancestor's held-out landmarks in that space.
    """

    ancestor: Checkpoint
    lessons: Sequence[Lesson]
    held: tuple[Sequence[Batch], Batch]
    words: Sequence[Sequence[str]]
    truth: Tensor
    space: Space
    wanted: Tensor


def material(ancestor: Path, text: Path, plan: Plan) -> Material:
    """Encode the beginning of a text with the ancestor.

    Raises:
        ModelError: the folder is not a checkpoint.
        UnreadableFile: the text cannot be read.
        InputError: the text is too short, or the ancestor is not a BERT or narrower than the wide
            encoder.
    """
    opened = open_checkpoint(ancestor)
    if opened.model.backbone.width < plan.wide:
        raise InputError(
            f"{ancestor} has {opened.model.backbone.width} channels, fewer than the {plan.wide} of "
            "the wide encoder",
            "--ancestor FOLDER of a wider model, or --tiny",
        )
    reading = opened.reading
    tokenizer = Tokenizer(opened.tokenizer, reading.bos_token, reading.landmark)
    held_text = _beginning(tokenizer, read(text).text, 6 * plan.windows)
    if len(held_text.spans) < 6 * plan.windows:
        raise InputError(
            f"{text} has {len(held_text.spans)} sentences", f"a text of {6 * plan.windows} or more"
        )
    pieces = [(0, 6 * n, 6 * n + 6) for n in range(plan.windows)]
    special = tokenizer.bos_id, tokenizer.landmark

    def batches(chosen: Sequence[tuple[int, int, int]]) -> list[Batch]:
        groups = (chosen[at : at + plan.at_once] for at in range(0, len(chosen), plan.at_once))
        return [windows_of(group, [held_text], *special) for group in groups]

    learned = batches([piece for n, piece in enumerate(pieces) if (n + 1) % _HELD_OUT])
    tested = pieces[_HELD_OUT - 1 :: _HELD_OUT]
    numbers = [n for _, first, last in tested for n in range(first, last)]
    held = batches(tested), queries_of([held_text.sentence(n) for n in numbers], *special)
    words = [
        [opened.tokenizer.decode(held_text.sentence(n).tolist()) for n in range(first, last)]
        for _, first, last in tested
    ]
    lessons = [lesson(opened.model, batch, plan.depth) for batch in learned]
    space = space_of(lessons, plan.wide)
    documents, questions = read_held(opened.model, held)
    truth = nearest(documents, questions)
    return Material(opened, lessons, held, words, truth, space, space(documents))


def _beginning(tokenizer: Tokenizer, text: str, sentences: int) -> Text:
    """Tokenize the first ``sentences`` sentences of a text, each cut after 24 tokens."""
    found = tokenize(tokenizer, "text", "text", text[: 400 * sentences], _LONGEST)
    return found.part(0, min(sentences, len(found.spans)))


@torch.no_grad()
def read_held(model: LandmarkEncoder, held: tuple[Sequence[Batch], Batch]) -> tuple[Tensor, Tensor]:
    """Encode the held-out windows, and their sentences alone: landmarks, ``(n, d)`` each."""
    model.eval()
    windows, alone = held
    return torch.cat([vectors_of(model, each) for each in windows]), vectors_of(model, alone)


def nearest(documents: Tensor, questions: Tensor) -> Tensor:
    """Find the nearest documents of each question, ``(n, NEAREST)``, without its own."""
    scores = questions @ documents.T
    scores.fill_diagonal_(-2.0)
    return scores.topk(NEAREST, dim=1).indices


def recall(found: Tensor, truth: Tensor) -> float:
    """Share of the true neighbours that were found; both are ``(n, k)``, distinct in a row."""
    return float((found[:, :, None] == truth[:, None, :]).any(dim=2).float().mean())
