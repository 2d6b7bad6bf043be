"""One ancestor, two auxiliaries, encoders of many costs: what each is worth, and what all cost.

The ancestor is a landmark checkpoint, the text a book. Held-out sentences are documents, each read
in its window; the same sentences alone are questions. What a descendant finds for them is held
against what the ancestor finds: agreement with a teacher, not quality for people.
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import torch
from torch import Tensor

from milepost.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.lab.stitch_training import (
    Lesson,
    Schedule,
    axes_of,
    distil,
    inherit_tables,
    lesson,
    targets_of,
    train_paths,
)
from milepost.model.bert import Bert
from milepost.model.checkpoint import Checkpoint, open_checkpoint
from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.model.stitch.paths import Path, balanced, early_exits
from milepost.model.stitch.pool import EncoderPool
from milepost.model.stitch.starts import STARTS, begin
from milepost.text import read
from milepost.train.batches import Batch, queries_of, windows_of
from milepost.train.check import vectors_of
from milepost.train.data import Text, tokenize

NEAREST = 10
"""Sentences of a question's list."""

_BACKWARD = 3  # a step is a forward pass and a backward one of twice its cost
_HELD_OUT = 6  # every so many-th window is held out
_LONGEST = 24  # tokens of a sentence


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of the experiment.

    Attributes:
        narrow, wide: widths, with four times as much inside; heads of 16 numbers.
        depth: blocks of each auxiliary.
        kernel: of the window of paths.
        distilling: steps of each auxiliary.
        stitching: steps of the pool, over all its paths together.
        windows: of six sentences each, in training and held out together.
        at_once: windows a step.
        sampling: of paths: ``uniform`` or ``balanced``.
    """

    narrow: int = 32
    wide: int = 128
    depth: int = 3
    kernel: int = 2
    distilling: int = 120
    stitching: int = 120
    windows: int = 144
    at_once: int = 4
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        """Check them.

        Raises:
            InputError: a size that cannot be.
        """
        if self.narrow % 16 or self.wide % 16 or not 0 < self.narrow <= self.wide:
            raise InputError(f"widths {self.narrow} and {self.wide}", "multiples of 16, rising")
        if min(self.distilling, self.stitching, self.at_once) < 1 or self.windows < 2 * _HELD_OUT:
            raise InputError("a number of steps or windows is too small", "1 step, 12 windows")
        if self.sampling not in ("uniform", "balanced"):
            raise InputError(f"there is no sampling {self.sampling!r}", "uniform or balanced")


TINY = Plan(narrow=16, wide=32, distilling=8, stitching=8, windows=36)
"""Seconds: to see that everything runs, not to learn anything by."""


@dataclass(frozen=True, slots=True)
class Descendant:
    """One encoder of one seed.

    Attributes:
        arm: ``pool``, ``early exit`` or ``alone``; ``start:KIND`` before the paths are trained and
            ``random``, ``transpose`` … after.
        name: of its path.
        seed: of the run.
        parameters: that it runs, its table's included.
        operations: on one window, by formula.
        milliseconds: of one window on this machine, median.
        agreement: mean cosine of its landmarks with the ancestor's on their principal axes.
        recall: share of the ancestor's ten nearest among its own.
    """

    arm: str
    name: str
    seed: int
    parameters: int
    operations: int
    milliseconds: float
    agreement: float
    recall: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        descendants: every encoder of every arm and seed.
        matrix: names of the pool's descendants, and of each pair the recall with documents by the
            one (row) and questions by the other (column), mean over seeds.
        costs: floating-point operations of training: of the ancestor's reading, each arm's.
        updates: steps that trained each block of the pool, mean over seeds.
        sentences: held out.
    """

    descendants: tuple[Descendant, ...]
    matrix: tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]
    costs: dict[str, float]
    updates: dict[str, float]
    sentences: int


@dataclass(frozen=True)
class Material:
    """What all seeds share.

    Attributes:
        ancestor: the checkpoint.
        lessons: to train on.
        held: batches of held-out windows, and their sentences alone.
        truth: ``(n, NEAREST)``: what the ancestor finds for each held-out sentence.
        axes: see ``axes_of``.
        wanted: ``(n, wide)`` the ancestor's landmarks on them.
    """

    ancestor: Checkpoint
    lessons: Sequence[Lesson]
    held: tuple[Sequence[Batch], Batch]
    truth: Tensor
    axes: Tensor
    wanted: Tensor


