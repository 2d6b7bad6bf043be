"""Context of a hit: the sentences in front of it (front-k), or on both sides (both-sides-k)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from milepost.encoder import Encoder
from milepost.types import Span
from milepost_eval.metrics import BUDGETS, evidence_found
from milepost_eval.report.outcome import Outcome, Panel, Series, in_words
from milepost_eval.report.tally import Tally
from milepost_eval.types import Task
from milepost_eval.vectors import Vectors
from milepost_lab.landmark.experiment import USUAL, Experiment
from milepost_lab.landmark.reading import Reader, asked

Way = Literal["front", "both-sides"]
WAYS: tuple[Way, ...] = ("front", "both-sides")
EXTRA = (0, 2, 4, 6)
"""Number of context sentences of a hit; even, so that both sides get the same number."""


def with_context(hit: int, extra: int, way: Way, count: int) -> list[int]:
    """A hit and its context, the hit first, then the nearest; cut at the ends of the text.

    ``k`` of ``front-k`` counts the hit in Luo et al. 2024 (arXiv 2402.11573); here it does not.

    Args:
        hit: number of a sentence.
        extra: number of context sentences.
        way: all in front of the hit, or half on each side.
        count: number of sentences of the document.

    >>> with_context(4, 2, "front", 10), with_context(4, 2, "both-sides", 10)
    ([4, 3, 2], [4, 3, 5])
    """
    if way == "front":
        near = [hit - step for step in range(1, extra + 1)]
    else:
        near = [beside for step in range(1, extra // 2 + 1) for beside in (hit - step, hit + step)]
    return [hit, *(number for number in near if 0 <= number < count)]


def spent(order: Sequence[int], spans: Sequence[Span], extra: int, way: Way) -> Iterator[Span]:
    """Yield sentences in the order returned: hits best first, each with its context, none twice."""
    seen: set[int] = set()
    for hit in order:
        for number in with_context(hit, extra, way, len(spans)):
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
                for extra in EXTRA:
                    for way in _ways(extra):
                        figures = {
                            f"recall@{budget}": evidence_found(
                                spent(order, spans, extra, way), question.spans, budget
                            )
                            for budget in BUDGETS
                        }
                        tally.add((way, str(extra)), task.name, document.name, figures)
    return _outcome(tally)


def _ways(extra: int) -> Sequence[Way]:
    """The ways to measure; without context both are the same."""
    return WAYS if extra else WAYS[:1]


def _outcome(tally: Tally) -> Outcome:
    metrics = [f"recall@{budget}" for budget in BUDGETS]
    alone = (WAYS[0], "0")
    pairs = [(way, str(extra)) for extra in EXTRA for way in _ways(extra)]
    sides = tally.gains(
        {
            extra: ((("both-sides", extra), metrics[1]), (("front", extra), metrics[1]))
            for extra in map(str, EXTRA[1:])
        }
    )
    rows = tuple(
        (
            "hits alone" if extra == "0" else f"{way}-{extra}",
            *(tally.mean((way, extra), metric) for metric in metrics),
            None if extra == "0" else tally.gain(((way, extra), metrics[1]), (alone, metrics[1])),
            None if way == "front" else sides[extra],
        )
        for way, extra in pairs
    )
    said = [
        f"with {extra} sentences each, both sides rather than front {in_words(gain)}"
        for extra, gain in sides.items()
    ]
    fewest = str(EXTRA[1])
    gained = tally.gain((("both-sides", fewest), metrics[1]), (alone, metrics[1]))
    note = (
        f"At {BUDGETS[1]:,} characters, landmarks alone: {'; '.join(said)}. Against hits alone, "
        f"both-sides-{fewest} {in_words(gained)}: a neighbour takes the place of the next best "
        "hit. Front-k was designed for weights trained to find the last sentence of an answer; "
        "these were not."
    )
    panel = Panel(
        f"Evidence found in {BUDGETS[1]:,} characters",
        "context sentences of a hit",
        "% of the evidence's characters",
        tuple(map(str, EXTRA)),
        tuple(
            Series(
                way,
                tuple(
                    tally.mean((way, str(extra)) if extra else alone, metrics[1]) for extra in EXTRA
                ),
            )
            for way in WAYS
        ),
    )
    columns = (
        "returned",
        *(f"found in {budget:,}" for budget in BUDGETS),
        f"against hits alone, {BUDGETS[1]:,}",
        f"both sides less front, {BUDGETS[1]:,}",
    )
    return Outcome(columns, rows, note, (panel,))


FRONT_SURROUND = Experiment(
    "front-surround",
    "Should a hit come with the sentences in front of it, or with those on both sides?",
    USUAL,
    _measure,
)
