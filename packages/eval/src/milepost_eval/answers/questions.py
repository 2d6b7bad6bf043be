"""Files in LongBench's format to questions with their contexts and reference answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.tasks import take
from milepost_eval.tasks.longbench_rows import Row, rows
from milepost_eval.types import Question, Task

_OTHERWISE = frozenset(
    """
    dureader gov_report qmsum multi_news vcsum trec samsum lsht passage_count passage_retrieval_en
    passage_retrieval_zh lcc repobench-p
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Data sets of LongBench that it measures by something else than F1, such as ROUGE or accuracy."""


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions of one file.

    Attributes:
        task: contexts as documents, questions without spans; it is named after the file.
        references: question → its answers, any of which is right.
        left_out: questions of the file that are not asked.
    """

    task: Task
    references: Mapping[str, tuple[str, ...]]
    left_out: int


def read_exams(paths: Sequence[Path], questions: int | None = None) -> list[Exam]:
    """One exam per file, in order.

    Args:
        paths: files of JSON lines, gzipped or not.
        questions: maximum per file, spread over its contexts; None for all.

    Raises:
        UnreadableFile: a file is missing or damaged.
        InputError: a line that cannot be used (its number is given), a file without a question, or
            two files of one name, which results could not tell apart.
    """
    exams = [_read(path, questions) for path in paths]
    for name, count in Counter(exam.task.name for exam in exams).items():
        if count > 1:
            raise InputError(
                f"{count} of the files are named {name!r}", "another file name, or each file once"
            )
    return exams


def _read(path: Path, most: int | None) -> Exam:
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    references: dict[str, tuple[str, ...]] = {}
    otherwise: set[str] = set()
    for row in rows(path):
        _check(row)
        documents.setdefault(row.document, Document(name=row.document, text=row.context))
        questions.append(Question(row.name, row.question, row.document, (), {row.document: 1}))
        references[row.name] = row.answers
        otherwise |= {row.dataset.removesuffix("_e")} & _OTHERWISE
    if not questions:
        raise InputError(f"{path} has no questions", "a file of LongBench such as qasper.jsonl")
    whole = Task(
        name=path.name.partition(".")[0],
        split="test",
        documents=tuple(documents.values()),
        questions=tuple(questions),
        settings=("document",),
        notes=tuple(
            f"LongBench measures {dataset} by something else than F1"
            for dataset in sorted(otherwise)
        ),
    )
    task = take(whole, most)
    return Exam(task, references, len(whole.questions) - len(task.questions))


def _check(row: Row) -> None:
    """Refuse what cannot be asked or scored."""
    if not row.question:
        raise row.line.wrong(
            "'input' is empty", "a file of questions such as qasper.jsonl, not of summaries"
        )
    if not row.context.strip():
        raise row.line.wrong("'context' is empty", "the file without this line")
    if not any(answer.strip() for answer in row.answers):
        raise row.line.wrong("'answers' has no answer", "the file without this line")
