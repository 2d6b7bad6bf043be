"""Experiments on scattered evidence, evidence that does not name its subject, and its position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from milepost.encoder import Encoder
from milepost.text import split
from milepost.types import Document
from milepost_eval.embedders import LandmarkEmbedder
from milepost_eval.metrics import BUDGETS
from milepost_eval.report.outcome import Cell, Outcome, Panel, Series, in_words
from milepost_eval.report.tally import Tally
from milepost_eval.run import evaluate
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.landmark import Landmarks, Milepost
from milepost_eval.systems.lexical import Bm25
from milepost_eval.types import Question, System, Task
from milepost_eval.vectors import Vectors
from milepost_lab.landmark.experiment import USUAL, Experiment
from milepost_lab.landmark.reading import Reader, asked

SEARCH, LANDMARKS, ALONE, WORDS = "landmark", "landmark-only", "sentence@landmark", "bm25"
"""Named as in ``milepost eval run --systems``."""

ONE, SEVERAL = "one place", "several places"
CONTEXT = "context"
FIFTHS = ("first fifth", "second", "third", "fourth", "last fifth")

_RECALLS = tuple(f"recall@{budget}" for budget in BUDGETS)
_ALLS = tuple(f"all@{budget}" for budget in BUDGETS)
_MIDDLE = BUDGETS[1]

Group = Callable[[Question, float], str]
"""Maps a question and the position of its evidence to the group it is counted in."""


def places(document: Document, question: Question) -> int:
    """Count the runs of sentences that hold evidence: 1 if it is consecutive."""
    touched = [
        any(start < stop and begin < end for begin, stop in question.spans)
        for start, end in split(document.text, document.blocks)
    ]
    return sum(now and not before for before, now in zip([False, *touched], touched, strict=False))


def fifth(position: float) -> str:
    """The part of a document that contains a position (0–1).

    >>> fifth(0.0), fifth(0.2), fifth(1.0)
    ('first fifth', 'second', 'last fifth')
    """
    return FIFTHS[min(4, int(5 * position))]


def _systems(encoder: Encoder, vectors: Vectors, names: Sequence[str]) -> Iterator[System]:
    reader = Reader.like(encoder, vectors)
    for name in names:
        if name == SEARCH:
            yield Milepost(name, reader, rerank=False)
        elif name == LANDMARKS:
            yield Landmarks(name, reader)
        elif name == ALONE:
            yield Dense(name, LandmarkEmbedder(reader), split, vectors)
        else:
            yield Bm25(name, split)


def _asked(
    encoder: Encoder,
    tasks: Sequence[Task],
    vectors: Vectors,
    names: Sequence[str],
    group: Group,
) -> Tally:
    """Evaluate every system; figures by system, group and task, and by system and group."""
    tally = Tally()
    for task in tasks:
        questions = {question.name: question for question in task.questions}
        for system in _systems(encoder, vectors, names):
            per = evaluate(system, task, "document").per_question
            for at, name in enumerate(per.names):
                found = {metric: per.figures[metric][at] for metric in per.figures}
                figures = {metric: one for metric, one in found.items() if one is not None}
                held = group(questions[name], per.positions[at])
                for key in ((system.name, held), (system.name, held, task.name)):
                    tally.add(key, task.name, per.documents[at], figures)
    return tally


def _scattered(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    names = (SEARCH, LANDMARKS, WORDS)
    runs = {
        (document.name, question.name): places(document, question)
        for task in tasks
        for document, questions in asked(task)
        for question in questions
    }
    tally = _asked(
        encoder,
        tasks,
        vectors,
        names,
        lambda question, _: SEVERAL if runs[question.document, question.name] > 1 else ONE,
    )
    rows = tuple(
        (
            task.name,
            held,
            name,
            tally.count((name, held, task.name), _RECALLS[0]),
            *(tally.mean((name, held, task.name), metric) for metric in (*_RECALLS, *_ALLS)),
        )
        for task in tasks
        for held in (ONE, SEVERAL)
        for name in names
        if tally.count((name, held, task.name), _RECALLS[0])
    )
    both = [
        task.name
        for task in tasks
        if all(tally.count((SEARCH, held, task.name), _ALLS[1]) for held in (ONE, SEVERAL))
    ]
    note = (
        f"Questions whose evidence came back whole in {_MIDDLE:,} characters, in one place and in "
        "several: "
        + "; ".join(
            f"{task}, {name} {_shown(tally, (name, ONE, task), _ALLS[1])} and "
            f"{_shown(tally, (name, SEVERAL, task), _ALLS[1])}"
            for task in both
            for name in names
        )
        + ". One place is a run of sentences side by side. In squad_articles and trials several "
        "spans are the answers of several annotators, each enough by itself; the type scattered "
        "of written asks for all of them."
    )
    panels = tuple(
        Panel(
            f"All evidence within {_MIDDLE:,} characters, {held}",
            "task",
            "% of questions",
            tuple(both),
            tuple(
                Series(name, tuple(tally.mean((name, held, task), _ALLS[1]) for task in both))
                for name in names
            ),
            ordered=False,
        )
        for held in (ONE, SEVERAL)
    )
    columns = (
        "task",
        "evidence",
        "system",
        "questions",
        *(f"found in {budget:,}" for budget in BUDGETS),
        *(f"all in {budget:,}" for budget in BUDGETS),
    )
    return Outcome(columns, rows, note, panels)


def _context(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    names = (SEARCH, LANDMARKS, ALONE, WORDS)
    tally = _asked(encoder, tasks, vectors, names, lambda question, _: question.kind or "no type")
    found = sorted({question.kind or "no type" for task in tasks for question in task.questions})
    kinds = [CONTEXT] * (CONTEXT in found) + [kind for kind in found if kind != CONTEXT]
    metrics = (*_RECALLS, "mrr@10")
    less_alone = {
        name: tally.gains(
            {kind: (((name, kind), _RECALLS[1]), ((ALONE, kind), _RECALLS[1])) for kind in kinds}
        )
        for name in names
    }
    rows = tuple(
        (
            kind,
            name,
            tally.count((name, kind), _RECALLS[0]),
            *(tally.mean((name, kind), metric) for metric in metrics),
            None if name == ALONE else less_alone[name][kind],
        )
        for kind in kinds
        for name in names
        if tally.count((name, kind), _RECALLS[0])
    )
    gains = [
        f"on {kind} questions reading a sentence in its document rather than alone "
        + in_words(less_alone[LANDMARKS][kind])
        for kind in kinds
    ]
    note = (
        f"The same weights, evidence found in {_MIDDLE:,} characters: {'; '.join(gains)}. A "
        "context question's evidence does not name its subject, which is named in the sentences "
        f"before it. {ALONE} is each sentence encoded without its document; the weights were "
        "trained to read with context, so a model made for single sentences may do better at that."
    )
    panels = tuple(
        Panel(
            title,
            "type of question",
            "%",
            tuple(kinds),
            tuple(
                Series(name, tuple(tally.mean((name, kind), metric) for kind in kinds))
                for name in names
            ),
            ordered=False,
        )
        for title, metric in (
            (f"Evidence found in {_MIDDLE:,} characters", _RECALLS[1]),
            ("Reciprocal rank among ten sentences", "mrr@10"),
        )
    )
    columns = (
        "type",
        "system",
        "questions",
        *(f"found in {budget:,}" for budget in BUDGETS),
        "mrr@10",
        f"against {ALONE}, {_MIDDLE:,}",
    )
    return Outcome(columns, rows, note, panels)


def _position(encoder: Encoder, tasks: Sequence[Task], vectors: Vectors) -> Outcome:
    names = (SEARCH, LANDMARKS, WORDS)
    tally = _asked(encoder, tasks, vectors, names, lambda _, position: fifth(position))
    rows: list[tuple[Cell, ...]] = []
    for held in FIFTHS:
        rows += [
            (
                held,
                name,
                tally.count((name, held), _RECALLS[0]),
                *(tally.mean((name, held), metric) for metric in (*_RECALLS, "mrr@10")),
            )
            for name in names
            if tally.count((name, held), _RECALLS[0])
        ]
    note = (
        f"Evidence found in {_MIDDLE:,} characters, first fifth and last: "
        + "; ".join(
            f"{name} {_shown(tally, (name, FIFTHS[0]), _RECALLS[1])} and "
            f"{_shown(tally, (name, FIFTHS[-1]), _RECALLS[1])}"
            for name in names
        )
        + ". Other fifths have other questions (an abstract is asked about differently), so a "
        "slope that all systems share says something of the questions; one that BM25 does not "
        "share, of the vectors."
    )
    panel = Panel(
        f"Evidence found in {_MIDDLE:,} characters",
        "where the evidence begins in its document",
        "% of the evidence's characters",
        FIFTHS,
        tuple(
            Series(name, tuple(tally.mean((name, held), _RECALLS[1]) for held in FIFTHS))
            for name in names
        ),
    )
    columns = (
        "evidence in",
        "system",
        "questions",
        *(f"found in {budget:,}" for budget in BUDGETS),
        "mrr@10",
    )
    return Outcome(columns, tuple(rows), note, (panel,))


def _shown(tally: Tally, key: tuple[str, ...], metric: str) -> str:
    figure = tally.mean(key, metric)
    return f"{figure} %" if figure else "nothing measured"


SCATTERED = Experiment(
    "scattered",
    "Does evidence in several places come back as well as evidence in one?",
    ("written", "squad_articles", "trials", "policies"),
    _scattered,
)
CONTEXT_EXPERIMENT = Experiment(
    "context",
    "Is evidence found whose sentence does not name its subject?",
    ("written",),
    _context,
)
POSITION = Experiment(
    "position",
    "Is evidence found as well at the end of a document as at its beginning?",
    USUAL,
    _position,
)
