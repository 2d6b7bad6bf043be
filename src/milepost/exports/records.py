"""Results as JSON; the names of fields are those of Python's records."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from milepost.answers import Answer
    from milepost.exports.marking import AnnotatedPdf
    from milepost.search import SearchResult
    from milepost.types import Box, IndexReport, Passage
    from milepost.verdicts import CheckResult, Match

VERSION = 2
"""Version of the JSON output; it grows when a field changes its meaning or goes away."""


class PageBox(NamedTuple):
    """A box, and the width and height of its page in points."""

    box: Box
    width: float
    height: float


_OF_FILES = ("document", "source")
"""Fields with names and paths of files, which a server does not show: it has ids and titles."""


def shared_record(found: Passage | Match) -> dict[str, Any]:
    """Give the fields of a passage or a checked place that all outputs have, under their names.

    That is all but the document, which the command line names by its path, others by an id.
    """
    return {key: value for key, value in asdict(found).items() if key not in _OF_FILES}


def passage_record(passage: Passage, boxes: Sequence[PageBox] | None = None) -> dict[str, Any]:
    """Give a passage with all its fields, and with its boxes if it has some."""
    record = asdict(passage)
    if boxes is not None:
        record["boxes"] = [
            {
                "page": each.box.page,
                "left": round(each.box.left, 2),
                "top": round(each.box.top, 2),
                "right": round(each.box.right, 2),
                "bottom": round(each.box.bottom, 2),
                "page_width": round(each.width, 2),
                "page_height": round(each.height, 2),
            }
            for each in boxes
        ]
    return record


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
    report: IndexReport | None,
    *,
    explain: bool,
    boxes: Sequence[Sequence[PageBox] | None] = (),
) -> dict[str, Any]:
    """Give what ``milepost search --json`` prints; ``explain`` adds the reasons."""
    record: dict[str, Any] = {
        "question": question,
        "passages": [
            passage_record(passage, each)
            for passage, each in zip(
                result.passages, boxes or [None] * len(result.passages), strict=True
            )
        ],
        "answerable": result.answerable,
        "calibrated": result.calibrated,
    }
    if report is not None:
        record["report"] = report_record(report)
    if result.notes and not result.passages:
        record["notes"] = result.notes
    if result.phrases or result.excluded:
        record |= {"phrases": result.phrases, "excluded": result.excluded, "notes": result.notes}
    if explain:
        from milepost.search.heat import strip

        record |= {
            "signals": result.signals,
            "weights": result.weights,
            "terms": result.terms,
            "notes": result.notes,
            "heat": {name: strip(curve) for name, curve in result.relevance.items()},
        }
    return record


def check_record(check: CheckResult, report: IndexReport | None) -> dict[str, Any]:
    """Give what ``milepost check --json`` prints."""
    return asdict(check) | ({} if report is None else {"report": report_record(report)})


def marked_record(marked: AnnotatedPdf) -> dict[str, Any]:
    """Give what ``milepost annotate --json`` prints."""
    return {
        "path": None if marked.path is None else str(marked.path),
        "highlights": marked.highlights,
        "questions": [
            {"question": question, "passages": [passage_record(passage) for passage in passages]}
            for question, passages in marked.passages.items()
        ],
        "notes": marked.notes,
    }


def as_plain(value: Any) -> Any:
    """Give what JSON can hold: NaN becomes null, infinities become strings."""
    if isinstance(value, dict):
        return {key: as_plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def print_json(record: dict[str, Any]) -> None:
    """Print one JSON document on stdout, in UTF-8 whatever the locale says."""
    record = {"version": VERSION, **record}
    try:
        data = json.dumps(record, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has no bytes for
        data = json.dumps(record, allow_nan=False).encode()
    sys.stdout.buffer.write(data + b"\n")
