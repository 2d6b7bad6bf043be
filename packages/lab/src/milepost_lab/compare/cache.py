"""Finished runs as JSON lines, so that an interrupted comparison can continue."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost.writing import write_bytes
from milepost_eval.types import Split
from milepost_lab.same_settings import check_same

SCHEMA = "milepost-pooling/1"

RANKED, ACCURACY = "ndcg@10", "accuracy"
"""The metric of tasks that rank texts, and of tasks that classify."""

_EXACT = ("rate", "tried")
"""Fields that are written as they are: six decimals would make a small learning rate 0."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A task as it was measured; the figures of every run follow the order of its queries.

    Attributes:
        task: its name.
        key: hash of its material and of the reader.
        training: name of the training pairs.
        names: names of the queries.
        clusters: the document of each query.
        texts: number of ranked texts.
        tokens: median length of a text.
        metric: by which rows are compared.
        split: of the queries; ``test`` where data of others have no other questions.
    """

    task: str
    key: str
    training: str
    names: tuple[str, ...]
    clusters: tuple[str, ...]
    texts: int
    tokens: int
    metric: str = RANKED
    split: Split = "dev"


@dataclass(frozen=True, slots=True)
class Run:
    """One row on one task with one seed.

    Attributes:
        row: its name, see ``rows``.
        task: the task's.
        seed: of weights and batches.
        trained: by the recipe, or the pooling as it begins, without heads.
        key: hash of all that the figures hang on: material, reader, recipe, settings, revision.
        reads: states that the pooling reads: ``tokens``, ``landmarks`` or ``layers``.
        asks: whether it reads the query.
        width: of its vectors before the head.
        parameters: trained numbers of the pooling, without the heads.
        losses: of the first step, and the mean of the last five; empty if nothing was trained.
        figures: metric → one figure for each query.
        seconds: of training, and of pooling and scoring.
        made: date, commit and machine.
        rate: the learning rate that validation pairs chose; None: the recipe's.
        tried: learning rate → nDCG@10 on the validation pairs, of the rates that were tried.
        curve: steps done and nDCG@10 on the validation pairs; empty if it was not measured. One
            point, of the weights that are kept, if trained until the validation loss was flat.
        flat: whether that was reached before the cap; None for a training of a number of steps.
    """

    row: str
    task: str
    seed: int
    trained: bool
    key: str
    reads: str
    asks: bool
    width: int
    parameters: int
    losses: tuple[float, ...]
    figures: Mapping[str, tuple[float, ...]]
    seconds: tuple[float, float]
    made: str
    rate: float | None = None
    tried: Mapping[str, float] = field(default_factory=dict)
    curve: tuple[tuple[int, float], ...] = ()
    flat: bool | None = None


class ResultCache:
    """Tasks and runs, written to a file after each run.

    Args:
        path: JSON lines, plain or compressed by xz; None keeps them in memory.

    Attributes:
        path: the file.
        asked: tasks by name.
        settings: of the command that made the runs, name → how to ask for it; empty in a file
            that is older than they are.
        runs: in the order in which they were made.

    Raises:
        InputError: the file has other content.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.asked: dict[str, Asked] = {}
        self.settings: dict[str, str] = {}
        self.runs: list[Run] = []
        if path is not None and path.exists():
            for number, fields in _lines(path):
                try:
                    self._take(fields)
                except (TypeError, KeyError, ValueError, AttributeError) as error:
                    raise InputError(
                        f"{path}, line {number} is not a run of this version ({error})",
                        "another file, or remove this one",
                    ) from error

    def _take(self, fields: dict[str, Any]) -> None:
        if fields.pop("schema") != SCHEMA:
            raise ValueError(f"not {SCHEMA}")
        kind = fields.pop("kind")
        if kind == "settings":
            self.settings = fields["settings"]
            return
        if kind == "task":
            names = {name: tuple(fields[name]) for name in ("names", "clusters")}
            self.asked[fields["task"]] = Asked(**{**fields, **names})
            return
        figures = {name: tuple(values) for name, values in fields["figures"].items()}
        first, second = fields["seconds"]
        tuples = {
            "losses": tuple(fields["losses"]),
            "seconds": (first, second),
            "curve": tuple((step, figure) for step, figure in fields.get("curve", ())),
        }
        self.runs.append(Run(**{**fields, "figures": figures, **tuples}))

    def agree(self, settings: Mapping[str, str]) -> None:
        """Note the settings of a command that adds runs.

        Args:
            settings: name → how to ask for it, of all that changes figures.

        Raises:
            InputError: the runs that are there were made by others, which stay as they are.
        """
        if self.runs:
            check_same(self.path, self.settings, settings, "--json FILE")
        self.settings = dict(settings)

    def has(self, key: str) -> bool:
        """Whether a run is done."""
        return any(run.key == key for run in self.runs)

    def of(self, task: str) -> list[Run]:
        """The runs of a task."""
        return [run for run in self.runs if run.task == task]

    def ask(self, asked: Asked) -> None:
        """Note a task; runs of the same task on other material are dropped."""
        known = self.asked.get(asked.task)
        if known is not None and known.key != asked.key:
            self.keep(lambda run: run.task != asked.task)
        self.asked[asked.task] = asked

    def keep(self, wanted: Callable[[Run], bool]) -> None:
        """Drop all other runs; the file follows with the next run that is added."""
        self.runs = [run for run in self.runs if wanted(run)]

    def add(self, run: Run) -> None:
        """Note a run and write the file; one of the same row, task and seed gives way."""
        place = (run.row, run.task, run.seed, run.trained)
        self.runs = [r for r in self.runs if (r.row, r.task, r.seed, r.trained) != place]
        self.runs.append(run)
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        first = {"schema": SCHEMA, "kind": "settings", "settings": self.settings}
        told: list[tuple[str, Asked | Run]] = [("task", task) for task in self.asked.values()]
        told += [("run", run) for run in self.runs]
        lines = [json.dumps(first)] if self.settings else []
        lines += [
            json.dumps(_rounded({"schema": SCHEMA, "kind": kind, **asdict(one)}))
            for kind, one in told
        ]
        data = ("\n".join(lines) + "\n").encode()
        write_bytes(self.path, lzma.compress(data) if self.path.suffix == ".xz" else data)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if data.startswith(b"\xfd7zXZ") else data).decode()
        for number, line in enumerate(text.splitlines(), 1):
            yield number, dict(json.loads(line))
    except (OSError, TypeError, ValueError, lzma.LZMAError) as error:
        raise InputError(
            f"{path} is not a comparison ({error})", "another file, or remove this one"
        ) from error


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: inner if key in _EXACT else _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(inner) for inner in value]
    return value
