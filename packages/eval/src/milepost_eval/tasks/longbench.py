"""LongBench as a task with marked evidence: answers that occur once in their context.

A file (Bai et al. 2024, github.com/THUDM/LongBench, ``data/NAME.jsonl``) has a line a question:
``input``, ``context``, ``answers`` (any of which is right), ``_id``. Answers have no offsets. One
is taken as evidence if it occurs exactly once in its context, not inside another word; most
occurrences of a frequent one ("2", "Paris") are not evidence. All of it is ``test``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.tasks.reading import Line, Named, lines, need_questions, question_text
from milepost_eval.types import Question, Split, Task


def read_longbench(source: Path, split: Split) -> Task:
    """Questions with an answer that occurs once; the others are counted in ``notes``.

    Args:
        source: a file of LongBench, or a folder with one.
        split: ``test``.

    Raises:
        UnreadableFile: the file is missing.
        InputError: a line that cannot be used, several files, or another split.
    """
    if split != "test":
        raise InputError(f"{source}: LongBench has test questions only", "--split test")
    path = _one(source)
    documents: dict[str, Document] = {}
    questions: list[Question] = []
    counts: Counter[str] = Counter()
    names = Named("question")
    first: dict[bytes, str] = {}
    for line in lines(path):
        name = line.name("_id")
        names.add(name, line)
        context, answers = line.text("context"), _strings(line)
        digest = hashlib.sha256(context.encode("utf-8", "surrogatepass")).digest()
        document = first.setdefault(digest, name)  # questions may share a context
        if not line.text("input").strip():  # summaries are asked without words
            counts["without words"] += 1
            continue
        asked = question_text(line, "input")
        spans, why = _answers(answers, context)
        if not spans:
            counts[why] += 1
            continue
        documents.setdefault(document, Document(name=document, text=context))
        questions.append(Question(name, asked, document, spans, {document: 1}))
    need_questions(questions, split, path)
    return Task(
        name=f"longbench:{path.name.partition('.')[0]}",
        split=split,
        documents=tuple(documents.values()),
        questions=tuple(questions),
        notes=tuple(f"{count} questions {why} are left out" for why, count in counts.items()),
    )


def _one(source: Path) -> Path:
    if not source.is_dir():
        return source
    found = sorted(source.glob("*.jsonl")) or sorted((source / "data").glob("*.jsonl"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found[:6]) or "none"
        raise InputError(
            f"{source} has {len(found)} files of questions ({names})",
            "name one: longbench:FOLDER/NAME.jsonl",
        )
    return found[0]


def _strings(line: Line) -> tuple[str, ...]:
    answers = line.fields.get("answers")
    if not isinstance(answers, list) or not all(isinstance(each, str) for each in answers):
        raise line.wrong("'answers' is not a list of strings", "download the file again")
    return tuple(answers)


def _answers(answers: Iterable[str], text: str) -> tuple[tuple[Span, ...], str]:
    """Spans of the answers that occur once; else why there is none."""
    found: list[Span] = []
    often = False
    for answer in {answer.strip() for answer in answers} - {""}:
        places = _places(answer, text)
        often |= len(places) > 1
        if len(places) == 1:
            found += places
    why = "whose answers occur more than once" if often else "whose answers are not in the text"
    return _joined(found), why


def _places(answer: str, text: str) -> list[Span]:
    """At most two positions of the answer, not inside a word."""
    places: list[Span] = []
    at = text.find(answer)
    while at >= 0 and len(places) < 2:
        end = at + len(answer)
        left, right = text[max(0, at - 1) : at], text[end : end + 1]
        if not (_one_word(left + answer[0]) or _one_word(answer[-1] + right)):
            places.append((at, end))
        at = text.find(answer, at + 1)
    return places


def _one_word(pair: str) -> bool:
    """Whether two characters side by side belong to one word, as digits and letters with case do.

    Letters without case (Chinese, Thai) are side by side in several words.
    """
    return len(pair) == 2 and all(each.isdigit() or each.lower() != each.upper() for each in pair)


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Ascending; answers that overlap ("Paris", "Paris, France") are one piece of evidence."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)
