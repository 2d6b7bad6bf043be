"""Results as JSON; the names of fields are those of Python's records."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from milepost.console.heat import strip

if TYPE_CHECKING:
    from milepost.answers import Citation
    from milepost.search import SearchResult
    from milepost.types import Check, Passage, Report

VERSION = 2
"""Version of the JSON output; it grows when a field changes its meaning or goes away."""


def passage_record(passage: Passage) -> dict[str, Any]:
    """Give a passage with all its fields."""
    return {
        "text": passage.text,
        "document": passage.document,
        "source": passage.source,
        "start": passage.start,
        "end": passage.end,
        "score": passage.score,
        "hits": [
            {
                "start": hit.start,
                "end": hit.end,
                "score": hit.score,
                "logit": hit.logit,
                "parts": hit.parts,
            }
            for hit in passage.hits
        ],
        "heading": passage.heading,
        "page": passage.page,
        "place": passage.place,
    }


def citation_record(citation: Citation) -> dict[str, Any]:
    """Give a citation with all its fields."""
    return {
        "number": citation.number,
        "start": citation.start,
        "end": citation.end,
        "sentence": citation.sentence,
        "verdict": citation.verdict,
        "quotes": citation.quotes,
        "places": citation.places,
    }


def report_record(report: Report) -> dict[str, Any]:
    """Give a report with all its fields."""
    return {
        "added": report.added,
        "unchanged": report.unchanged,
        "changed": report.changed,
        "removed": report.removed,
        "failed": report.failed,
        "notes": report.notes,
        "sentences": report.sentences,
        "tokens": report.tokens,
        "seconds": round(report.seconds, 3),
    }


def result_record(
    question: str, result: SearchResult, report: Report | None, *, explain: bool
) -> dict[str, Any]:
    """Give what ``milepost search --json`` prints."""
    record: dict[str, Any] = {
        "question": question,
        "passages": [passage_record(passage) for passage in result.passages],
    }
    if report is not None:
        record["report"] = report_record(report)
    if result.phrases or result.excluded:
        record |= {
            "phrases": result.phrases,
            "excluded": result.excluded,
            "notes": result.notes,
        }
    if explain:
        record |= {
            "signals": result.signals,
            "weights": result.weights,
            "terms": result.terms,
            "notes": result.notes,
            "heat": {name: strip(curve) for name, curve in result.relevance.items()},
        }
    return record


def check_record(check: Check, report: Report | None) -> dict[str, Any]:
    """Give what ``milepost check --json`` prints."""
    record: dict[str, Any] = {
        "text": check.text,
        "verdict": check.verdict,
        "places": [asdict(place) for place in check.places],
        "passages": [passage_record(passage) for passage in check.passages],
        "best": check.best,
        "notes": check.notes,
    }
    if report is not None:
        record["report"] = report_record(report)
    return record


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
