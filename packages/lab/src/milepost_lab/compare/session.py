"""Runs of tasks × rows × seeds that are not in the cache yet; each is stored when it is done.

Seeds are the outer loop, so an interrupted comparison has all rows with fewer seeds. Tasks that
train on the same pairs (documents at three lengths) share one training. What cannot be trained or
measured is left out, and the rest is made.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from milepost.errors import InputError
from milepost_eval.provenance import commit, machine, today
from milepost_lab.compare.cache import Asked, ResultCache, Run
from milepost_lab.compare.controls import Reader, control
from milepost_lab.compare.fitting import Chosen, Fit, Fitter, parted
from milepost_lab.compare.images import Measure
from milepost_lab.compare.material import Material
from milepost_lab.compare.pooled import Pooled
from milepost_lab.compare.reading import Text, TokenReader
from milepost_lab.compare.recipe import CompareRecipe
from milepost_lab.compare.rows import TRAINED, CompareRow
from milepost_lab.compare.scores import figures, scores
from milepost_lab.compare.states import States
from milepost_lab.pooling.registry import source_of

Progress = Callable[[str, str, int, int], None]
"""Called with the row, the task, the steps done and the number of steps."""

_LAST = 5  # steps whose mean is the loss in the end
_VERSION = "1"
"""Version of the code that determines the figures; a new one invalidates all runs."""
_REVISIONS: dict[str, int] = {}
"""Operator → number of changes to its computation or its training within the version.

