"""What ``--data`` names, and the tasks that are in it.

    FOLDER, with pairs/ of Milepost's shared data   sentences and documents, see material.py
    FOLDER, with corpus and queries                 a task of its name, see judged.py
    another file or folder                          a task of its name, see pairs.py
    packaged                                        open-questions: pairs that come along

Nothing named is the shared data where they are beside the checkout, else the packaged pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost.errors import InputError
from milepost_lab.compare.images import TASK as IMAGES
from milepost_lab.compare.judged import judged_task
from milepost_lab.compare.material import (
    SETS,
    TASKS,
    Material,
    Sizes,
    checked_tasks,
    materials,
)
from milepost_lab.compare.pairs import pairs_task
from milepost_lab.data.long_documents import Words

SHARED = Path("../shared/data")
"""Where the data of the checkout are."""

PACKAGED = "packaged"
PACKAGED_FILE = Path(__file__).parent / PACKAGED / "open-questions.jsonl.gz"
"""Questions about documents that are in the public domain; its README says where from."""

_ENDINGS = (".gz", ".jsonl", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True, slots=True)
class Source:
    """Data on disk.

    Attributes:
        path: file or folder.
        kind: ``shared``: Milepost's; ``judged``: corpus, queries and qrels; ``pairs``.
    """

    path: Path
    kind: Literal["shared", "judged", "pairs"]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of its tasks of texts."""
        if self.kind == "shared":
            return tuple(name for name in TASKS if name != IMAGES)
        name = self.path.resolve().name
        for ending in _ENDINGS:
            name = name.removesuffix(ending)
        return (name,)


def sources(given: Sequence[str]) -> list[Source]:
    """What is named; see above.

    Raises:
        InputError: a path is not there, or two tasks have one name.
    """
    if not given:
        given = [str(SHARED) if _is_shared(SHARED) else PACKAGED]
    found = [_source(PACKAGED_FILE if text == PACKAGED else Path(text)) for text in given]
    counts = Counter(name for source in found for name in source.tasks)
    for source in found:
        for name in source.tasks:
            if counts[name] > 1 or (source.kind != "shared" and name in TASKS):
                other = "a task of Milepost" if name in TASKS else "two data sets"
                raise InputError(
                    f"{source.path} would be the task {name}, the name of {other}",
                    "another name for the file or folder",
                )
    return found


def _source(path: Path) -> Source:
    if not path.exists():
        raise InputError(
            f"{path} does not exist", "--data PATH: pairs, or a folder in the layout of BEIR"
        )
    if _is_shared(path):
        return Source(path, "shared")
    judged = any(path.glob("corpus*")) and any(path.glob("queries*"))
    return Source(path, "judged" if judged else "pairs")


def _is_shared(path: Path) -> bool:
    return (path / "pairs" / f"{SETS[0]}.jsonl.gz").is_file()


def task_names(text: str | None, found: Sequence[Source]) -> list[str]:
    """The tasks of a comma-separated list; where None, all of the sources.

    Images are a task wherever they can be read, but are added to the shared data alone: a row of
    them takes ten times as long as one of the packaged pairs.

    Raises:
        InputError: one is not known, or none is named.
    """
    own = [name for source in found for name in source.tasks]
    images = [IMAGES] if IMAGES in TASKS else []
    if text is not None:
        return checked_tasks(text, [*own, *images])
    return [*own, *(images if all(source.kind == "shared" for source in found) else [])]


def read_tasks(
    found: Sequence[Source],
    words: Words,
    names: Sequence[str],
    sizes: Sizes,
    note: Callable[[str], None] = lambda line: None,
) -> list[Material]:
    """The material of the tasks of texts among ``names``.

    Args:
        found: the sources.
        words: of the model that reads.
        names: of tasks.
        sizes: how much.
        note: called with a line about each choice that changes what figures mean.

    Raises:
        InputError: data that cannot be used; see ``materials``, ``judged_task``, ``pairs_task``.
    """
    made: list[Material] = []
    for source in found:
        wanted = [name for name in source.tasks if name in names]
        if source.kind == "shared":
            made += materials(source.path, words, wanted, sizes)
        elif wanted:
            read = judged_task if source.kind == "judged" else pairs_task
            made.append(read(source.path, wanted[0], words, sizes, note))
    return made