def material(ancestor: FilePath, text: FilePath, plan: Plan) -> Material:
    """Let the ancestor read the beginning of a text.

    Raises:
        ModelError: the folder is no checkpoint.
        UnreadableFile: the text cannot be read.
        InputError: the text is too short, or the ancestor is no BERT.
    """
    opened = open_checkpoint(ancestor)
    reading = opened.reading
    tokenizer = Tokenizer(opened.tokenizer, reading.opening, reading.landmark)
    held_text = _beginning(tokenizer, read(text).text, 6 * plan.windows)
    if len(held_text.spans) < 6 * plan.windows:
        raise InputError(
            f"{text} has {len(held_text.spans)} sentences", f"give a text of {6 * plan.windows}"
        )
    pieces = [(0, 6 * n, 6 * n + 6) for n in range(plan.windows)]
    special = tokenizer.opening, tokenizer.landmark

    def batches(chosen: Sequence[tuple[int, int, int]]) -> list[Batch]:
        groups = (chosen[at : at + plan.at_once] for at in range(0, len(chosen), plan.at_once))
        return [windows_of(group, [held_text], *special) for group in groups]

    learned = batches([piece for n, piece in enumerate(pieces) if (n + 1) % _HELD_OUT])
    tested = pieces[_HELD_OUT - 1 :: _HELD_OUT]
    numbers = [n for _, first, last in tested for n in range(first, last)]
    held = batches(tested), queries_of([held_text.sentence(n) for n in numbers], *special)
    lessons = [lesson(opened.model, batch, plan.depth) for batch in learned]
    axes = axes_of(lessons, plan.wide)
    documents, questions = _read(opened.model, held)
    return Material(
        opened, lessons, held, _nearest(documents, questions), axes, targets_of(documents, axes)
    )


def _beginning(tokenizer: Tokenizer, text: str, sentences: int) -> Text:
    """So many sentences from the start of a text, each cut after 24 tokens."""
    found = tokenize(tokenizer, "text", "text", text[: 400 * sentences], _LONGEST)
    return found.part(0, min(sentences, len(found.spans)))


@torch.no_grad()
def _read(model: LandmarkEncoder, held: tuple[Sequence[Batch], Batch]) -> tuple[Tensor, Tensor]:
    """Landmarks of the held-out windows, and of their sentences alone, ``(n, d)`` each."""
    model.eval()
    windows, alone = held
    return torch.cat([vectors_of(model, each) for each in windows]), vectors_of(model, alone)


def _nearest(documents: Tensor, questions: Tensor) -> Tensor:
    """The nearest documents of each question, ``(n, NEAREST)``, its own left out."""
    scores = questions @ documents.T
    scores.fill_diagonal_(-2.0)
    return scores.topk(NEAREST, dim=1).indices


def recall(found: Tensor, truth: Tensor) -> float:
    """Share of the true nearest among the found: both ``(n, k)`` numbers, a row's apart."""
    return float((found[:, :, None] == truth[:, None, :]).any(dim=2).float().mean())


def run(
    ancestor: FilePath,
    text: FilePath,
    plan: Plan | None = None,
    *,
    seeds: int = 1,
    progress: Callable[[str, int, int], object] = lambda *_: None,
) -> Outcome:
    """The whole experiment.

    Of each seed: both auxiliaries distilled; of each way to begin the stitches a pool, trained over
    all its paths for the same steps; every size trained alone for as many steps as both stages
    have; the wide auxiliary trained to leave early. The arm ``pool`` is the one of least squares.

    Args:
        ancestor: folder of a landmark checkpoint with a BERT.
        text: any file that can be read.
        plan: sizes; None for the default.
        seeds: how often, with other weights and draws.
        progress: called with what is done, how much of it, and of how much.

    Raises:
        ModelError: the folder is no checkpoint.
        UnreadableFile: the text cannot be read.
        InputError: the text is too short, or the ancestor is no BERT.
    """
    plan = plan or Plan()
    shared = material(ancestor, text, plan)
    found: list[Descendant] = []
    matrices: list[Tensor] = []
    costs: dict[str, float] = {"ancestor": _ancestor_cost(shared)}
    updates: dict[str, float] = {}
    names: tuple[str, ...] = ()
    for seed in range(seeds):
        one = _Seed(shared, plan, seed)
        for number, (arm, each) in enumerate(one.arms()):
            found.extend(each)
            progress(f"seed {seed}, {arm}", number + 1, 2 * len(STARTS) + 4)
        names, matrix = one.matrix()
        matrices.append(matrix)
        for name, cost in one.costs.items():
            costs[name] = costs.get(name, 0.0) + cost / seeds
        for name, count in one.updates.items():
            updates[name] = updates.get(name, 0.0) + count / seeds
    mean = torch.stack(matrices).mean(0)
    return Outcome(
        descendants=tuple(found),
        matrix=(names, tuple(tuple(row) for row in mean.tolist())),
        costs=costs,
        updates=updates,
        sentences=len(shared.truth),
    )


def _ancestor_cost(shared: Material) -> float:
    """Of reading all lessons once."""
    config = shared.ancestor.model.config
    whole = EncoderPool(config, config)  # its formula is any BERT's
    return float(sum(_cost(whole, whole.paths[-1], each.batch) for each in shared.lessons))


def _cost(pool: EncoderPool, path: Path, batch: Batch) -> int:
    """Operations of a forward pass over a batch, padding included, as it is run."""
    rows, tokens = batch.ids.shape
    return rows * pool.operations_of(path, tokens, batch.marks.shape[1])


