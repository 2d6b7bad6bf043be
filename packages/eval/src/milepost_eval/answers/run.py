"""Questions, systems and budgets → answers with their F1."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from milepost import __version__
from milepost.errors import MilepostError
from milepost.types import Document
from milepost_eval.answers.asking import Asker
from milepost_eval.answers.contexts import ContextSource
from milepost_eval.answers.f1 import f1
from milepost_eval.answers.prompt import messages
from milepost_eval.answers.questions import Exam
from milepost_eval.run import opened_together
from milepost_eval.types import Question

SCHEMA = "milepost-answers/1"

Progress = Callable[[str, int, int], object]
"""Called with the name of a file, the questions done and in all."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer.

    Attributes:
        task: the file's name without its ending.
        question: its name.
        document: name of the context; questions of one context are not independent.
        system: what gave the context, as ``--systems`` reads it.
        fingerprint: of its model or library.
        budget: tokens of context that the system could spend.
        context_tokens: tokens that it spent.
        chat_model: the language model, as the endpoint names it.
        answer: the language model's; "" where it was refused or empty, which counts 0.
        f1: with the nearest reference answer, 0–1.
        cut: the answer ended at the limit of its tokens.
        refused: why the endpoint refused this request, which counts 0; else "".
    """

    task: str
    question: str
    document: str
    system: str
    fingerprint: str
    budget: int
    context_tokens: int
    chat_model: str
    answer: str
    f1: float
    cut: bool
    refused: str


def to_line(answered: Answered) -> str:
    """An answer as one line of JSON, in ASCII."""
    fields = {**asdict(answered), "f1": round(answered.f1, 6)}
    return json.dumps({"schema": SCHEMA, "version": __version__, **fields})


def answered(
    exams: Sequence[Exam],
    sources: Sequence[ContextSource],
    budgets: Sequence[int],
    asker: Asker,
    progress: Progress = lambda *_: None,
) -> Iterator[Answered]:
    """Ask all questions with all contexts.

    A question is asked with all contexts before the next one is, so that what an interruption
    leaves can be compared.

    Args:
        exams: questions.
        sources: what gives contexts.
        budgets: in tokens, the same for all sources.
        asker: asks the language model.
        progress: called after each question.

    Raises:
        MilepostError: the endpoint fails. The error names the question; answers so far are kept.
        InputError: the cache cannot be used.
    """
    for exam in exams:
        task, done = exam.task, 0
        progress(task.name, 0, len(task.questions))
        for (document,), questions in opened_together(task, "document"):
            for question, contexts in _contexts(document, questions, sources, budgets):
                for source, budget, text, tokens in contexts:
                    try:
                        reply = asker.ask(messages(question.text, text))
                    except MilepostError as error:
                        raise _stopped(error, exam, question, source.name, budget, asker) from error
                    yield Answered(
                        task=task.name,
                        question=question.name,
                        document=document.name,
                        system=source.name,
                        fingerprint=source.fingerprint,
                        budget=budget,
                        context_tokens=tokens,
                        chat_model=asker.model,
                        answer=reply.text,
                        f1=f1(reply.text, exam.references[question.name]),
                        cut=reply.cut,
                        refused=reply.refused,
                    )
                done += 1
                progress(task.name, done, len(task.questions))


_Given = list[tuple[ContextSource, int, str, int]]
"""Contexts of one question: what gave it, the budget, its text and its tokens."""


def _contexts(
    document: Document,
    questions: Sequence[Question],
    sources: Sequence[ContextSource],
    budgets: Sequence[int],
) -> Iterator[tuple[Question, _Given]]:
    """Each question with its contexts, by budget, then by source."""
    words = [question.text for question in questions]
    columns = zip(*(source.contexts(document, words, budgets) for source in sources), strict=True)
    for question, column in zip(questions, columns, strict=True):
        yield (
            question,
            [
                (source, budget, given[number].text, given[number].tokens)
                for number, budget in enumerate(budgets)
                for source, given in zip(sources, column, strict=True)
            ],
        )


def _stopped(
    error: MilepostError, exam: Exam, question: Question, system: str, budget: int, asker: Asker
) -> MilepostError:
    """The error with the question that was being asked, and what is kept."""
    hint = error.hint
    if "--" not in hint:  # with another option other answers may be asked for
        first = hint.removesuffix("the same command again").removesuffix("; then ")
        hint = f"{first}; then the same command again, which continues from here"
    return MilepostError(
        f"{exam.task.name}, question {question.name} ({system}, {budget} tokens): {error.problem}; "
        f"{asker.answers:,} answers are kept",
        hint,
    )
