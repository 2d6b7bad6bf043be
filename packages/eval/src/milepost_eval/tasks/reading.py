"""Lines of a task file, and a mistake in any of them named with file, line and what to do."""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from milepost._optional import require
from milepost.errors import InputError, UnreadableFile, first_line, nearest
from milepost.types import Document, Span
from milepost.wording import counted
from milepost_eval.types import Question, Split

SPLITS: tuple[Split, ...] = get_args(Split)
ELSEWHERE = "questions of another split"
"""What a count of them is called."""

_SAVED = "dataset_info.json"
_LINES, _PARQUET = (".jsonl", ".jsonl.gz"), ".parquet"


class NoQuestions(InputError):
    """A source that can be read and has no question of the split."""


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a file, with its line number.

    Attributes:
        path: the file.
        number: the line, from 1; for a format without lines, the row.
        fields: what it holds.
    """

    path: Path
    number: int
    fields: Mapping[str, Any]

    def wrong(self, problem: str, hint: str) -> InputError:
        """The error to raise, with file and line before the problem."""
        return InputError(f"{self.path}, line {self.number}: {problem}", hint)

    def text(self, *keys: str) -> str:
        """The string under the first of the keys that is there.

        Raises:
            InputError: the key is missing, or its value is not a string.
        """
        key = next((key for key in keys if self.fields.get(key) is not None), None)
        if key is None:
            filled = [name for name, value in self.fields.items() if value is not None]
            raise self.wrong(
                f"no {' or '.join(map(repr, keys))}",
                f"add {' or '.join(keys)}; it has {_quoted(filled) or 'nothing'}",
            )
        value = self.fields[key]
        if not isinstance(value, str):
            raise self.wrong(f"{key!r} is {_shown(value)}, not a string", "a string in quotes")
        return value

    def name(self, *keys: str) -> str:
        """An identifier: a string that is not blank, or a whole number (as a string)."""
        key = next((key for key in keys if key in self.fields), keys[0])
        value = self.fields.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        found = self.text(*keys)
        if not found.strip():
            raise self.wrong(f"{key!r} is empty", "a name of its own")
        return found


def lines(path: Path, bad: list[InputError] | None = None) -> Iterator[Line]:
    """JSON objects of a file of JSON lines, gzipped or not, or rows of a table (``is_table``).

    Blank lines say nothing, and neither do empty cells.

    Args:
        path: the file, or the folder of a table.
        bad: gets an error for each line that is not a JSON object, and the others are read; None:
            the first such line raises.

    Raises:
        UnreadableFile: the file is missing or damaged, or (without ``bad``) a line is not UTF-8.
        InputError: a line is not a JSON object, without ``bad``.
        MissingExtra: a table needs datasets or pyarrow, which is not installed.
    """
    if is_table(path):
        for line in _rows(path):
            filled = {name: cell for name, cell in line.fields.items() if cell is not None}
            yield replace(line, fields=filled)
        return
    for number, packed in enumerate(_byte_lines(path), 1):
        try:
            fields = _object(packed, f"{path}, line {number}: ")
        except InputError as error:
            if bad is None:
                raise
            bad.append(error)
            continue
        if fields is not None:
            yield Line(path, number, fields)


def table_lines(path: Path) -> Iterator[Line]:
    """Rows of a file of Parquet, some thousand in memory at a time.

    Raises:
        UnreadableFile: the file is missing or damaged.
        MissingExtra: pyarrow is not installed.
    """
    parquet = require("pyarrow.parquet", extra="train")
    try:
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches() for row in batch.to_pylist())
            for number, fields in enumerate(rows, 1):
                yield Line(path, number, fields)
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        first = first_line(error)
        problem = f"{path} cannot be read: {first}"
        raise UnreadableFile(problem, "download the file again") from error


def is_saved(path: Path) -> bool:
    """Whether ``save_to_disk`` of Hugging Face datasets wrote the folder, of one split."""
    return (path / _SAVED).is_file()


def is_table(path: Path) -> bool:
    """Whether a path is a file of Parquet, a folder of nothing else, or a saved data set.

    A ``README.md`` in the folder, such as that of a data set on the hub, does not count.
    """
    if not path.is_dir():
        return path.suffix == _PARQUET
    names = (file.name for file in path.iterdir())
    kinds = {Path(name).suffix for name in names if name[0] != "." and name != "README.md"}
    return is_saved(path) or kinds == {_PARQUET}


def _rows(path: Path) -> Iterator[Line]:
    """Rows of a table with all their cells."""
    if not path.is_dir():
        yield from table_lines(path)
    elif not is_saved(path):
        for file in sorted(path.glob(f"*{_PARQUET}")):
            yield from table_lines(file)
    else:
        datasets = require("datasets", extra="train")
        try:
            for number, fields in enumerate(datasets.load_from_disk(str(path)), 1):
                yield Line(path, number, fields)
        except (OSError, ValueError, TypeError) as error:
            first = first_line(error)
            raise UnreadableFile(
                f"{path} cannot be read: {first}", "save it again by save_to_disk"
            ) from error


def part_of(folder: Path, stem: str) -> Path:
    """The ``documents`` or ``questions`` of a task's folder: JSON lines or a table.

    Where there is neither, the name that the gzipped lines would have.
    """
    named = [folder / f"{stem}{kind}" for kind in (*_LINES, _PARQUET)]
    found = [path for path in named if path.is_file()]
    found += [table] if (table := folder / stem).is_dir() and is_table(table) else []
    return found[0] if found else named[1]


def task_name(path: Path) -> str:
    """What the task in a file or folder is called: its name without the suffix of its kind."""
    name = path.name.removesuffix(".gz")
    return name.removesuffix(_LINES[0]).removesuffix(_PARQUET)


def objects(path: Path) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a file, without line numbers; see ``lines``."""
    return (line.fields for line in lines(path))


