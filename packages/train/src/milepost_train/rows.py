"""Rows of training pairs: JSON lines, CSV, or what Hugging Face ``datasets`` reads and writes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost.errors import InputError, UnreadableFile, first_line
from milepost.verdicts import VERDICTS
from milepost.wording import counted
from milepost_eval.tasks.reading import Line, is_saved, lines, question_text

JSON_LINES = ("*.jsonl.gz", "*.jsonl")
PAIRS = (*JSON_LINES, "**/*.parquet")
"""What is read of a folder: of one with pairs also Parquet, which the hub keeps in folders."""

CLAIM_VERDICTS = VERDICTS[:3]
"""What sentences may say of a claim."""

JUDGEMENTS = (*VERDICTS, "unanswered")
"""Labels of judged rows."""

_SPLITS = "dataset_dict.json"
_DIVIDED = {".csv": ",", ".tsv": "\t"}
_HELD = re.compile(r"(test|valid|validation|dev|eval)([-_.]|$)")
_NEGATIVE = re.compile(r"negative(?:_(\d+))?")


def existing(paths: Iterable[Path], kinds: Sequence[str] = JSON_LINES) -> list[Path]:
    """Files and saved data sets by name, and what can be read in the other folders among them.

    Parquet files whose names say that they are for validation or test are left out.

    Raises:
        InputError: a path is not there, or a folder holds nothing that can be read.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_file() or (kinds == PAIRS and is_saved(path)):
            found.append(path)
            continue
        files = sorted(file for kind in kinds for file in path.glob(kind))
        inside = [f for f in files if not (f.suffix == ".parquet" and _HELD.match(f.name))]
        if not path.is_dir():
            raise InputError(f"{path} does not exist", "name a file or a folder")
        if not inside and (path / _SPLITS).is_file():
            raise InputError(f"{path} has several splits", f"name one of them: {path / 'train'}")
        if not inside:
            more = ", CSV, Parquet or a saved data set" if kinds == PAIRS else ""
            wanted = f"name JSON lines{more}, or a folder of such files"
            raise InputError(f"{path} holds no {kinds[0]}", wanted)
        found.extend(inside)
    return found


def rows(path: Path, bad: list[InputError]) -> Iterator[Line]:
    """Rows of a file of JSON lines, CSV or Parquet, or of a folder that ``save_to_disk`` wrote.

    ``bad`` gets an error for each line that is not a JSON object, or has not the columns of the
    first line.
    """
    yield from _divided(path, bad) if path.suffix in _DIVIDED else lines(path, bad)


def _divided(path: Path, bad: list[InputError]) -> Iterator[Line]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.reader(file, delimiter=_DIVIDED[path.suffix], strict=True)
            names = next(table, [])
            for cells in table:
                fields = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
                line = Line(path, table.line_num, fields)
                if len(cells) == len(names):
                    yield line
                elif cells:
                    problem = (
                        f"{counted(len(cells), 'column')}, but the first line names {len(names)}"
                    )
                    bad.append(line.wrong(problem, "put text with commas or tabs in quotes"))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(
            f"{path} cannot be read: {first_line(error)}",
            "UTF-8, a first line with the names of the columns, quotes doubled within quotes",
        ) from error


def pair_of(line: Line) -> tuple[str, str]:
    """Query and passage of a row.

    ``query`` or ``question``, and ``passage`` or ``answer``; ``anchor`` and ``positive``, as
    sentence-transformers names its columns, are understood as well.
    """
    query = question_text(line, "query", "question", "anchor")
    return query, line.text("passage", "positive", "answer")


def negatives_of(fields: Mapping[str, Any]) -> object:
    """What a row says does not answer.

    ``negatives``, else ``negative``, ``negative_1`` … as sentence-transformers names its columns.
    """
    if "negatives" in fields:
        return fields["negatives"]
    numbered = sorted(
        (int(found[1] or 0), name) for name in fields if (found := _NEGATIVE.fullmatch(name))
    )
    return [fields[name] for _, name in numbered]
