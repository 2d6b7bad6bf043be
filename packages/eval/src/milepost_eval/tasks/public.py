"""Public formats on disk: which there are, how a folder shows its own, and their readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from milepost.errors import InputError, UnreadableFile, nearest
from milepost_eval.tasks.conteb import read_conteb
from milepost_eval.tasks.judged import read_beir, read_longembed, read_mldr
from milepost_eval.tasks.longbench import read_longbench
from milepost_eval.tasks.qasper import read_qasper
from milepost_eval.types import Split, Task

FORMATS: dict[str, Callable[[Path, Split], Task]] = {
    "beir": read_beir,
    "conteb": read_conteb,
    "longbench": read_longbench,
    "longembed": read_longembed,
    "mldr": read_mldr,
    "qasper": read_qasper,
}
"""Name of a format, as before the colon in ``--tasks beir:FOLDER``, to its reader."""


def read_public(kind: str, folder: Path, split: Split) -> Task:
    """A task from a folder (for qasper and longbench also a file) in a public format.

    Raises:
        InputError: the format is unknown, a line cannot be used, or the split has no question.
        UnreadableFile: a file is missing or damaged.
    """
    if kind not in FORMATS:
        raise InputError(
            f"unknown format {kind!r}",
            f"{nearest(kind, FORMATS)}one of {', '.join(FORMATS)}",
        )
    if not folder.exists() and not ("@" in folder.name and kind == "longembed"):
        raise UnreadableFile(f"{folder} does not exist", f"{kind}:FOLDER")
    return FORMATS[kind](folder, split)


def format_of(folder: Path) -> str:
    """The format of the files in a folder.

    Raises:
        InputError: none, or more than one.
    """
    signs = {
        "beir": ("qrels/*", "corpus.jsonl*"),
        "conteb": ("documents/*.parquet", "queries/*.parquet"),
        "longembed": ("qrels.jsonl", "corpus.jsonl"),
        "mldr": ("corpus.jsonl*", "test.jsonl*"),
        "qasper": ("qasper-*-v0.3.json",),
    }
    found = [kind for kind, files in signs.items() if all(any(folder.glob(sign)) for sign in files)]
    if len(found) != 1:
        raise InputError(
            f"{folder} looks like {' and '.join(found) or 'no known format'}",
            f"one of {', '.join(f'{kind}:FOLDER' for kind in found or FORMATS)}",
        )
    return found[0]