def _object(packed: bytes, where: str) -> dict[str, Any] | None:
    """What a line holds; None for a blank one."""
    one = "one JSON object per line"
    try:
        words = packed.decode("utf-8-sig").rstrip()  # json would count its end as a line of its own
        fields = json.loads(words) if words else None
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"{where}not UTF-8: {error.reason} at byte {error.start + 1}",
            "JSON lines in UTF-8, gzipped or not",
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(f"{where}not JSON: {error.msg} at character {error.colno}", one) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}not JSON: {error}", one) from error
    if words and not isinstance(fields, dict):
        raise InputError(f"{where}{_shown(fields)} is not a JSON object", one)
    return fields


def _byte_lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            start = file.read(5)  # the name may be wrong, the first bytes are not
        gzipped, xz = start.startswith(b"\x1f\x8b"), start == b"\xfd7zXZ"
        unpack = gzip.open if gzipped else lzma.open if xz else open
        with unpack(path, "rb") as stream:
            yield from stream
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(
            f"{path} cannot be read: {reason}", "JSON lines in UTF-8, gzipped or not"
        ) from error


def split_of(line: Line, otherwise: Split | None = None) -> Split:
    """The line's ``split``; ``otherwise`` where it names none.

    Raises:
        InputError: none where one is needed, or another than train, dev and test.
    """
    if otherwise is not None and "split" not in line.fields:
        return otherwise
    name = line.text("split")
    for split in SPLITS:
        if split == name:
            return split
    raise line.wrong(
        f"unknown split {name!r}", f"{nearest(name, SPLITS)}one of {', '.join(SPLITS)}"
    )


def question_text(line: Line, *keys: str) -> str:
    """The question's words.

    Raises:
        InputError: none, or neither letter nor digit in them, which no system could answer.
    """
    words = line.text(*keys)
    if not any(letter.isalnum() for letter in words):
        raise line.wrong(f"the question {words!r} has neither letter nor digit", "ask in words")
    return words


