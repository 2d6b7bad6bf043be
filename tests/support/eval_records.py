"""Records of planted figures, as ``milepost eval run`` writes them of real ones."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from milepost_eval.records import PerQuestion, Record


def record_of(
    system: str,
    task: str,
    figures: Mapping[str, Sequence[float]],
    documents: Sequence[str],
    **changes: Any,
) -> Record:
    """One question for each document named; ``changes`` go to the record or to its questions."""
    count = len(documents)
    questions: dict[str, Any] = {
        "names": tuple(f"q{number}" for number in range(count)),
        "documents": tuple(documents),
        "kinds": ("",) * count,
        "positions": (0.0,) * count,
        "lengths": (1,) * count,
        "figures": {name: tuple(values) for name, values in figures.items()},
    }
    fields: dict[str, Any] = {
        "fingerprint": f"print-{system}",
        "setting": "document",
        "split": "dev",
        "documents": len(set(documents)),
        "questions": count,
        "left_out": 0,
        "metrics": {name: fmean(values) for name, values in figures.items()},
        "intervals": {name: (fmean(v) - 0.02, fmean(v) + 0.03) for name, v in figures.items()},
        "open_seconds": 1.5,
        "search_seconds": 0.6,
        "tokens": 1234,
        "cached": False,
        "date": "2026-11-20",
        "version": "1.2.3",
        "commit": "abc1234",
        "machine": "a processor, 2 cores, Linux",
    }
    own = {name: changes.pop(name) for name in PerQuestion.__slots__ if name in changes}
    asked = PerQuestion(**questions | own)
    return Record(system=system, task=task, per_question=asked, **fields | changes)
