"""The share of hard negatives that are unmarked answers: CET's claim, tested on known answers.

Of a question with several sentences of evidence only one is taken as marked; the others are hidden.
Every other sentence of the document is then a candidate negative. The share of hidden answers at a
rank of a ranker is the share of false negatives that mining there would add: a lower bound, since
further sentences may answer that were never marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from milepost.encoder import Encoder
from milepost.errors import InputError, nearest
from milepost.types import Reader
from milepost_eval.embedders import Embedder
from milepost_eval.statistics import interval
from milepost_eval.systems.landmark import Milepost
from milepost_eval.types import Task
from milepost_lab.cet.case import Case, Hide, marked_of
from milepost_lab.cet.reading import Progress, asked_of
from milepost_lab.cet.selection import Selected, fitted
from milepost_lab.cet.simulation import area
from milepost_lab.controls.readers import ControlReader
from milepost_train.collection import Sentences
from milepost_train.negatives import Limits

RANKERS = {
    "words": "BM25 over the sentences",
    "landmarks": "cosine of the model's landmarks",
    "search": "the search as users have it, both fused",
    "minilm": "cosine of all-MiniLM-L6-v2, each sentence alone",
}
"""Who ranks the would-be negatives."""

BUCKETS = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 50))
"""First and last rank, from 1."""

_DEPTH = BUCKETS[-1][1]


@dataclass(frozen=True, slots=True)
class AuditRow:
    """The candidate negatives of a ranker at a range of ranks.

    Attributes:
        ranker: of ``RANKERS``; ``landmarks@random`` and so on for a control.
        first, last: ranks, from 1.
        count: sentences.
        share: of them that are hidden answers.
        low, high: its 95 % interval, documents resampled.
        passed: sentences that pass the filter of ``milepost mine``.
        share_passed: of those that are hidden answers; 0 where none passes.
        mined: mean weight as negatives that ``milepost mine`` gives hidden answers, then others;
            None where there are none.
        coupled: the same by the product model.
    """

    ranker: str
    first: int
    last: int
    count: int
    share: float
    low: float
    high: float
    passed: int
    share_passed: float
    mined: tuple[float | None, float | None]
    coupled: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Audit:
    """The results of one task.

    Attributes:
        task: its name.
        questions, documents: with more than one sentence of evidence.
        hidden: sentences that were hidden.
        rows: by ranker and rank.
        areas: chance that a hidden answer gets a lower weight than another listed sentence (0.5:
            the weights know nothing), by ``mined``, ``coupled`` and ``constant`` (the product model
            with one selection for all); None where no listed sentence is hidden, or every one.
        selected: the selection that the product model has fitted, beside who was marked.
    """

    task: str
    questions: int
    documents: int
    hidden: int
    rows: tuple[AuditRow, ...]
    areas: Mapping[str, float | None]
    selected: tuple[Selected, ...]


def audit(
    task: Task,
    encoder: Reader,
    rankers: Sequence[str] = ("words", "landmarks", "search"),
    *,
    hide: Hide = "random",
    limits: Limits | None = None,
    selected: float = 0.5,
    minilm: Embedder | None = None,
    controls: Sequence[ControlReader] = (),
    seed: int = 0,
    progress: Progress = lambda *_: None,
) -> Audit:
    """Hide evidence of a task and count it among the candidate negatives.

    Args:
        task: whose evidence is marked.
        encoder: its landmarks; an ``Encoder`` where ``search`` ranks.
        rankers: of ``RANKERS``.
        hide: see ``Hide``.
        limits: of mining: its filter.
        selected: probability that an answering sentence was marked, see ``product.trust``.
        minilm: what the ranker of that name reads with.
        controls: audited in the encoder's place, words beside them: rows of ``landmarks@random``
            and so on with the filter and the weights of a control's cosines, and areas of these.
        seed: of what is kept.
        progress: called with the task's name, and how many of its documents are read.

    Raises:
        InputError: no such ranker, or no question with several sentences of evidence.
    """
    for name in rankers:
        if name not in RANKERS or (name == "minilm" and minilm is None):
            hint = f"{nearest(name, RANKERS)}one of {', '.join(RANKERS)}"
            raise InputError(f"unknown ranker {name!r}", hint)
    limits = limits or Limits()
    found = list(_cases(task, encoder, rankers, hide, minilm, seed, progress))
    if not found:
        raise InputError(
            f"no question of {task.name} has two sentences of evidence",
            "audit another task, or more of its questions",
        )
    told, by_rank = fitted(found)
    alike, _ = fitted(found, alike=True)
    mined = [{n: case.trust(n, selected) for n in case.listed} for case in found]
    hidden = np.array([n in case.hidden for case in found for n in case.listed], float)
    areas: dict[str, float | None] = dict.fromkeys(("mined", "coupled", "constant"))
    if 0 < hidden.sum() < len(hidden):
        for name, weights in zip(areas, (mined, told, alike), strict=True):
            kept = [w[n] for case, w in zip(found, weights, strict=True) for n in case.listed]
            areas[name] = area(-np.array(kept), hidden)
    rows = tuple(
        row
        for name in rankers
        for bucket in BUCKETS
        if (row := _row(name, bucket, found, limits, mined, told)) is not None
    )
    for control in controls:

        def named(name: str, done: int, of: int, by: str = control.name) -> None:
            progress(f"{name} ({by})", done, of)

        own = audit(
            task,
            control,
            ("words", "landmarks"),
            hide=hide,
            limits=limits,
            selected=selected,
            seed=seed,
            progress=named,
        )
        rows += tuple(
            replace(row, ranker=f"{row.ranker}@{control.name}")
            for row in own.rows
            if row.ranker == "landmarks"
        )
        areas |= {f"{name}@{control.name}": value for name, value in own.areas.items()}
    documents = {case.document for case in found}
    count = sum(len(case.hidden) for case in found)
    return Audit(task.name, len(found), len(documents), count, rows, areas, by_rank)


def _cases(
    task: Task,
    encoder: Reader,
    rankers: Sequence[str],
    hide: Hide,
    minilm: Embedder | None,
    seed: int,
    progress: Progress,
) -> Iterable[Case]:
    random = Random(seed)
    for asked in asked_of(task, encoder, 2, progress):
        read, cosines, words = asked.read, asked.cosines, asked.words
        questions = [question.text for question in asked.questions]
        orders = {
            name: _orders(name, read, questions, cosines, words, encoder, minilm)
            for name in rankers
        }
        for row, (question, marked) in enumerate(zip(questions, asked.evidence, strict=True)):
            kept = marked_of(marked, words[row], hide, random)
            lists = {
                name: [n for n in order[row] if n != kept][:_DEPTH]
                for name, order in orders.items()
            }
            others = frozenset(marked) - {kept}
            yield Case(read, question, kept, others, cosines[row], words[row], lists)


def _orders(
    ranker: str,
    read: Sentences,
    questions: Sequence[str],
    cosines: NDArray[np.float32],
    words: NDArray[np.float32],
    encoder: Reader,
    minilm: Embedder | None,
) -> list[list[int]]:
    """For each question the best 51 sentences of one ranker."""
    if ranker == "search":
        assert isinstance(encoder, Encoder)
        opened = Milepost("landmark", encoder, rerank=False).open([read.source.document])
        places = [ranking.best(_DEPTH + 1) for ranking in opened.search(questions)]
        return [[read.touching([(p.start, p.end)])[0] for p in each] for each in places]
    if ranker == "minilm":
        assert minilm is not None
        sentences, _ = minilm.texts([read.text(n) for n in range(len(read.spans))])
        scores = minilm.questions(questions) @ sentences.T
    else:
        scores = cosines if ranker == "landmarks" else words
    best = np.argsort(-scores, axis=1, kind="stable")[:, : _DEPTH + 1]
    # Without a word in common BM25 has no opinion, and nothing is mined by it.
    return [
        [int(n) for n in row if ranker != "words" or own[n] > 0]
        for row, own in zip(best, scores, strict=True)
    ]


def _row(
    ranker: str,
    bucket: tuple[int, int],
    found: Sequence[Case],
    limits: Limits,
    mined: Sequence[Mapping[int, float]],
    told: Sequence[Mapping[int, float]],
) -> AuditRow | None:
    """One row; None where no list is so long."""
    first, last = bucket
    places = [
        (at, n) for at, case in enumerate(found) for n in case.lists[ranker][first - 1 : last]
    ]
    if not places:
        return None
    hidden = [n in found[at].hidden for at, n in places]
    low, high = interval([float(h) for h in hidden], [found[at].document for at, _ in places])
    passed = [h for (at, n), h in zip(places, hidden, strict=True) if found[at].passes(n, limits)]

    def means(weights: Sequence[Mapping[int, float]]) -> tuple[float | None, float | None]:
        yes, no = (
            [weights[at][n] for (at, n), h in zip(places, hidden, strict=True) if h == wanted]
            for wanted in (True, False)
        )
        return (float(np.mean(yes)) if yes else None), (float(np.mean(no)) if no else None)

    return AuditRow(
        ranker=ranker,
        first=first,
        last=last,
        count=len(places),
        share=float(np.mean(hidden)),
        low=low,
        high=high,
        passed=len(passed),
        share_passed=float(np.mean(passed)) if passed else 0.0,
        mined=means(mined),
        coupled=means(told),
    )