def spans_of(
    line: Line, value: Any, document: Document, *, absent: bool = False, key: str = "spans"
) -> tuple[Span, ...]:
    """Spans of evidence or of twins, ascending.

    Spans may be given in any order. Ones that overlap are an error: whether two pieces or one
    were meant, only the author knows, and ``all``-evidence metrics depend on it.

    Args:
        line: of the question, for messages.
        value: the spans as the line has them.
        document: which they count in.
        absent: whether an empty list may say that the document does not answer.
        key: what the line calls them, for messages.

    Raises:
        InputError: no spans, not pairs of whole numbers, empty, outside the document, overlapping.
    """
    pair = "a span is [start, end]: code points of the document, end exclusive"
    if value is None and key == "spans":
        raise line.wrong(f"no {key!r}", "[[start, end]], or 'answer': words of the document")
    if not isinstance(value, list) or not (value or absent):
        raise line.wrong(f"{key!r} is {_shown(value)}, not a list of spans", pair)
    found: list[Span] = []
    for span in value:
        if (
            not isinstance(span, list)
            or len(span) != 2
            or not all(isinstance(edge, int) and not isinstance(edge, bool) for edge in span)
        ):
            raise line.wrong(f"{_shown(span)} is not a span", pair)
        start, end = span
        if start > end:
            raise line.wrong(f"span {start}–{end} ends before it starts", pair)
        if not 0 <= start <= end <= len(document.text):
            raise line.wrong(
                f"span {start}–{end} is outside document {document.name!r} "
                f"of {counted(len(document.text), 'character')}",
                "code points (Python string offsets), not bytes",
            )
        if start == end:
            raise line.wrong(f"span {start}–{end} is empty", pair)
        found.append((start, end))
    found.sort()
    for (start, end), (following, last) in pairwise(found):
        if following < end:
            raise line.wrong(
                f"spans {start}–{end} and {following}–{last} overlap", "one span instead of the two"
            )
    return tuple(found)


def question_of(line: Line, name: str, document: Document) -> Question:
    """The question of a line with ``question`` and ``spans``, of a task's folder or file.

    Args:
        line: of the question.
        name: its name.
        document: which it asks of.

    Raises:
        InputError: something of it cannot be used; see ``spans_of``.
    """
    spans = spans_of(line, line.fields.get("spans"), document, absent=True)
    twins = line.fields.get("twins", [])
    distance = line.fields.get("distance")
    if distance is not None and type(distance) is not int:
        raise line.wrong(f"'distance' is {_shown(distance)}, not a whole number", "leave it out")
    return Question(
        name=name,
        text=question_text(line, "question"),
        document=document.name,
        spans=spans,
        relevant={document.name: 1} if spans else {},
        kind=line.text("type") if "type" in line.fields else "",
        twins=spans_of(line, twins, document, absent=True, key="twins"),
        distance=distance,
    )


class Named:
    """Things by name, each name once.

    Args:
        what: what is named, for messages: ``document``, ``question``.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._lines: dict[str, tuple[Path, int]] = {}

    def add(self, name: str, line: Line) -> None:
        """Remember a name.

        Raises:
            InputError: it was there before.
        """
        here = (line.path, line.number)
        path, number = self._lines.setdefault(name, here)
        if (path, number) != here:
            where = "" if path == line.path else f"{path}, "
            raise line.wrong(
                f"{self._what} {name!r} is already in {where}line {number}",
                "a name of its own for each",
            )


def need_questions(
    questions: Collection[object],
    split: Split,
    source: Path,
    bad: Sequence[InputError] = (),
    elsewhere: int = 0,
) -> None:
    """Refuse a task without questions.

    Args:
        questions: of the task.
        split: of the questions.
        source: file or folder of the task.
        bad: lines that cannot be used; the first are named, since they may be the reason.
        elsewhere: how many questions are of another split, in a file where naming one is optional.

    Raises:
        NoQuestions: there are none.
    """
    if not questions:
        why = "".join(f"; {each.problem}" for each in bad[:3])
        raise NoQuestions(
            f"{source}: no {split} question can be asked{why}",
            split_hint(split) if elsewhere else "another split or file",
        )


def split_hint(split: Split) -> str:
    """What to do where all questions are of other splits and some may name none."""
    return f'give questions "split": "{split}"; without, they are of dev'


def _quoted(names: Collection[str]) -> str:
    return ", ".join(map(repr, names)) if len(names) < 8 else f"{len(names)} other keys"


def _shown(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)  # tables have dates, bytes
    return words if len(words) <= 40 else words[:39] + "…"
