"""Records: one JSON line per system, task and setting, which is read whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost_eval.runs import Run
from milepost_eval.tasks.reading import lines

SCHEMA = "milepost-eval/1"
_AGAIN = "milepost eval run --json > FILE"

_KINDS: dict[str, Any] = {"str": str, "int": int, "float": int | float, "bool": bool}


@dataclass(frozen=True, slots=True)
class PerQuestion:
    """Measurements of each question; all lists have one entry per question.

    Attributes:
        names: the questions' names.
        documents: the document that holds the evidence: questions of one document are not
            independent, so intervals resample documents.
        kinds: the questions' types, "" if the task has none.
        positions: start of the first evidence span, as a share of its document, 0–1.
        lengths: characters of the document.
        figures: metric → one number per question, None where a question has no such figure.
    """

    names: tuple[str, ...]
    documents: tuple[str, ...]
    kinds: tuple[str, ...]
    positions: tuple[float, ...]
    lengths: tuple[int, ...]
    figures: dict[str, tuple[float | None, ...]]

    def known(self, metric: str) -> tuple[list[float], list[str]]:
        """A metric's figures and their questions' documents, of the questions that have it."""
        both = zip(self.figures[metric], self.documents, strict=True)
        found = [(value, document) for value, document in both if value is not None]
        return [value for value, _ in found], [document for _, document in found]


@dataclass(frozen=True, slots=True)
class Record:
    """The result of one system on one task in one setting.

    Attributes:
        system: its name, as ``--systems`` reads it.
        fingerprint: of its model or library.
        task: the task's name.
        setting: ``document``, ``collection`` or, of a number, ``25 documents``.
        split: which questions were asked.
        documents: documents in the collection.
        questions: questions asked.
        left_out: questions of the task that were left out because of ``--questions``.
        metrics: metric → mean over questions.
        intervals: metric → 95 % interval of that mean, by resampling documents.
        open_seconds: time to read the documents; short if vectors were in the cache.
        search_seconds: time to answer all questions.
        tokens: number of the documents' tokens that the model read.
        cached: whether vectors came from an earlier run, so that the times say little.
        date: UTC, ISO 8601.
        version: of Milepost.
        commit: of the checkout, "" if there is none.
        machine: processor, cores, system.
        per_question: the measurements behind the means.
    """

    system: str
    fingerprint: str
    task: str
    setting: str
    split: str
    documents: int
    questions: int
    left_out: int
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    open_seconds: float
    search_seconds: float
    tokens: int
    cached: bool
    date: str
    version: str
    commit: str
    machine: str
    per_question: PerQuestion


def to_line(record: Record) -> str:
    """A record as one line of JSON, in ASCII, which any terminal can redirect."""
    return json.dumps(to_value(record))


def to_value(record: Record) -> dict[str, Any]:
    """A record as JSON holds it, figures rounded to six digits."""
    value: dict[str, Any] = _rounded({"schema": SCHEMA, **asdict(record)})
    return value


def budgets(metrics: Iterable[str]) -> list[int]:
    """Budgets in characters at which there is a recall among the metrics, ascending."""
    named = {name.partition("@") for name in metrics}
    return sorted(int(at) for what, _, at in named if what == "recall" and at.isdecimal())


def usual_metric(metrics: Iterable[str]) -> str:
    """The default metric: recall at the middle budget, nDCG@10 without evidence, else the first."""
    known = list(metrics)
    found = budgets(known)
    if found:
        return f"recall@{found[len(found) // 2]}"
    return "ndcg@10" if "ndcg@10" in known or not known else known[0]


def read(path: Path) -> list[Record]:
    """Records of a file that ``milepost eval run --json`` wrote, plain, gzip or xz.

    Or of a folder that ``milepost eval run --run`` wrote.

    Raises:
        UnreadableFile: the file is missing or not text.
        InputError: a line is not a record, or of another version; its number is given.
    """
    if path.is_dir():
        values = Run(path, None).values()
        return [from_value(value, f"{path}, piece {at}") for at, value in enumerate(values, 1)]
    records = [from_value(line.fields, f"{path}, line {line.number}") for line in lines(path)]
    if not records:
        raise InputError(f"{path}: no records", _AGAIN)
    return records


def from_value(fields_read: Mapping[str, Any], where: str) -> Record:
    """One record of ``to_value``.

    Args:
        fields_read: the value.
        where: it was read, for errors.

    Raises:
        InputError: it is something else, or of another version.
    """
    if "schema" not in fields_read:
        raise InputError(f"{where}: not a record of milepost eval", _AGAIN)
    if fields_read["schema"] != SCHEMA:
        raise InputError(
            f"{where}: a record of version {fields_read['schema']!r}; "
            f"this Milepost reads {SCHEMA!r}",
            _AGAIN,
        )
    wanted = {field.name for field in fields(Record)}
    missing = sorted(wanted - fields_read.keys())
    if missing:
        raise InputError(f"{where}: without {', '.join(missing)}", _AGAIN)
    try:
        return _record(fields_read)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{where}: damaged: {error}", _AGAIN) from error


def _record(read_: Mapping[str, Any]) -> Record:
    """A record of parsed JSON; TypeError, ValueError … for what ``to_line`` never writes."""
    known = {field.name: read_[field.name] for field in fields(Record)}
    for field in fields(Record):
        kind = _KINDS.get(str(field.type))
        if kind is not None and not isinstance(known[field.name], kind):
            raise TypeError(f"{field.name} is {known[field.name]!r}")
    known["metrics"] = {name: _number(value) for name, value in read_["metrics"].items()}
    known["intervals"] = {
        name: (_number(low), _number(high)) for name, (low, high) in read_["intervals"].items()
    }
    per = read_["per_question"]
    columns = [per[field.name] for field in fields(PerQuestion) if field.name != "figures"]
    columns += per["figures"].values()
    count = known["questions"]
    if any(not isinstance(column, list) or len(column) != count for column in columns):
        raise ValueError(f"columns not as long as its {count} questions")
    if not all(isinstance(each, str) for column in columns[:3] for each in column):
        raise ValueError("a question, document or kind that is not a string")
    if len(set(per["names"])) != count:
        raise ValueError("two questions of the same name")
    known["per_question"] = PerQuestion(
        tuple(per["names"]),
        tuple(per["documents"]),
        tuple(per["kinds"]),
        _numbers(per["positions"]),
        tuple(map(int, per["lengths"])),
        {name: _figures(values) for name, values in per["figures"].items()},
    )
    return Record(**known)


def _numbers(values: list[Any]) -> tuple[float, ...]:
    """A column; there are millions of them, and hardly ever is one not a number."""
    try:
        if all(map(math.isfinite, values)):
            return tuple(values)
    except (TypeError, OverflowError):
        pass
    return tuple(map(_number, values))


def _figures(values: list[Any]) -> tuple[float | None, ...]:
    if None not in values:
        return _numbers(values)
    return tuple(None if value is None else _number(value) for value in values)


def _number(value: Any) -> float:
    """A finite number; Python's JSON reads NaN, which would spread to every mean."""
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return value
