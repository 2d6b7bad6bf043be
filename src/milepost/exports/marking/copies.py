"""From questions to a copy of a PDF in which what answers them is highlighted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from milepost._paths import expanded
from milepost._typed import typed
from milepost.documents import SUFFIXES, stored_bytes
from milepost.errors import InputError
from milepost.exports.marking.highlights import Highlight, count_highlights, highlighted, is_signed
from milepost.exports.marking.update import minimal_update
from milepost.exports.writing import check_new, check_suffix, write_bytes
from milepost.index import Index
from milepost.objects import is_address
from milepost.types import Document, Passage, Span, nearly_best
from milepost.wording import PROBABLE, in_words, nothing_reaches

COLOURS = ((255, 221, 64), (140, 224, 128), (128, 200, 255), (255, 168, 200), (255, 184, 112))
"""Yellow, green, blue, pink, orange: one for each question, in turn."""


@dataclass(frozen=True, slots=True)
class AnnotatedPdf:
    """What ``annotate`` did.

    Attributes:
        path: the file that was written; None where nothing was found.
        passages: for each question what was found, best first.
        highlights: how many were added: one for each passage on each of its pages.
        notes: for users: those of the document (pages without text, for example), and why a
            question has no passage.
    """

    path: Path | None
    passages: Mapping[str, tuple[Passage, ...]]
    highlights: int
    notes: tuple[str, ...] = ()


@typed
def annotate(
    index: Index,
    document: str | os.PathLike[str],
    questions: str | Iterable[str],
    out: str | os.PathLike[str] | None = None,
    *,
    k: int | None = None,
    min_score: float = PROBABLE,
    rerank: bool = True,
    overwrite: bool = False,
) -> AnnotatedPdf:
    """Write a copy of an indexed PDF with the answers to questions highlighted.

    The copy begins with the bytes of the file; highlights are added behind them. In each passage
    the sentences that score nearly as well as its best one are highlighted, with a comment that
    has the question and the probability. On a page whose text was recognised (``Index.add(…,
    ocr="auto")``) they cover the lines of the picture.

    Args:
        index: holds the PDF as it is now.
        document: its name in the index, or its path.
        questions: one or several.
        out: the file to write; None for ``NAME.marked.pdf`` beside the PDF.
        k: maximum number of passages a question; None for 5.
        min_score: see ``Index.search``. Models that were not calibrated give no probabilities; set
            0 for them.
        rerank: see ``Index.search``.
        overwrite: replace ``out`` if it exists, be it the PDF itself.

    Raises:
        InputError: the document is not a PDF file, has changed since it was indexed, does not
            allow comments or is damaged; or ``out`` exists or cannot be written.
        BadQuestion: a question is empty, or there is none.
    """
    asked = [questions] if isinstance(questions, str) else list(questions)
    if not asked:
        raise InputError("there is no question", 'annotate(index, "report.pdf", ["who signed?"])')
    stored = index.document(document)
    source = Path(stored.source or "")
    target = check_copy(stored.source or "", stored.name, out, overwrite=overwrite)
    data = stored_bytes(stored)
    notes = stored.notes
    found: dict[str, tuple[Passage, ...]] = {}
    highlights: list[Highlight] = []
    for number, question in enumerate(dict.fromkeys(asked)):
        result = index.search_detailed(
            question, k, documents=[stored.name], rerank=rerank, min_score=min_score
        )
        found[question] = result.passages
        if not result.passages:
            why = result.notes[:1]
            if result.best_score > 0.0:
                why = (nothing_reaches(min_score, result.best_score, result.answerable),)
            notes += tuple(f"{' '.join(question.split())}: {each}" for each in why)
        colour = COLOURS[number % len(COLOURS)]
        for passage in result.passages:
            highlights += _highlights(stored, passage, comment(question, passage.score), colour)
    if not highlights:
        return AnnotatedPdf(None, found, 0, notes)
    if is_signed(data, stored.name):
        said = f"{source.name} is signed: viewers may show that the copy was changed afterwards"
        notes = (*notes, said)
    saved = highlighted(data, stored.name, highlights)
    made = minimal_update(data, saved, len(highlights), stored.name)
    before = count_highlights(data, stored.name)
    if count_highlights(made, stored.name) != before + len(highlights):
        raise InputError(f"{stored.name} takes no highlights", "save a new copy, e.g. qpdf IN OUT")
    write_bytes(target, made)
    return AnnotatedPdf(target, found, len(highlights), notes)


def comment(question: str, score: float) -> str:
    """The comment of a highlight: the question, and the probability in words.

    >>> print(comment("Who signed?", 0.874))
    Who signed?
    very likely, 87% (Milepost)
    """
    return f"{' '.join(question.split())}\n{in_words(score)} (Milepost)"


def check_copy(
    source: str, name: str, out: str | os.PathLike[str] | None, *, overwrite: bool
) -> Path:
    """The file to write; refuses what is no PDF or could not be written, before it is read."""
    file = Path(source)
    if SUFFIXES.get(file.suffix.lower()) != "pdf":
        raise InputError(f"{name} is not a PDF file", "a PDF; only they have pages to mark")
    marked = file.with_suffix(".marked.pdf")
    if out is None and is_address(source):
        raise InputError(f"{source} is in object storage", f"a file to write: {marked.name}")
    target = marked if out is None else expanded(out)
    if not target.exists() or target.is_file():
        check_suffix(target, (".pdf",), "a PDF")
    if not overwrite and file.exists() and target.exists() and target.samefile(file):
        raise InputError(f"{target} is the PDF itself", "another file, or --overwrite")
    check_new(target, marked.name, overwrite=overwrite)
    return target


def _highlights(
    document: Document, passage: Passage, text: str, colour: tuple[int, int, int]
) -> Iterator[Highlight]:
    boxes = [box for span in _strong(passage) for box in document.boxes(*span)]
    for _, group in groupby(sorted(boxes, key=lambda box: box.page), lambda box: box.page):
        yield Highlight(tuple(group), text, colour)


def _strong(passage: Passage) -> list[Span]:
    """The spans of the sentences that score nearly as well as the best one, neighbours joined."""
    spans: list[Span] = []
    for hit in sorted(nearly_best(passage.hits), key=lambda hit: hit.start):
        if spans and spans[-1][1] == hit.start:
            spans[-1] = (spans[-1][0], hit.end)
        else:
            spans.append((hit.start, hit.end))
    return spans
