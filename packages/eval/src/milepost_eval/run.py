"""One system on one task in one setting → a record."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from milepost import __version__
from milepost.errors import InputError
from milepost.types import Document
from milepost_eval import provenance
from milepost_eval.metrics import (
    BUDGETS,
    at_budget,
    at_rank,
    of_documents,
    of_sentences,
    touches,
)
from milepost_eval.probabilities import Said, of_probabilities
from milepost_eval.records import PerQuestion, Record
from milepost_eval.statistics import interval
from milepost_eval.types import Place, Question, Ranking, Setting, System, Task
from milepost_eval.vectors import Vectors

_BLOCK = 64
"""Questions asked at a time: enough for models to batch, few enough for scores to fit."""

_UNITS, _DOCUMENTS = 10, 100
"""Places and documents of a ranking that the metrics look at."""
_ALL = 1 << 40
"""More places than any ranking has."""


def evaluate(
    system: System,
    task: Task,
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    left_out: int = 0,
    vectors: Vectors | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Record:
    """Ask a system all questions of a task.

    Args:
        system: what is measured.
        task: what is asked.
        setting: what each question's document is searched with.
        budgets: characters, for the metrics of ``AT_BUDGET``.
        left_out: questions of the whole task that ``task`` does not have, for the record.
        vectors: where the system keeps vectors, to tell whether they were there before.
        progress: called with questions asked and questions in all.

    Raises:
        InputError: the task cannot be asked in this setting.
    """
    if not task.has(setting):
        raise InputError(
            f"task {task.name} has no spans, so there is no evidence to find in a given document"
            if setting == "document"
            else f"task {task.name} cannot be asked among {setting} documents",
            "--setting collection",
        )
    kept_before = vectors.kept if vectors is not None else 0
    asked = ask(system, task, setting, budgets=budgets, progress=progress)
    per_question = _per_question(task, asked)
    return Record(
        system=system.name,
        fingerprint=system.fingerprint,
        task=task.name,
        setting=f"{setting} documents" if isinstance(setting, int) else setting,
        split=task.split,
        documents=len(task.documents),
        questions=len(asked.questions),
        left_out=left_out,
        metrics={name: fmean(per_question.known(name)[0]) for name in per_question.figures},
        intervals={name: interval(*per_question.known(name))[1:] for name in per_question.figures},
        open_seconds=asked.open_seconds,
        search_seconds=asked.search_seconds,
        tokens=asked.tokens,
        cached=vectors is not None and vectors.kept > kept_before,
        date=provenance.today(),
        version=__version__,
        commit=provenance.commit(),
        machine=provenance.machine(),
        per_question=per_question,
    )


@dataclass(slots=True)
class Asked:
    """What came of asking; ``figures`` has each question's figures by metric, in order.

    ``said`` has what the system said of each question, if it gives probabilities.
    """

    questions: list[Question] = field(default_factory=list)
    figures: list[dict[str, float]] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    tokens: int = 0
    open_seconds: float = 0.0
    search_seconds: float = 0.0


def ask(
    system: System,
    task: Task,
    setting: Setting,
    *,
    budgets: Sequence[int] = BUDGETS,
    progress: Callable[[int, int], None] | None = None,
) -> Asked:
    """Every question's figures; see ``evaluate`` for the arguments.

    The time of a search holds the time to measure what came back, which is small.
    """
    if len({bool(question.spans) for question in task.questions if not question.absent}) > 1:
        raise InputError(
            f"task {task.name} has questions with spans and questions without", "two tasks"
        )
    asked = Asked()
    if progress is not None:
        progress(0, len(task.questions))  # reading a collection may take minutes
    for documents, questions in opened_together(task, setting):
        begun = time.perf_counter()
        opened = system.open(documents)
        asked.open_seconds += time.perf_counter() - begun
        asked.tokens += opened.tokens
        for at in range(0, len(questions), _BLOCK):
            block = questions[at : at + _BLOCK]
            begun = time.perf_counter()
            rankings = opened.search([question.text for question in block])
            for question, ranking in zip(block, rankings, strict=True):
                asked.figures.append(_figures(question, ranking, setting, budgets))
                if (said := _said(question, ranking)) is not None:
                    asked.said.append(said)
            asked.search_seconds += time.perf_counter() - begun
            asked.questions += block
            if progress is not None:
                progress(len(asked.questions), len(task.questions))
    if len(asked.said) == len(asked.questions):
        for name, values in of_probabilities(asked.said).items():
            for figures, value in zip(asked.figures, values.tolist(), strict=True):
                figures[name] = value
    return asked


def opened_together(
    task: Task, setting: Setting
) -> Iterator[tuple[Sequence[Document], Sequence[Question]]]:
    """The documents that a system opens at once, and the questions that it is then asked.

    As many documents each time: the last ones are searched with some of those before them.
    """
    of_name = {"document": 1, "collection": len(task.documents)}
    size = setting if isinstance(setting, int) else of_name[setting]
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in task.questions:
        asked[question.document].append(question)
    for at in range(0, len(task.documents), size):
        own = task.documents[at : at + size]
        questions = [question for document in own for question in asked[document.name]]
        if questions:
            first = min(at, len(task.documents) - size)
            yield task.documents[first : first + size], questions


def _figures(
    question: Question, ranking: Ranking, setting: Setting, budgets: Sequence[int]
) -> dict[str, float]:
    found: dict[str, float] = {}
    if question.spans:
        for budget in budgets:
            places = ranking.spend(budget)
            for name, value in at_budget(places, question, budget).items():
                found[f"{name}@{budget}"] = value
        found |= at_rank(ranking.best(_UNITS), question)
        order = ranking.best(_ALL) if question.twins else ()
        found |= of_sentences(ranking.strongest(), order, question)
    if setting != "document" and not question.absent:
        found |= of_documents(ranking.documents(_DOCUMENTS), question.relevant)
    return found


def _said(question: Question, ranking: Ranking) -> Said | None:
    """What a system with probabilities said; None of others, and where no evidence is marked."""
    if not question.spans and not question.absent:
        return None
    shown = ranking.shown
    if shown is None:
        return None
    places = [Place(p.document, p.start, p.end, p.score) for p in shown.passages]
    passages = ((place.score, touches(place, question, question.spans)) for place in places)
    return Said(shown.answerable, tuple(passages), question.absent)


def _per_question(task: Task, asked: Asked) -> PerQuestion:
    questions = asked.questions
    names = list(dict.fromkeys(name for figures in asked.figures for name in figures))
    lengths = {document.name: len(document.text) for document in task.documents}
    return PerQuestion(
        names=tuple(question.name for question in questions),
        documents=tuple(question.document for question in questions),
        kinds=tuple(question.kind for question in questions),
        positions=tuple(
            question.spans[0][0] / max(1, lengths[question.document]) if question.spans else 0.0
            for question in questions
        ),
        lengths=tuple(lengths[question.document] for question in questions),
        figures={name: tuple(each.get(name) for each in asked.figures) for name in names},
    )
