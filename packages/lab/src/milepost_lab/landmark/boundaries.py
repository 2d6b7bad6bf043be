"""Experiment on whether a sentence near the edge of its window loses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from milepost.encoder import Encoder
from milepost_eval.report.outcome import Outcome, Panel, Series, in_words
from milepost_eval.report.tally import Tally
from milepost_eval.types import Question, Task
from milepost_eval.vectors import Vectors
from milepost_lab.landmark.experiment import USUAL, Experiment
from milepost_lab.landmark.reading import Reader, Reading, asked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BINS = (0, 1, 16, 32, 64, 128)
"""Lower ends of the bins, in tokens."""

LABELS = ("0", "1–15", "16–31", "32–63", "64–127", "128+")
_AMID = 0.3
"""Share of a window that is halo on each side for sentences in the middle of text."""


def distances(reading: Reading) -> list[int | None]:
    """Tokens between each unit and the nearest edge of the window that owns it, halo included.

    The beginning and the end of the text are not edges, since nothing is missing there. None for a
    unit whose window has no edge.
    """
    costs, count = reading.costs, len(reading.costs)
    found: list[int | None] = []
    for window in reading.windows:
        for number in range(window.own_first, window.own_last):
            sides = []
            if window.first > 0:
                sides.append(sum(costs[window.first : number]))
            if window.last < count:
                sides.append(sum(costs[number + 1 : window.last]))
            found.append(min(sides, default=None))
    return found


def label(distance: int) -> str:
    """The label of a distance's bin.

    >>> label(0), label(15), label(500)
    ('0', '1–15', '128+')
    """
    return LABELS[bisect_right(BINS, distance) - 1]


def ranks(scores: NDArray[np.float32], evidence: Sequence[int]) -> list[int]:
    """Rank of each evidence unit among the units that are not evidence, from 1.

    Evidence loses nothing by ranking behind other evidence.
    """
    import numpy as np

    others = np.delete(scores, list(evidence))
    return [1 + int((others > scores[number]).sum()) for number in evidence]


def _measure(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    size = encoder.manifest.window
    aside = int(_AMID * size)
    amid = Reader.like(encoder, vectors, (size, aside, aside))
    shipped = (size, encoder.manifest.left, encoder.manifest.right)
    # The model's own sizes first; for a model that ships without a halo both are the same.
    sizes = dict.fromkeys([shipped, (size, 0, 0)])
    readers = {"/".join(map(str, each)): Reader.like(encoder, vectors, each) for each in sizes}
    tally = Tally()
    for task in tasks:
        for document, questions in asked(task):
            middle = amid.read(document)
            queries = amid.ask(questions)
            for name, reader in readers.items():
                reading = reader.read(document)
                _document(tally, name, task.name, reading, middle, questions, queries)
    return _outcome(tally, list(readers))


def _document(
    tally: Tally,
    name: str,
    task: str,
    reading: Reading,
    middle: Reading,
    questions: Sequence[Question],
    queries: NDArray[np.float32],
) -> None:
    """Tally every sentence's cosine and every evidence sentence's ranks."""
    document = reading.units.documents[0].name
    bins = [None if far is None else label(far) for far in distances(reading)]
    alike = (reading.vectors * middle.vectors).sum(axis=1).tolist()
    for held, cosine in zip(bins, alike, strict=True):
        if held is not None:
            tally.add((name, held), task, document, {"cosine": cosine})
    for question, query in zip(questions, queries, strict=True):
        evidence = reading.evidence(question)
        here = ranks(reading.vectors @ query, evidence)
        there = ranks(middle.vectors @ query, evidence)
        for number, rank, other in zip(evidence, here, there, strict=True):
            held = bins[number]
            if held is not None:
                figures = {"rank": 1.0 / rank, "amid": 1.0 / other, "hit": float(rank <= 5)}
                tally.add((name, held), task, document, figures)


def _outcome(tally: Tally, names: Sequence[str]) -> Outcome:
    losses = {
        name: tally.gains(
            {held: (((name, held), "rank"), ((name, held), "amid")) for held in LABELS}
        )
        for name in names
    }
    rows = tuple(
        (
            name,
            held,
            tally.count((name, held), "rank"),
            tally.mean((name, held), "rank"),
            tally.mean((name, held), "hit"),
            losses[name][held],
            tally.mean((name, held), "cosine", "number"),
        )
        for name in names
        for held in LABELS
        if tally.count((name, held), "cosine")
    )
    at_edge = [
        f"In windows of {name} (tokens, left halo, right halo) a sentence with no token between it "
        f"and the edge {in_words(losses[name]['0'])} of "
        "reciprocal rank against the same sentence read amid text; the cosine of its two vectors "
        f"is {tally.mean((name, '0'), 'cosine', 'number') or 'not known'}."
        for name in names
    ]
    note = " ".join(
        [
            *at_edge,
            "Ranks are among the sentences of the document that are not evidence of the question, "
            "landmarks alone; the cosine is between a sentence's vector and the one it has amid "
            "text. Bins hold other sentences, so compare a bin with itself amid text rather than "
            "bins with each other; where a text begins or ends there is no edge.",
        ]
    )
    across = "tokens to the nearest edge"
    keys = {name: [(name, held) for held in LABELS] for name in names}
    lines = tuple(Series(name, tuple(losses[name][held] for held in LABELS)) for name in names)
    cosines = tuple(
        Series(name, tuple(tally.mean(key, "cosine", "number") for key in row))
        for name, row in keys.items()
    )
    up = "reciprocal rank, points"
    panels = (
        Panel("Rank of evidence, less its rank amid text", across, up, LABELS, lines),
        Panel("Likeness to the vector amid text", across, "cosine", LABELS, cosines),
    )
    columns = (
        "windows",
        "tokens to the edge",
        "evidence sentences",
        "reciprocal rank",
        "among the first 5",
        "less the rank amid text",
        "cosine to amid text",
    )
    return Outcome(columns, rows, note, panels)


BOUNDARIES = Experiment(
    "boundaries", "Does a sentence near the edge of its window lose?", USUAL, _measure
)