class _Seed:
    """The arms of one seed."""

    def __init__(self, shared: Material, plan: Plan, seed: int) -> None:
        self._shared, self._plan, self._seed = shared, plan, seed
        self.costs: dict[str, float] = {}
        self.updates: dict[str, float] = {}
        self._pool = self._fresh()

    def arms(self) -> Iterator[tuple[str, list[Descendant]]]:
        """Each arm and its descendants, in the order in which they are trained."""
        shared, plan = self._shared, self._plan
        lessons, axes = shared.lessons, shared.axes
        maps = {}
        for which in ("narrow", "wide"):
            maps[which] = distil(
                self._pool, which, lessons, axes, Schedule(plan.distilling, seed=self._seed)
            )
            path = self._pool.path(which)
            self._count("auxiliaries", path, plan.distilling)
        yield "auxiliaries", []
        windows = [(each.batch.ids, each.valid) for each in lessons[:10]]
        distilled = self._pool
        for start in STARTS:
            pool = copy.deepcopy(distilled)
            torch.manual_seed(self._seed)
            begin(pool, start, narrow=maps["narrow"], wide=maps["wide"], windows=windows)
            yield start, self._measured(f"start:{start}", pool, pool.paths)
            chances = balanced(pool.paths) if plan.sampling == "balanced" else None
            schedule = Schedule(plan.stitching, rate=1e-3, seed=self._seed)
            drawn = train_paths(pool, pool.paths, lessons, axes, schedule, chances)
            for path in drawn:
                self._count(f"stitching, {start}", path, 1)
            chosen = start == "least_squares"
            if chosen:
                self._pool = pool
                for path in drawn:
                    for part in path.parts:
                        name = part if isinstance(part, str) else " ".join(map(str, part))
                        self.updates[name] = self.updates.get(name, 0.0) + 1
            yield start, self._measured("pool" if chosen else start, pool, pool.paths)
        for size in self._pool.sizes.values():
            pool = self._fresh()
            steps = plan.distilling + plan.stitching
            train_paths(pool, [size], lessons, axes, Schedule(steps, seed=self._seed))
            self._count(f"alone, {size.name}", size, steps)
            yield "alone", self._measured("alone", pool, [size])
        pool = copy.deepcopy(distilled)
        exits = early_exits(plan.depth)
        schedule = Schedule(plan.stitching, rate=1e-3, seed=self._seed)
        for path in train_paths(pool, exits, lessons, axes, schedule):
            self._count("early exit", path, 1)
        yield "early exit", self._measured("early exit", pool, exits)

    def matrix(self) -> tuple[tuple[str, ...], Tensor]:
        """Recall of every pair of the pool's descendants: documents by the row."""
        shared, pool = self._shared, self._pool
        read = [_read(pool.encoder(path), shared.held) for path in pool.paths]
        rows = [
            [recall(_nearest(documents, asked), shared.truth) for _, asked in read]
            for documents, _ in read
        ]
        return tuple(path.name for path in pool.paths), torch.tensor(rows)

    def _fresh(self) -> EncoderPool:
        plan = self._plan
        old = self._shared.ancestor.model
        assert isinstance(old.backbone, Bert)  # lessons were read by it
        narrow, wide = (
            {
                **old.config,
                "hidden_size": width,
                "intermediate_size": 4 * width,
                "num_attention_heads": width // 16,
                "num_hidden_layers": plan.depth,
            }
            for width in (plan.narrow, plan.wide)
        )
        torch.manual_seed(self._seed)
        pool = EncoderPool(narrow, wide, kernel=plan.kernel, own_sentence=old.own_sentence)
        for part in (pool.narrow, pool.wide):
            inherit_tables(part, old.backbone)
        return pool

    def _count(self, arm: str, path: Path, steps: int) -> None:
        """Add the operations of some training steps, of the mean lesson."""
        lessons = self._shared.lessons
        mean = sum(_cost(self._pool, path, each.batch) for each in lessons) / len(lessons)
        self.costs[arm] = self.costs.get(arm, 0.0) + _BACKWARD * steps * mean

    def _measured(self, arm: str, pool: EncoderPool, paths: Sequence[Path]) -> list[Descendant]:
        shared = self._shared
        found = []
        for path in paths:
            encoder = pool.encoder(path)
            documents, questions = _read(encoder, shared.held)
            window = _one_window(shared.held[0][0])
            found.append(
                Descendant(
                    arm=arm,
                    name=path.name,
                    seed=self._seed,
                    parameters=pool.parameters_of(path),
                    operations=_cost(pool, path, window),
                    milliseconds=_milliseconds(encoder, window),
                    agreement=float((documents * shared.wanted).sum(1).mean()),
                    recall=recall(_nearest(documents, questions), shared.truth),
                )
            )
        return found


def _one_window(batch: Batch) -> Batch:
    """The first window of a batch."""
    count = int(batch.used[0].sum())
    parts = (each[:1] for each in (batch.ids, batch.sentences, batch.marks, batch.used))
    return Batch(*parts, owners=batch.owners[:count])


@torch.no_grad()
def _milliseconds(encoder: LandmarkEncoder, window: Batch, times: int = 9) -> float:
    """Median time of one window, after two that warm up."""
    taken = []
    for _ in range(times + 2):
        begun = time.perf_counter()
        vectors_of(encoder, window)
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken[2:])
