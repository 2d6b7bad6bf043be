"""What is not done yet, done: tasks × rows × seeds, each written down when it is there.

Seeds are the outer loop: a comparison that is stopped has all rows with fewer seeds. Tasks that
train on the same pairs (documents at three lengths) share a training.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from milepost.errors import InputError
from milepost.evaluate.where import commit, machine, today
from milepost.lab.compare.cache import Asked, ResultCache, Run
from milepost.lab.compare.controls import Reader, control
from milepost.lab.compare.images import Measure
from milepost.lab.compare.material import Material
from milepost.lab.compare.reading import Text, TokenReader
from milepost.lab.compare.recipe import CompareRecipe, Pooled, train
from milepost.lab.compare.rows import TRAINED, CompareRow
from milepost.lab.compare.scores import figures, scores
from milepost.lab.compare.states import States

Progress = Callable[[str, str, int, int], None]
"""Told what is done (a row), to what (a task), how far, of how much."""

_LAST = 5  # steps whose mean is the loss in the end
_VERSION = "1"
"""Of the code that the figures hang on; another one makes all runs again."""
_REVISIONS: dict[str, int] = {}
"""Operator → how often what it computes, or how it is trained, has changed within the version.

A change raises its number by one: its runs are made again then, and those of no other.
"""


@dataclass
class Session:
    """A comparison.

    Args:
        reader: of the network asked for.
        materials: the tasks of texts.
        measures: other tasks; without training they are passed over.
        recipe: the same for all rows.
        book: where runs are.
        trained: whether to train.
        progress: told what is going on.
        note: told in a line what cannot be compared.

    Attributes:
        left_out: rows that could not be made, once a seed.
    """

    reader: TokenReader
    materials: Sequence[Material]
    measures: Sequence[Measure]
    recipe: CompareRecipe
    book: ResultCache
    trained: bool = True
    progress: Progress = lambda doing, task, done, of: None
    note: Callable[[str], None] = lambda line: None
    left_out: list[str] = field(default_factory=list)
    _readers: dict[str, Reader] = field(default_factory=dict)
    _states: dict[tuple[str, str], tuple[States, States]] = field(default_factory=dict)

    def run(self, rows: Sequence[CompareRow], seeds: Sequence[int]) -> None:
        """Make every run that the book does not hold."""
        for material in self.materials:
            self.book.ask(self._asked(material))
        for other in self.measures:
            self.book.ask(other.asked)
        self._drop_older(rows)
        for seed in seeds:
            for row in rows:
                # Without training and without weights of its own a row knows no seed.
                if seed == seeds[0] or self.trained or row.known.trains:
                    try:
                        self._row(row, seed)
                    except InputError as error:
                        # One row that cannot be must not cost the hour of all others.
                        self.left_out.append(row.name)
                        self.note(f"{row.name} is left out: {error}")

    def _drop_older(self, rows: Sequence[CompareRow]) -> None:
        """Runs of these rows by another recipe, whatever their seed: means mix no recipes."""
        asked = {row.name: row for row in rows}

        def current(run: Run) -> bool:
            row = asked.get(run.row)
            if row is None or run.trained != self.trained:
                return True
            return run.key == self._key(row, run.task, run.seed)

        self.book.keep(current)

    def _row(self, row: CompareRow, seed: int) -> None:
        for training in dict.fromkeys(material.training for material in self.materials):
            tasks = [task for task in self.materials if task.training == training]
            left = [task for task in tasks if not self.book.has(self._key(row, task.name, seed))]
            if left:
                self._texts(row, seed, left)
        for other in self.measures if self.trained else ():
            key = self._key(row, other.asked.task, seed)
            if other.fits(row) and not self.book.has(key):
                self._other(row, seed, other, key)

    def _other(self, row: CompareRow, seed: int, task: Measure, key: str) -> None:
        """Train and measure what is no text."""
        self.progress(row.name, f"{task.asked.task} {seed}", 0, 1)
        begun = time.perf_counter()
        found = task.measure(row, seed)
        self.book.add(
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
        if self.trained and len(tasks[0].pairs) < self.recipe.batch:
            raise InputError(
                f"{tasks[0].name} has {len(tasks[0].pairs)} pairs to train on, fewer than a batch "
                f"of {self.recipe.batch}",
                "ask for more pairs, or give more data",
            )
        sides = self._read(row, tasks[0].training, *zip(*tasks[0].pairs, strict=True))
        pooled = Pooled(row, sides[1], seed, self.recipe.width if self.trained else None)
        if not self.trained and not pooled.comparable:
            self.note(f"{row.name} gives vectors that compare with a query after training alone")
            return
        begun = time.perf_counter()
        losses: list[float] = []
        if self.trained:
            steps = self.recipe.steps
            losses = train(
                pooled,
                *sides,
                self.recipe,
                seed,
                lambda step: self.progress(row.name, f"training {seed}", step + 1, steps),
            )
        trained_in = time.perf_counter() - begun
        for task in tasks:
            queries, texts = self._read(row, task.name, task.queries, task.texts)
            begun = time.perf_counter()
            found = scores(
                pooled,
                queries,
                texts,
                partial(self._scored, row, task),
            )
            if not np.isfinite(found).all():
                raise InputError(
                    f"{row.name} gives scores that are no numbers on {task.name}", "leave it out"
                )
            self.book.add(
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
                    losses=(losses[0], sum(losses[-_LAST:]) / len(losses[-_LAST:]))
                    if losses
                    else (),
                    figures=figures(found, task.right),
                    seconds=(trained_in, time.perf_counter() - begun),
                    made=_made(),
                )
            )

    def _scored(self, row: CompareRow, task: Material, done: int) -> None:
        self.progress(row.name, task.name, done, len(task.texts))

    def _read(
        self, row: CompareRow, name: str, queries: Sequence[Text], texts: Sequence[Text]
    ) -> tuple[States, States]:
        """States of queries and of texts under the row's network."""
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
        )

    def _digest(self, material: Material) -> str:
        told = (self.reader.identity, material, _VERSION)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def _key(self, row: CompareRow, task: str, seed: int) -> str:
        known = self.book.asked[task].key
        recipe = self.recipe if self.trained else None
        settings = row.known.settings(dict(row.settings))
        told: tuple[Any, ...] = (known, row.name, sorted(settings.items()), recipe, seed)
        if row.operator in _REVISIONS:
            told += (_REVISIONS[row.operator],)
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _made() -> str:
    return f"{today()}, commit `{commit()}`, {machine()}, {torch.get_num_threads()} threads"
