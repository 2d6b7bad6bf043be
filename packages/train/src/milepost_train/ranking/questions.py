"""Which questions the ranking is learned from, and which choose and calibrate.

Weights and trees are *learned*; length penalty, passage growth, reranker weight and calibration are
*chosen* on documents that nothing was learned from. Train questions learn and dev questions
choose; where there are only dev (or only train) questions they do both, cross-fitted by document.

The vectors of documents that the model was trained on look better than those of new ones: their
questions would teach the ranking to trust vectors too much. ``hold_out`` is the share of the train
documents that the model's training left out, by the same hash.

Questions that their document does not answer (``Question.absent``) teach nothing: they join the
calibration, and are sampled apart from the others, so that those are asked as without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from milepost.errors import InputError
from milepost.types import Document
from milepost.wording import counted
from milepost_eval.tasks.names import load
from milepost_eval.tasks.reading import NoQuestions
from milepost_eval.types import Question, Split, Task
from milepost_train.data import barred, held_out

Item = TypeVar("Item")
Splits = Literal["both", "train", "dev"]


@dataclass(frozen=True, slots=True)
class Minimum:
    """How many questions, about how many documents, are enough."""

    questions: int
    documents: int

    def met(self, samples: Sequence[Sample]) -> bool:
        """Whether these are enough."""
        questions, documents = count(samples)
        return questions >= self.questions and documents >= self.documents


ENOUGH = Minimum(200, 20)
"""For learning and for choosing, each: fewer documents than folds of four leave a calibration to
chance, and fewer questions the weights of ten signals."""
ENOUGH_FOR_TREES = Minimum(1000, 50)
"""For trees over 80 features; with fewer the fused order stays."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is asked at most: documents of a task and split, questions about a document.

    ``reranked`` questions about a document are asked with the reranker, too. None: no limit.
    """

    documents: int | None = 40
    questions: int | None = 24
    reranked: int | None = 8


SIZES = Sizes()


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents of one task and split, with the questions about each, at least one.

    ``seen`` and ``licences`` count the documents that were left out, as taught or not free.
    """

    task: str
    split: Split
    documents: tuple[Document, ...]
    questions: tuple[tuple[Question, ...], ...]
    seen: int = 0
    licences: int = 0


@dataclass(frozen=True, slots=True)
class Roles:
    """Samples to learn from, and samples to choose on: the same ones where ``shared``.

    Attributes:
        learn, choose: of questions with evidence.
        absent: of questions that their document does not answer; documents that nothing is
            learned from, but where ``shared``.
        unused: train questions of that kind, which cannot calibrate where train questions teach.
        chosen: train questions that teach nothing, as dev questions ask of their documents.
    """

    learn: tuple[Sample, ...]
    choose: tuple[Sample, ...]
    absent: tuple[Sample, ...] = ()
    unused: int = 0
    chosen: int = 0

    @property
    def shared(self) -> bool:
        """Whether the same questions learn and choose, so that trees must be cross-fitted."""
        return self.learn is self.choose


def count(samples: Sequence[Sample]) -> tuple[int, int]:
    """Questions and documents in all."""
    questions = sum(len(of_one) for each in samples for of_one in each.questions)
    return questions, sum(len(each.documents) for each in samples)


def counts_of(samples: Sequence[Sample]) -> dict[str, int]:
    """The same by name, as reports have it."""
    return dict(zip(("questions", "documents"), count(samples), strict=True))


def words_of(samples: Sequence[Sample]) -> list[str]:
    """What is asked."""
    return [asked.text for each in samples for of_one in each.questions for asked in of_one]


def roles(
    names: Sequence[str],
    data: Path | None,
    trained: Mapping[str, Any],
    *,
    split: Splits = "both",
    sizes: Sizes = SIZES,
    hold_out: float | None = None,
    allow_nc: bool = False,
    enough: Minimum = ENOUGH,
) -> Roles:
    """Load the tasks and give each question its role.

    ``names`` are tasks as ``milepost eval`` names them; ``NAME:train`` and ``NAME:dev`` take the
    questions of that split only. ``trained`` is the manifest's record of the model's training,
    whose ``hold_out`` counts where none is given. ``split``: see the module; ``train`` and ``dev``
    take that split alone for both roles. ``allow_nc`` takes train documents whose licence forbids
    commercial use, too.

    Raises:
        InputError: a task that cannot be used, the model was trained on these documents, or too
            few questions or documents.
        UnreadableFile: a file is missing or damaged.
    """
    share = float(trained.get("hold_out", 0.0)) if hold_out is None else hold_out
    wanted: tuple[Split, ...] = ("train", "dev") if split == "both" else (split,)
    found: dict[Split, list[Sample]] = {"train": [], "dev": []}
    absent: dict[Split, list[Sample]] = {"train": [], "dev": []}
    kept = Kept(trained, share, allow_nc)
    for name in names:
        for task in _tasks(name, data, wanted):
            teaches = kept if task.split == "train" else None
            for into, unanswered in ((found, False), (absent, True)):
                asked = tuple(each for each in task.questions if each.absent is unanswered)
                if asked:
                    part = replace(task, questions=asked)
                    into[task.split].append(sample(part, sizes, teaches))
    choose, empty = tuple(found["dev"]), tuple(absent["dev"])
    held = {(each.task, d.name) for each in (*choose, *empty) for d in each.documents}
    learn = tuple(_without(each, held) for each in found["train"])
    if learn and choose:
        chosen = count(found["train"])[0] - count(learn)[0]
        made = Roles(learn, choose, empty, count(absent["train"])[0], chosen)
    else:
        made = Roles(learn or choose, learn or choose, empty if choose else tuple(absent["train"]))
    for role, samples in (("learn from", made.learn), ("calibrate on", made.choose)):
        if not enough.met(samples):
            raise _too_few(samples, enough, role, made)
    return made


