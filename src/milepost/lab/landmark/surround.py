"""What comes with a hit: the sentences in front of it, or those on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from milepost.encoder import Encoder
from milepost.evaluate.metrics import BUDGETS, evidence_found
from milepost.evaluate.report.outcome import Outcome, Panel, Series, told
from milepost.evaluate.report.tally import Tally
from milepost.evaluate.types import Task
from milepost.evaluate.vectors import Vectors
from milepost.lab.landmark.experiment import USUAL, Experiment
from milepost.lab.landmark.reading import Reader, asked
from milepost.types import Span

Way = Literal["front", "surround"]
WAYS: tuple[Way, ...] = ("front", "surround")
EXTRA = (0, 2, 4, 6)
"""Sentences that come with a hit; even, so that both sides get the same."""


def company(hit: int, extra: int, way: Way, count: int) -> list[int]:
    """A hit and what comes with it, the hit first, then the nearest; cut at the text's ends.

    ``front-k`` of Luo et al. 2024 (arXiv 2402.11573) counts the hit; here it does not.

    Args:
        hit: number of a sentence.
        extra: sentences that come with it.
        way: all in front of it, or half on each side.
        count: sentences of the document.

    >>> company(4, 2, "front", 10), company(4, 2, "surround", 10), company(0, 2, "front", 10)
    ([4, 3, 2], [4, 3, 5], [0])
    """
    if way == "front":
        near = [hit - step for step in range(1, extra + 1)]
    else:
        near = [beside for step in range(1, extra // 2 + 1) for beside in (hit - step, hit + step)]
    return [hit, *(number for number in near if 0 <= number < count)]


def spent(order: Sequence[int], spans: Sequence[Span], extra: int, way: Way) -> Iterator[Span]:
    """Sentences as they are returned: hits best first, each with its company, none twice."""
    seen: set[int] = set()
    for hit in order:
        for number in company(hit, extra, way, len(spans)):
            if number not in seen:
                seen.add(number)
                yield spans[number]


def _measure(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    import numpy as np

    reader = Reader.like(encoder, vectors)
    tally = Tally()
    for task in tasks:
        for document, questions in asked(task):
            reading = reader.read(document)
            spans = [(start, end) for start, end in reading.units.spans.tolist()]
            for question, query in zip(questions, reader.ask(questions), strict=True):
                order = np.argsort(-(reading.vectors @ query), kind="stable").tolist()
                for way in WAYS:
                    for extra in EXTRA:
                        figures = {
                            f"recall@{budget}": evidence_found(
                                spent(order, spans, extra, way), question.spans, budget
                            )
                            for budget in BUDGETS
                        }
                        tally.add((way, str(extra)), task.name, document.name, figures)
    return _outcome(tally)


def _outcome(tally: Tally) -> Outcome:
    metrics = [f"recall@{budget}" for budget in BUDGETS]
    pairs = [(way, str(extra)) for extra in EXTRA for way in WAYS if extra or way == "front"]
    sides = tally.gains(
        {
            extra: ((("surround", extra), metrics[1]), (("front", extra), metrics[1]))
            for extra in map(str, EXTRA[1:])
        }
    )
    rows = tuple(
        (
            "hits alone" if extra == "0" else f"{way}-{extra}",
            *(tally.mean((way, extra), metric) for metric in metrics),
            None
            if extra == "0"
            else tally.gain(((way, extra), metrics[1]), ((way, "0"), metrics[1])),
            None if way == "front" else sides[extra],
        )
        for way, extra in pairs
    )
    said = [
        f"with {extra} sentences each, having them on both sides rather than in front {told(gain)}"
        for extra, gain in sides.items()
    ]
    least = str(EXTRA[1])
    alone = tally.gain((("surround", least), metrics[1]), (("surround", "0"), metrics[1]))
    note = (
        f"At {BUDGETS[1]:,} characters, landmarks alone: {'; '.join(said)}. Against hits alone, "
        f"surround-{least} {told(alone)}: what a neighbour costs is taken from the next best hit. "
        "Front-k is made for weights that look for the last sentence of an answer, which these "
        "were not trained to do."
    )
    panel = Panel(
        f"Evidence found in {BUDGETS[1]:,} characters",
        "sentences that come with a hit",
        "% of the evidence's characters",
        tuple(map(str, EXTRA)),
        tuple(
            Series(way, tuple(tally.mean((way, str(extra)), metrics[1]) for extra in EXTRA))
            for way in WAYS
        ),
    )
    columns = (
        "returned",
        *(f"found in {budget:,}" for budget in BUDGETS),
        f"against hits alone, {BUDGETS[1]:,}",
        f"surround less front, {BUDGETS[1]:,}",
    )
    return Outcome(columns, rows, note, (panel,))


FRONT_SURROUND = Experiment(
    "front-surround",
    "Should a hit come with the sentences in front of it, or with those on both sides?",
    USUAL,
    _measure,
)
