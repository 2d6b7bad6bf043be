"""Rows of training pairs: JSON lines, or files and folders that Hugging Face ``datasets`` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import InputError, UnreadableFile
from milepost.evaluate.tasks.reading import Line, lines

JSON_LINES = ("*.jsonl.gz", "*.jsonl")
PAIRS = (*JSON_LINES, "**/*.parquet")
"""What is read of a folder: of one with pairs also Parquet, which the hub keeps in folders."""

_SAVED = "dataset_info.json"


def existing(paths: Iterable[Path], kinds: Sequence[str] = JSON_LINES) -> list[Path]:
    """Files and saved datasets by name, and what can be read in the other folders among them.

    Raises:
        InputError: a path is not there, or a folder holds nothing that can be read.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_file() or (kinds == PAIRS and _is_saved(path)):
            found.append(path)
            continue
        inside = sorted(file for kind in kinds for file in path.glob(kind))
        if not inside:
            raise InputError(
                f"{path} holds no {kinds[0]}" if path.is_dir() else f"{path} is not there",
                "name a file of JSON lines or a folder of them",
            )
        found.extend(inside)
    return found


def rows(path: Path, bad: list[InputError]) -> Iterator[Line]:
    """Rows of a file of JSON lines or Parquet, or of a folder that ``save_to_disk`` wrote.

    Args:
        path: the file or folder.
        bad: gets an error for each line that is not a JSON object.

    Raises:
        UnreadableFile: it cannot be read.
        MissingExtra: it needs datasets, which is not installed.
    """
    if path.suffix != ".parquet" and not _is_saved(path):
        yield from lines(path, bad)
        return
    datasets = require("datasets", extra="train")
    try:
        if path.is_dir():
            table = datasets.load_from_disk(str(path))
        else:
            files = {"train": str(path)}
            table = datasets.load_dataset(
                "parquet", data_files=files, split="train", streaming=True
            )
        for number, fields in enumerate(table, 1):
            yield Line(path, number, {k: v for k, v in fields.items() if v is not None})
    except (OSError, ValueError, TypeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise UnreadableFile(
            f"{path} cannot be read: {first}", "Parquet, or a folder of save_to_disk"
        ) from error


def negatives_of(fields: Mapping[str, Any]) -> object:
    """What a row says does not answer.

    ``negatives``, else ``negative``, ``negative_1`` … as sentence-transformers names its columns.
    """
    if "negatives" in fields:
        return fields["negatives"]
    numbered = [name for name in fields if name.startswith("negative")]
    return [fields[name] for name in numbered]


def _is_saved(path: Path) -> bool:
    return (path / _SAVED).is_file()