def _too_few(samples: Sequence[Sample], enough: Minimum, role: str, made: Roles) -> InputError:
    questions, documents = count(samples)
    split = samples[0].split if samples else "marked"
    other = "" if made.shared else f", or --split {'dev' if split == 'train' else 'train'}"
    each = "" if made.shared else ", of train and of dev each"
    if made.chosen and split == "train":
        each += f"; {made.chosen:,} more are about documents of which dev questions ask"
    return InputError(
        f"too few to {role}: {counted(questions, f'{split} question')} about "
        f"{counted(documents, 'document')}; {enough.questions} about {enough.documents} are needed"
        f"{each}",
        f"more questions, or a higher --questions or --documents{other}",
    )


def _tasks(name: str, data: Path | None, wanted: Sequence[Split]) -> list[Task]:
    plain, _, only = name.rpartition(":")
    splits = [each for each in wanted if each == only] if only in ("train", "dev") else wanted
    plain = plain if only in ("train", "dev") else name
    found: list[Task] = []
    missing: NoQuestions | None = None
    for each in splits:
        try:
            task = load(plain, each, data)
        except NoQuestions as error:
            missing = error
            continue
        if any(not (question.spans or question.absent) for question in task.questions):
            raise InputError(
                f"task {plain} marks no evidence in its documents",
                "tasks whose questions have spans; see docs/evaluation.md",
            )
        found.append(task)
    if not found and missing is not None:
        raise missing
    return found


@dataclass(frozen=True, slots=True)
class Kept:
    """Which train documents may teach: see ``roles``, whose ``hold_out`` is the share."""

    trained: Mapping[str, Any]
    share: float
    allow_nc: bool

    def taught(self, task: str) -> bool:
        """Whether a task is among those named by the manifest; with a share, where none are."""
        said = str(self.trained.get("data", ""))
        if not said:
            return self.share > 0.0
        return task in (*said.split(", "), *re.findall(r"[\w.-]+", said))


def sample(task: Task, sizes: Sizes, kept: Kept | None = None) -> Sample:
    """Documents of a task, evenly spread over their names, and the questions about each."""
    asked: dict[str, list[Question]] = {}
    for question in task.questions:
        asked.setdefault(question.document, []).append(question)
    seen = licences = 0
    if kept is not None:
        taught = kept.taught(task.name)
        if taught and kept.share == 0.0 and kept.trained.get("data"):
            raise InputError(
                f"the model was trained on the train questions of {task.name}, which now flatter "
                "it",
                "--hold-out SHARE as its training left out, or --split dev",
            )
        fresh = {n: of for n, of in asked.items() if not taught or held_out(n, kept.share)}
        seen, asked = len(asked) - len(fresh), fresh
    names = set(spread(sorted(asked), sizes.documents))
    documents = [document for document in task.documents if document.name in names]
    if kept is not None and not kept.allow_nc:
        facts = task.facts
        allowed = [
            each for each in documents if not barred(facts.get(each.name, {}).get("licence"))
        ]
        licences, documents = len(documents) - len(allowed), allowed
    questions = tuple(tuple(spread(asked[each.name], sizes.questions)) for each in documents)
    return Sample(task.name, task.split, tuple(documents), questions, seen, licences)


def _without(given: Sample, held: Set[tuple[str, str]]) -> Sample:
    both = zip(given.documents, given.questions, strict=True)
    kept = [pair for pair in both if (given.task, pair[0].name) not in held]
    documents, questions = (tuple(each) for each in zip(*kept, strict=True)) if kept else ((), ())
    return replace(given, documents=documents, questions=questions)


def spread(items: Sequence[Item], most: int | None) -> Sequence[Item]:
    """At most so many of them, evenly spread."""
    return items if most is None else items[:: max(1, -(-len(items) // most))]