A change raises the number by one, which invalidates the runs of this operator only.
"""


@dataclass
class Session:
    """A comparison.

    Args:
        reader: of the requested network.
        materials: the tasks of texts.
        measures: other tasks, which are skipped without training.
        recipe: the same for all rows.
        cache: of the runs that are done.
        trained: whether to train.
        save: folder that gets the trained poolings; see ``--save``.
        progress: see ``Progress``.
        note: called with a line about each task and row that cannot be compared, once.

    Attributes:
        left_out: tasks that cannot be trained on, and rows that failed, each with its tasks.
    """

    reader: TokenReader
    materials: Sequence[Material]
    measures: Sequence[Measure]
    recipe: CompareRecipe
    cache: ResultCache
    trained: bool = True
    save: Path | None = None
    progress: Progress = lambda doing, task, done, of: None
    note: Callable[[str], None] = lambda line: None
    left_out: list[str] = field(default_factory=list)
    _readers: dict[str, Reader] = field(default_factory=dict)
    _states: dict[tuple[str, str], tuple[States, States]] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)

    def agree(self, settings: Mapping[str, str]) -> None:
        """Refuse to mix runs of other settings or texts with new ones; call it before ``run``.

        Args:
            settings: see ``ResultCache.agree``.

        Raises:
            InputError: the cache has runs of others; they stay.
        """
        self.cache.agree(settings)
        for material in self.materials:
            known = self.cache.asked.get(material.name)
            if known and known.key != self._digest(material) and self.cache.of(material.name):
                raise InputError(
                    f"{self.cache.path} holds runs of {material.name} on other texts, or by a "
                    "network with other weights",
                    "--data and --model as they were, or another --json FILE",
                )

    def run(self, rows: Sequence[CompareRow], seeds: Sequence[int]) -> None:
        """Make every run that is not in the cache.

        Raises:
            InputError: no task can be trained on.
        """
        groups = self._groups()
        for material in chain.from_iterable(groups):
            self.cache.ask(self._asked(material))
        for other in self.measures:
            self.cache.ask(other.asked)
        self._drop_older(rows)
        for seed in seeds:
            for row in rows:
                if seed == seeds[0] or self.trained or row.known.trains:
                    self._row(row, seed, groups)
                else:
                    self._repeat(row, seeds[0], seed)

    def _groups(self) -> list[list[Material]]:
        """Tasks that train alike, together; without those that cannot be trained on."""
        trainings = dict.fromkeys(material.training for material in self.materials)
        groups = [[task for task in self.materials if task.training == one] for one in trainings]
        problems = [self._problem(group[0]) if self.trained else None for group in groups]
        failed = [problem for problem in problems if problem is not None]
        if failed and len(failed) == len(groups) and not self.measures:
            raise failed[0]
        for group, problem in zip(groups, problems, strict=True):
            if problem is not None:
                self._leave_out(_names(group), problem)
        return [group for group, problem in zip(groups, problems, strict=True) if problem is None]

    def _problem(self, task: Material) -> InputError | None:
        """Why a task cannot be trained on, if it cannot."""
        pairs = len(task.pairs)
        among = len(parted(pairs)[0]) if self.recipe.rates else pairs
        if among >= self.recipe.batch:
            return None
        rest = f" ({pairs - among} are for validation)" if among < pairs else ""
        return InputError(
            f"{task.name} has {among} pairs to train on{rest}, fewer than a batch of "
            f"{self.recipe.batch}",
            "--data PATH with more pairs, or --no-train",
        )

    def _leave_out(self, what: str, error: InputError) -> None:
        if what not in self.left_out:
            self.left_out.append(what)
            self.note(f"{what} is left out: {error}")

    @contextmanager
    def _or_left_out(self, row: CompareRow, tasks: str) -> Iterator[None]:
        """A row that fails on a task must not stop the others."""
        try:
            yield
        except InputError as error:
            self._leave_out(f"{row.name} on {tasks}", error)

    def _repeat(self, row: CompareRow, first: int, seed: int) -> None:
        """Store a row's runs of the first seed for another: they do not depend on it."""
        for run in list(self.cache.runs):
            if (run.row, run.seed, run.trained) == (row.name, first, False):
                key = self._key(row, run.task, seed)
                if not self.cache.has(key):
                    self.cache.add(replace(run, seed=seed, key=key))

    def _drop_older(self, rows: Sequence[CompareRow]) -> None:
        """Drop runs of these rows by another recipe, for all seeds: a mean must not mix recipes."""
        asked = {row.name: row for row in rows}

        def current(run: Run) -> bool:
            row = asked.get(run.row)
            if row is None or run.trained != self.trained:
                return True
            return run.key == self._key(row, run.task, run.seed)

        self.cache.keep(current)

    def _row(self, row: CompareRow, seed: int, groups: Sequence[Sequence[Material]]) -> None:
        for tasks in groups:
            left: Sequence[Material]
            left = [task for task in tasks if not self.cache.has(self._key(row, task.name, seed))]
            if not left and self.save is not None and not self._place(row, tasks[0], seed).exists():
                left = tasks
            if left:
                with self._or_left_out(row, _names(tasks)):
                    self._texts(row, seed, left)
        for other in self.measures if self.trained else ():
            key = self._key(row, other.asked.task, seed)
            if other.fits(row) and not self.cache.has(key):
                with self._or_left_out(row, other.asked.task):
                    self._other(row, seed, other, key)

    def _other(self, row: CompareRow, seed: int, task: Measure, key: str) -> None:
        """Train and measure a task on other data than text."""
        self.progress(row.name, f"{task.asked.task} {seed}", 0, 1)
        begun = time.perf_counter()
        found = task.measure(row, seed)
        self.cache.add(
            Run(
                row=row.name,
                task=task.asked.task,
                seed=seed,
                trained=True,
                key=key,
                reads="",
                asks=False,
                width=0,
                parameters=0,
                losses=(),
                figures={task.asked.metric: found},
                seconds=(time.perf_counter() - begun, 0.0),
                made=_made(),
            )
        )

    def _texts(self, row: CompareRow, seed: int, tasks: Sequence[Material]) -> None:
        """Train once, and measure the tasks that train alike."""
        sides = self._training(row, tasks[0])  # read before the clock starts
        begun = time.perf_counter()
        fit = self._fitted(row, seed, tasks, sides)
        if fit is None:
            line = f"{row.name} gives vectors that can be compared with a query only after training"
            if line not in self._noted:
                self._noted.add(line)
                self.note(line)
            return
        trained_in = time.perf_counter() - begun if fit.losses else 0.0
        measured = False
        for task in tasks:
            with self._or_left_out(row, task.name):
                self._measure(row, seed, task, fit, trained_in)
                measured = True
        if self.save is not None and measured:
            self._save(fit, self._place(row, tasks[0], seed))

    def _measure(
        self, row: CompareRow, seed: int, task: Material, fit: Fit, trained_in: float
    ) -> None:
        """Score a task with a pooling, and store the run."""
        pooled, losses, chosen = fit.pooled, fit.losses, fit.chosen
        queries, texts = self._read(row, task.name, task.queries, task.texts, fit.reader)
        begun = time.perf_counter()
        found = scores(pooled, queries, texts, partial(self._scored, row, task))
        if not np.isfinite(found).all():
            raise InputError(
                f"{row.name} gives NaN or infinite scores on {task.name}", "--pool without it"
            )
        last = losses[-_LAST:]
        self.cache.add(
            Run(
                row=row.name,
                task=task.name,
                seed=seed,
                trained=self.trained,
                key=self._key(row, task.name, seed),
                reads=pooled.reads,
                asks=pooled.asks,
                width=pooled.out,
                parameters=pooled.parameters_of_pooling,
                losses=(losses[0], sum(last) / len(last)) if last else (),
                figures=figures(found, task.right, task.grades),
                seconds=(trained_in, time.perf_counter() - begun),
                made=_made(),
                rate=chosen.rate if chosen else None,
                tried={str(rate): one for rate, one in chosen.tried.items()} if chosen else {},
                curve=fit.curve,
                flat=fit.flat.flat if fit.flat else None,
            )
        )

    def _fitted(
        self, row: CompareRow, seed: int, tasks: Sequence[Material], sides: tuple[States, States]
    ) -> Fit | None:
        """The pooling of a row, trained if that is asked for; None if it needs a training."""
        if not self.trained:
            pooled = Pooled(row, sides[1], seed, None, as_index=self.recipe.as_index)
            return Fit(pooled, (), (), None, None) if pooled.comparable else None
        if self.recipe.network != "frozen" and row.network != TRAINED:
            raise InputError(f"{row.name}: only the network of --model is trained", "--no-controls")
        fitter = Fitter(row, tasks[0].pairs, sides, self.recipe, self.reader)
        chosen = self._chosen(row, tasks[0].training)
        return fitter.fit(seed, chosen, partial(self.progress, row.name))

    def _chosen(self, row: CompareRow, training: str) -> Chosen | None:
        """The learning rate that an earlier seed chose on these training pairs, if one did."""
        names = {task.name for task in self.materials if task.training == training}
        for run in self.cache.runs:
            if run.row == row.name and run.task in names and run.trained and run.rate is not None:
                return Chosen(run.rate, {float(rate): one for rate, one in run.tried.items()})
        return None

    def _place(self, row: CompareRow, task: Material, seed: int) -> Path:
        """Where the pooling of a run is saved."""
        first = next(each for each in self.materials if each.training == task.training)
        name = re.sub(r"[^\w.+@=-]", "-", f"{row.name}-{first.name}-{seed}")
        return (self.save or Path()) / f"{name}.npz"

    def _save(self, fit: Fit, file: Path) -> None:
        """Write a pooling, and beside it the network that was trained with it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        if fit.reader is not None:
            fit.reader.save(file.with_suffix(""))
        fit.pooled.pool.reference().save(file)

    def _scored(self, row: CompareRow, task: Material, done: int) -> None:
        self.progress(row.name, task.name, done, len(task.texts))

    def _training(self, row: CompareRow, task: Material) -> tuple[States, States]:
        """States of the training pairs; where there are none, of what is asked and ranked.

        Without training they only say how wide states are and where their middle lies.
        """
        if not task.pairs:
            return self._read(row, task.name, task.queries, task.texts)
        queries, texts = zip(*task.pairs, strict=True)
        return self._read(row, task.training, queries, texts)

    def _read(
        self,
        row: CompareRow,
        name: str,
        queries: Sequence[Text],
        texts: Sequence[Text],
        trained: TokenReader | None = None,
    ) -> tuple[States, States]:
        """States of queries and of texts under the row's network, or that trained for the row."""
        if trained is not None:
            told = partial(self.progress, f"reading for {row.name}", name)
            return trained.states(queries, told), trained.states(texts, told)
        if (row.network, name) not in self._states:
            reader = self._reader(row.network)
            told = partial(self.progress, f"reading {row.network}".rstrip(), name)
            self._states[row.network, name] = (
                reader.states(queries, told),
                reader.states(texts, told),
            )
        return self._states[row.network, name]

    def _reader(self, network: str) -> Reader:
        if network == TRAINED:
            return self.reader
        if network not in self._readers:
            self._readers[network] = control(network, self.reader)
        return self._readers[network]

    def _asked(self, material: Material) -> Asked:
        sizes = [sum(map(len, text)) for text in material.texts]
        return Asked(
            material.name,
            self._digest(material),
            material.training,
            tuple(material.names),
            tuple(material.clusters),
            len(material.texts),
            int(np.median(sizes)),
            split=material.split,
        )

    def _digest(self, material: Material) -> str:
        told: tuple[Any, ...] = (self.reader.identity, material, _VERSION)
        if material.grades:
            told += (material.grades,)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def _key(self, row: CompareRow, task: str, seed: int) -> str:
        known = self.cache.asked[task].key
        recipe = self.recipe if self.trained else None
        settings = row.known.settings(dict(row.settings))
        told: tuple[Any, ...] = (known, row.name, sorted(settings.items()), recipe, seed)
        if self.recipe.as_index and not self.trained:
            told += ("index",)
        if code := source_of(row.known):
            told += (code,)
        if row.operator in _REVISIONS:
            told += (_REVISIONS[row.operator],)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _names(tasks: Sequence[Material]) -> str:
    return ", ".join(task.name for task in tasks)


def _made() -> str:
    return f"{today()}, commit `{commit()}`, {machine()}, {torch.get_num_threads()} threads"
