"""From names to records: what ``milepost eval run`` and the benchmarks use."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from milepost._optional import require
from milepost._paths import expanded
from milepost.encoder.engine.folder import cache_folder
from milepost.errors import InputError, nearest
from milepost.exports.writing import check_output
from milepost_eval.catalogue import chosen
from milepost_eval.factory import SystemFactory
from milepost_eval.metrics import AT_BUDGET, AT_RANK, BUDGETS, OF_DOCUMENTS, OF_SENTENCES
from milepost_eval.noise import Noise, noisy
from milepost_eval.probabilities import OF_PROBABILITIES
from milepost_eval.records import Record, from_value, to_value
from milepost_eval.run import evaluate
from milepost_eval.runs import Run
from milepost_eval.tasks import load, take, together
from milepost_eval.tasks.shared import SPAN_TASKS, TEST_ONLY
from milepost_eval.types import SETTINGS, Setting, Split, Task
from milepost_eval.vectors import Vectors


@dataclass(frozen=True)
class Session:
    """A measurement: tasks, systems and limits.

    Attributes:
        tasks: names of tasks, or paths; ``all`` means those of the data folder.
        systems: names of systems, of sets of them, and TOML files of rows (``catalogue.py``).
        split: of the questions.
        settings: a task is asked in those of them that it has.
        budgets: in characters.
        questions: maximum per task; None for all.
        documents: maximum per task; None for all.
        data: folder of the tasks.
        cache: folder for vectors; None for ``eval`` in Milepost's cache.
        model: Milepost's model; None for the default.
        dtype: of sentence-transformers models.
        noise: how questions are changed before they are asked; None for not at all.
        together: whether all tasks are one, with one collection.
        run: folder where finished records are kept, and read again; None for nowhere.
    """

    tasks: Sequence[str] = ("all",)
    systems: Sequence[str] = ("short",)
    split: Split = "dev"
    settings: Sequence[Setting] = SETTINGS
    budgets: Sequence[int] = BUDGETS
    questions: int | None = None
    documents: int | None = None
    data: Path | None = None
    cache: Path | None = None
    model: str | None = None
    dtype: str = "float32"
    noise: Noise | None = None
    together: bool = False
    run: Path | None = None

    @property
    def cache_folder(self) -> Path:
        """Where vectors and answers are kept."""
        return self.cache or cache_folder() / "eval"

    @cached_property
    def vectors(self) -> Vectors:
        """The vectors that are kept."""
        return Vectors(self.cache_folder / "vectors.sqlite")

    @cached_property
    def factory(self) -> SystemFactory:
        """Makes the systems."""
        catalogue, _ = chosen(self.systems)
        return SystemFactory(self.vectors, model=self.model, dtype=self.dtype, catalogue=catalogue)

    def names(self) -> list[str]:
        """Names of the systems, each once.

        Raises:
            InputError: one of them is unknown.
        """
        return chosen(self.systems)[1]

    def loaded(self, usual: Sequence[str] = SPAN_TASKS) -> list[tuple[Task, int]]:
        """The tasks, each with the number of questions that ``questions`` leaves out.

        Args:
            usual: the meaning of ``all``.

        Raises:
            InputError: two tasks of one name, which results could not tell apart.
        """
        found = []
        for name in self._task_names(usual):
            whole = load(name, self.split, data_folder(self.data))
            task = take(whole, self.questions, self.documents)
            task = task if self.noise is None else noisy(task, self.noise)
            found.append((task, len(whole.questions) - len(task.questions)))
        for name, count in Counter(task.name for task, _ in found).items():
            if count > 1:
                raise InputError(
                    f"{count} of the tasks are named {name!r}",
                    "another file name, or each task once",
                )
        if self.together:
            joined = together([task for task, _ in found])
            return [(joined, sum(left_out for _, left_out in found))]
        return found

    def _task_names(self, usual: Sequence[str]) -> list[str]:
        names = [
            each
            for name in self.tasks
            for each in (usual if name == "all" else (name,))
            if name != "all" or self.split == "test" or each not in TEST_ONLY
        ]
        return list(dict.fromkeys(names))

    def records(
        self,
        progress: Callable[[str, str, int, int], None] | None = None,
        say: Callable[[str], object] = lambda note: None,
    ) -> Iterator[Record]:
        """Measure; one record per task, setting and system, in this order.

        Args:
            progress: called with system, task, number of questions asked and in all.
            say: called with the notes of each task.

        Raises:
            InputError: a system or task cannot be made, or a task has none of the
                settings; raised before anything is measured.
        """
        names = self.names()
        loaded = [(task, left_out, self._settings(task)) for task, left_out in self.loaded()]
        systems = [self.factory.make(name) for name in names]
        kept = None if self.run is None else Run(self.run, {"budgets": list(self.budgets)})
        catalogue, _ = chosen(self.systems)
        contents = {
            task.name: _digest((task.split, task.questions, task.documents))
            for task, _, _ in loaded
        }
        for task, left_out, settings in loaded:
            for note in task.notes:
                say(f"{task.name}: {note}")
            for size in set(self.settings) - {*settings, *SETTINGS}:
                say(f"{task.name}: not asked among {size} documents, as it has fewer or no spans")
            for setting in settings:
                for system in systems:

                    def on_progress(
                        done: int, of: int, at: tuple[str, str] = (system.name, task.name)
                    ) -> None:
                        if progress is not None:
                            progress(*at, done, of)

                    key = f"{system.name}, {task.name}, {setting}, " + _digest(
                        (catalogue.row(system.name), system.fingerprint, contents[task.name])
                    )
                    if kept is not None and key in kept:
                        yield from_value(kept[key], f"{self.run}, {key}")
                        continue
                    record = evaluate(
                        system,
                        task,
                        setting,
                        budgets=self.budgets,
                        left_out=left_out,
                        vectors=self.vectors,
                        progress=on_progress,
                    )
                    if kept is not None:
                        kept.add(key, to_value(record))
                    yield record

    def _settings(self, task: Task) -> list[Setting]:
        wanted = [setting for setting in self.settings if task.has(setting)]
        if not wanted:
            raise InputError(
                f"task {task.name} cannot be asked in the setting {self.settings[0]!r}",
                f"--setting {task.settings[0]}",
            )
        return wanted


def _digest(parts: object) -> str:
    """Tells a system or task from one of the same name that is another."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def check_metric(name: str, budgets: Sequence[int], settings: Sequence[Setting]) -> str:
    """The name of a metric, as records have it.

    Raises:
        InputError: the metric is unknown (with the nearest known one), or not of these settings.
    """
    known = [f"{each}@{budget}" for budget in budgets for each in AT_BUDGET]
    known += [*AT_RANK, *OF_SENTENCES, *OF_DOCUMENTS, *OF_PROBABILITIES]
    if name not in known:
        raise InputError(f"unknown metric {name!r}", f"{nearest(name, known)}milepost eval list")
    if name in OF_DOCUMENTS and set(settings) == {"document"}:
        raise InputError(f"{name} ranks documents of a collection", "--setting collection")
    return name


def check_plot(path: Path) -> None:
    """Check that a plot can be drawn and written, before hours of measuring.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the file cannot be written.
    """
    require("matplotlib", extra="eval")
    check_output(path)


def data_folder(given: Path | None) -> Path | None:
    """The folder of the tasks: the one given, else the environment's."""
    named = os.environ.get("MILEPOST_DATA")
    return given or (expanded(named) if named else None)
