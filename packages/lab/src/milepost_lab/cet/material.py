"""What a ranker is trained on and asked: lists of candidates, some answers hidden, as tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
from torch import Tensor

from milepost.errors import InputError
from milepost.types import Reader
from milepost_eval.types import Task
from milepost_lab.cet.case import Case, Hide, marked_of
from milepost_lab.cet.reading import Asked, Progress, asked_of
from milepost_lab.cet.selection import fitted

MINERS = {
    "words": "BM25 over the sentences",
    "minilm": "cosine of all-MiniLM-L6-v2, each sentence alone",
}
"""Who ranks the would-be negatives, and the candidates of the questions that are asked."""

BEST = 20
"""Sentences that the miner lists for a question."""

WEIGHTS = ("none", "posterior", "mined", "oracle")
"""Weights of a mined negative that are known before a ranker is trained: one for all; of the
product model; of ``milepost mine``; 0 for a hidden answer and 1 for all others."""


@dataclass(frozen=True)
class Lists:
    """Questions with candidate sentences; rows are filled up with zeros.

    Attributes:
        queries: ``(q, d)`` unit vectors.
        sentences: ``(q, m, d)`` unit vectors of the candidates.
        scores: ``(q, m, 2)``: cosine and BM25, each less its mean over the document's sentences, in
            standard deviations.
        real: ``(q, m)`` bool: candidates, as against zeros.
        answers: ``(q, m)`` bool: evidence, hidden or not.
        evidence: ``(q,)`` int64: sentences of evidence, candidates or not.
        clusters: of each question its task and document.
        tasks: of each question its task.
    """

    queries: Tensor
    sentences: Tensor
    scores: Tensor
    real: Tensor
    answers: Tensor
    evidence: Tensor
    clusters: Sequence[str]
    tasks: Sequence[str]


@dataclass(frozen=True)
class Taught:
    """Training questions.

    Column 0 is the marked sentence, then ``depth`` mined ones, then as many drawn at random.

    Attributes:
        lists: the candidates.
        depth: mined negatives of each question.
        weights: of ``WEIGHTS`` → ``(q, depth)`` of the mined negatives.
    """

    lists: Lists
    depth: int
    weights: Mapping[str, Tensor]


@dataclass(frozen=True)
class _Row:
    """A question's candidates, as numbers of the document's sentences."""

    asked: Asked
    at: int
    numbers: Sequence[int]


def taught(
    tasks: Iterable[Task],
    reader: Reader,
    *,
    miner: str = "minilm",
    hide: Hide = "random",
    best: int = BEST,
    depth: int = 10,
    selected: float = 0.5,
    seed: int = 0,
    progress: Progress = lambda *_: None,
) -> Taught:
    """Training questions with several sentences of evidence, of which one stays marked.

    Mined negatives are drawn from the miner's best sentences, random ones from all. As the ranker
    orders what the miner lists, questions whose marked sentence is not listed are left out: from
    them it would learn that what the miner finds is wrong.

    Args:
        tasks: of the training split.
        reader: gives sentences and vectors.
        miner: of ``MINERS``.
        hide: see ``case.Hide``.
        best: sentences that the miner lists.
        depth: mined negatives of a question, drawn from these.
        selected: probability that an answering sentence was marked: of ``milepost mine``'s
            weights, and the product model's prior.
        seed: of what is kept, and of random negatives.
        progress: see ``reading.Progress``.

    Raises:
        InputError: no such question is left.
    """
    random = Random(seed)
    rows: list[_Row] = []
    cases: list[Case] = []
    names: list[str] = []
    for task in tasks:
        for asked in asked_of(task, reader, 2, progress):
            count = len(asked.read.spans)
            if count <= depth:
                continue
            for at, evidence in enumerate(asked.evidence):
                cosines, words = asked.cosines[at], asked.words[at]
                kept = marked_of(evidence, words, hide, random)
                listed = _listed(asked, at, miner, best)
                if kept not in listed:
                    continue
                mined = random.sample([n for n in listed if n != kept], depth)
                drawn = random.sample([n for n in range(count) if n != kept], depth)
                rows.append(_Row(asked, at, [kept, *mined, *drawn]))
                others = frozenset(evidence) - {kept}
                question = asked.questions[at].text
                cases.append(
                    Case(asked.read, question, kept, others, cosines, words, {miner: mined})
                )
                names.append(task.name)
    if not rows:
        raise InputError(
            f"no training question has two sentences of evidence among more than {depth}",
            "other tasks, or more documents of them",
        )
    lists = _lists(rows, names)
    product, _ = fitted(cases, expected=selected)
    told = {
        "none": [[1.0] * depth for _ in cases],
        "posterior": [
            [own[n] for n in case.lists[miner]] for own, case in zip(product, cases, strict=True)
        ],
        "mined": [[case.trust(n, selected) for n in case.lists[miner]] for case in cases],
        "oracle": [[float(n not in case.hidden) for n in case.lists[miner]] for case in cases],
    }
    return Taught(lists, depth, {name: torch.tensor(told[name]) for name in WEIGHTS})


def asked(
    tasks: Iterable[Task],
    reader: Reader,
    *,
    miner: str = "minilm",
    best: int = BEST,
    progress: Progress = lambda *_: None,
) -> Lists:
    """Questions to test on, each with the miner's best sentences, whatever their evidence.

    Args:
        tasks: of the split that is asked.
        reader: gives sentences and vectors.
        miner: of ``MINERS``.
        best: candidates of a question.
        progress: see ``reading.Progress``.

    Raises:
        InputError: no question has evidence.
    """
    rows: list[_Row] = []
    names: list[str] = []
    for task in tasks:
        for found in asked_of(task, reader, 1, progress):
            for at in range(len(found.questions)):
                rows.append(_Row(found, at, _listed(found, at, miner, best)))
                names.append(task.name)
    if not rows:
        raise InputError("no question has evidence", "other tasks, or more documents of them")
    return _lists(rows, names)


def _listed(asked: Asked, at: int, miner: str, best: int) -> list[int]:
    """Numbers of the sentences that the miner ranks highest."""
    scores = asked.words[at] if miner == "words" else asked.cosines[at]
    listed: list[int] = np.argsort(-scores, kind="stable")[:best].tolist()
    return listed


def _lists(rows: Sequence[_Row], names: Sequence[str]) -> Lists:
    most, width = max(len(row.numbers) for row in rows), rows[0].asked.queries.shape[1]
    queries = np.zeros((len(rows), width), np.float32)
    sentences = np.zeros((len(rows), most, width), np.float32)
    scores = np.zeros((len(rows), most, 2), np.float32)
    real, answers = np.zeros((2, len(rows), most), np.bool_)
    for place, row in enumerate(rows):
        asked, at, numbers = row.asked, row.at, list(row.numbers)
        queries[place] = asked.queries[at]
        sentences[place, : len(numbers)] = asked.read.vectors[numbers]
        for column, own in enumerate((asked.cosines[at], asked.words[at])):
            own = (own - own.mean()) / (own.std() + 1e-6)
            scores[place, : len(numbers), column] = own[numbers]
        real[place, : len(numbers)] = True
        answers[place, : len(numbers)] = np.isin(numbers, asked.evidence[at])
    return Lists(
        torch.from_numpy(queries),
        torch.from_numpy(sentences),
        torch.from_numpy(scores),
        torch.from_numpy(real),
        torch.from_numpy(answers),
        torch.tensor([len(row.asked.evidence[row.at]) for row in rows]),
        [
            f"{name}/{row.asked.read.source.document.name}"
            for name, row in zip(names, rows, strict=True)
        ],
        list(names),
    )
