"""Results as JSON; the names of fields are those of Python's records."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.types import Passage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from milepost.answers import Answer
    from milepost.answers.citations import Support
    from milepost.exports.marking import AnnotatedPdf
    from milepost.search import SearchResult
    from milepost.types import Box, IndexReport
    from milepost.verdicts import CheckResult, Match

VERSION = 3  # version of the JSON output; it grows when a field changes its meaning or goes away


def shared_record(
    found: Passage | Match | Support, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Give the fields of what was found in a document, which are the same in all outputs.

    A server has ``names`` for documents: it shows ids, and no paths.
    """
    record = asdict(found)
    if isinstance(found, Passage):
        best = {name: getattr(found.best, name) for name in ("text", "start", "end", "score")}
        record["best"] = best | {"page": found.page}
    if names is not None:
        from milepost.index.naming import document_id

        record.pop("source", None)
        record |= {"id": document_id(found.document), "document": names[found.document]}
    return record


def box_record(box: Box, page_size: tuple[float, float]) -> dict[str, float]:
    """Give a box, and the width and height of its page in points."""
    width, height = page_size
    record = asdict(box) | {"page_width": width, "page_height": height}
    return {name: round(value, 2) for name, value in record.items()}


def answer_record(answer: Answer) -> dict[str, Any]:
    """Give an answer with all its fields but its citations."""
    return {
        "text": answer.text,
        "uncited": answer.uncited,
        "cut": answer.cut,
        "grounded": answer.grounded,
    }


def report_record(report: IndexReport) -> dict[str, Any]:
    """Give a report with all its fields."""
    return asdict(report) | {"seconds": round(report.seconds, 3)}


def result_record(
    question: str,
    result: SearchResult,
    boxes: Sequence[Sequence[dict[str, float]] | None],
    *,
    explain: bool,
) -> dict[str, Any]:
    """Give what ``milepost search --json`` prints; ``explain`` adds the reasons."""
    passages = [shared_record(passage) for passage in result.passages]
    for record, each in zip(passages, boxes, strict=True):
        if each is not None:
            record["boxes"] = each
    record = {
        "question": question,
        "passages": passages,
        "best_score": result.best_score,
        "answerable": result.answerable,
        "calibrated": result.calibrated,
        "phrases": result.phrases,
        "excluded": result.excluded,
        "notes": result.notes,
    }
    if explain:
        from milepost.search.heat import strip

        record |= {
            "signals": result.signals,
            "weights": result.weights,
            "terms": result.terms,
            "heat": {name: strip(curve) for name, curve in result.relevance.items()},
        }
    return record


def check_record(check: CheckResult) -> dict[str, Any]:
    """Give what ``milepost check --json`` prints."""
    return asdict(check) | {
        "passages": [shared_record(passage) for passage in check.passages],
        "parts": [check_record(part) for part in check.parts],
    }


def marked_record(marked: AnnotatedPdf) -> dict[str, Any]:
    """Give what ``milepost annotate --json`` prints."""
    return {
        "path": None if marked.path is None else str(marked.path),
        "highlights": marked.highlights,
        "questions": [
            {"question": question, "passages": [shared_record(passage) for passage in passages]}
            for question, passages in marked.passages.items()
        ],
        "notes": marked.notes,
    }


def print_json(record: dict[str, Any], report: IndexReport | None = None) -> None:
    """Print one JSON document on stdout, in UTF-8 whatever the locale says.

    ``report`` is that of the files that were read for it.
    """
    record = {"version": VERSION, **record}
    if report is not None:
        record["report"] = report_record(report)
    try:
        data = json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        data = json.dumps(record, allow_nan=False).encode()
    sys.stdout.buffer.write(data + b"\n")
