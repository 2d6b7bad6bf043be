"""Names of tasks, as ``--tasks`` reads them, to tasks.

written, meetings …    a folder of the shared data
articles               titles and headings of the shared corpus
beir:FOLDER            a collection in BEIR's layout, also by its folder alone
FOLDER                 a folder like the shared ones
FILE.jsonl             a task of one's own, see ``own.py``; also FILE.jsonl.gz, FILE.parquet, and a
                       folder that ``save_to_disk`` of Hugging Face datasets wrote
"""

from __future__ import annotations

from pathlib import Path

from milepost._paths import expanded
from milepost.errors import InputError, nearest
from milepost_eval.tasks.articles import read_articles
from milepost_eval.tasks.judged import read_beir
from milepost_eval.tasks.own import read_own
from milepost_eval.tasks.reading import is_table, part_of
from milepost_eval.tasks.shared import SPAN_TASKS, TEST_ONLY, read_folder
from milepost_eval.types import Split, Task

NAMES = (*SPAN_TASKS, "articles")
"""Tasks of the shared data, by name."""

_SAY = "--data FOLDER, or MILEPOST_DATA=FOLDER in the environment"


def load(name: str, split: Split, data: Path | None = None) -> Task:
    """The task of a name or path.

    Args:
        name: see the module.
        split: which questions.
        data: the folder of the shared data, for tasks by name.

    Raises:
        InputError: the task is unknown (with the nearest known name), the shared data is missing,
            a line cannot be used, or the split has no question.
        UnreadableFile: a file is missing or damaged.
        MissingExtra: the format needs a library that is not installed.
    """
    if name in NAMES:
        return _shared(name, split, _data(name, data))
    kind, colon, rest = name.partition(":")
    if colon and rest and kind == "beir":
        return read_beir(expanded(rest), split)
    path = expanded(name)
    if is_table(path) or path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_own(path, split)
    if path.is_file():
        raise InputError(
            f"{path} is not a task: files of questions end in .jsonl, .jsonl.gz or .parquet",
            "a file as in docs/evaluation.md",
        )
    if path.is_dir():
        if part_of(path, "questions").exists():
            return read_folder(path, split)
        if (path / "qrels").is_dir():
            return read_beir(path, split)
        raise InputError(
            f"{path} has neither questions nor BEIR's qrels", "a folder as in docs/evaluation.md"
        )
    known = (*NAMES, "beir:FOLDER", "FILE.jsonl")
    near = nearest(kind, (*NAMES, "beir"))
    raise InputError(f"unknown task {name!r}", f"{near}one of {', '.join(known)}")


def _shared(name: str, split: Split, data: Path) -> Task:
    if name in TEST_ONLY and split != "test":
        raise InputError(f"task {name} has test questions only", "--split test")
    if name == "articles":
        return read_articles(data / "corpus", split)
    folder = data / "tasks" / name
    if not folder.is_dir():
        raise InputError(f"task {name} needs {folder}, which is not a folder", _SAY)
    return read_folder(folder, split)


def _data(name: str, data: Path | None) -> Path:
    if data is None:
        raise InputError(f"task {name} is part of the shared data, which was not found", _SAY)
    if not data.is_dir():
        raise InputError(f"task {name} needs the shared data, and {data} is not a folder", _SAY)
    return data
