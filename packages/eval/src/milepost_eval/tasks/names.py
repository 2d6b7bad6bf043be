"""Names of tasks, as ``--tasks`` reads them, to tasks.

written, meetings …    a folder of the shared data
articles               titles and headings of the shared corpus
needle                 a needle in the shared book; needle:FILE in a text of one's own
FORMAT:FOLDER          a public format: beir, conteb, longbench, longembed, mldr, qasper
FOLDER                 the same, in the format of its files; or a folder like the shared ones
FILE.jsonl             a task of one's own, see ``own.py``; also FILE.jsonl.gz, FILE.parquet, and a
                       folder that ``save_to_disk`` of Hugging Face datasets wrote
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from milepost.errors import InputError, nearest
from milepost.text import read
from milepost_eval.tasks.articles import read_articles
from milepost_eval.tasks.needle import needles
from milepost_eval.tasks.own import read_own
from milepost_eval.tasks.public import FORMATS, format_of, read_public
from milepost_eval.tasks.reading import SPLITS, is_table, part_of
from milepost_eval.tasks.shared import SPAN_TASKS, TEST_ONLY, read_folder
from milepost_eval.types import Split, Task

NAMES = (*SPAN_TASKS, "articles", "needle")
"""Tasks of the shared data, by name."""

_SAY = "--data FOLDER, or MILEPOST_DATA=FOLDER in the environment"


def load(name: str, split: Split, data: Path | None = None, *, absent: bool = False) -> Task:
    """The task of a name or path.

    Args:
        name: see the module.
        split: which questions.
        data: the folder of the shared data, for tasks by name.
        absent: take questions with an empty list of spans, too (``Question.absent``), from a
            folder or a file of one's own; else they are an error.

    Raises:
        InputError: the task is unknown (with the nearest known name), the shared data is missing,
            a line cannot be used, or the split has no question.
        UnreadableFile: a file is missing or damaged.
        MissingExtra: the format needs a library that is not installed.
    """
    if name in NAMES:
        return _shared(name, split, _data(name, data))
    kind, colon, rest = name.partition(":")
    if colon and rest and kind in FORMATS:
        return read_public(kind, Path(rest).expanduser(), split)
    if colon and rest and kind == "needle":
        return replace(_needle(Path(rest).expanduser(), split), name=name)
    path = Path(name).expanduser()
    if is_table(path) or path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_own(path, split, absent=absent)
    if path.is_file():
        raise InputError(
            f"{path} is not a task: files of questions end in .jsonl, .jsonl.gz or .parquet",
            "a file as in docs/evaluation.md, or needle:FILE to hide sentences in a text",
        )
    if path.is_dir():
        if part_of(path, "questions").exists():
            return read_folder(path, split, absent=absent)
        return read_public(format_of(path), path, split)
    known = (*NAMES, *(f"{each}:FOLDER" for each in FORMATS), "FILE.jsonl")
    near = nearest(kind, (*NAMES, *FORMATS))
    raise InputError(f"unknown task {name!r}", f"{near}one of {', '.join(known)}")


def _shared(name: str, split: Split, data: Path) -> Task:
    if name in TEST_ONLY and split != "test":
        raise InputError(f"task {name} has test questions only", "--split test")
    if name == "articles":
        return read_articles(data / "corpus", split)
    if name == "needle":
        return _needle(data / "book" / "origin-of-species.txt", split)
    folder = data / "tasks" / name
    if not folder.is_dir():
        raise InputError(f"task {name} needs {folder}, which is not a folder", _SAY)
    return read_folder(folder, split)


def _needle(path: Path, split: Split) -> Task:
    """Each split has its own needles, so that nothing is tuned on test needles."""
    return needles(read(path).text, seed=SPLITS.index(split), split=split)


def _data(name: str, data: Path | None) -> Path:
    if data is None:
        raise InputError(f"task {name} is part of the shared data, which was not found", _SAY)
    if not data.is_dir():
        raise InputError(f"task {name} needs the shared data, and {data} is not a folder", _SAY)
    return data
