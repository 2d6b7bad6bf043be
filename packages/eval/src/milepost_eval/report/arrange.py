"""Records of one run in the order of the report."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from milepost.errors import InputError, nearest
from milepost_eval.metrics import AT_BUDGET, AT_RANK, BUDGETS, OF_DOCUMENTS
from milepost_eval.records import Record
from milepost_eval.statistics import mean_over_tasks
from milepost_eval.types import SETTINGS

SETTING_NAMES = {
    "document": "The document is given: find the place",
    "collection": "The whole collection is searched: find document and place",
}
"""Setting → a heading."""

# Names come from files: control characters are no XML, and lone surrogates no UTF-8.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(name: str) -> str:
    """A name without characters that no page and no terminal can hold.

    >>> clean("a" + chr(7) + "b")
    'a�b'
    """
    return _UNPRINTABLE.sub("\ufffd", name)


@dataclass(frozen=True)
class Mean:
    """A mean over tasks, each counting the same, with its interval."""

    mean: float
    low: float
    high: float


class Run:
    """The records of one run, each found by setting, task and system.

    Args:
        records: one of each system, task and setting.

    Raises:
        InputError: no records, one of them twice, or records of two splits, which must
            not be mixed in one report.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = tuple(records)
        if not self.records:
            raise InputError("no records to report", "milepost eval run")
        self._found: dict[tuple[str, str, str], Record] = {}
        self._means: dict[tuple[str, str, str], Mean | None] = {}
        for record in self.records:
            key = (record.setting, record.task, record.system)
            if key in self._found:
                raise InputError(
                    f"two records of {record.system} on {record.task} ({record.setting})",
                    "the records of one run",
                )
            self._found[key] = record
        splits = sorted({record.split for record in self.records})
        if len(splits) > 1:
            raise InputError(
                f"records of several splits: {', '.join(splits)}",
                "the records of one split",
            )

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """Those that were measured, in their usual order."""
        there = dict.fromkeys(record.setting for record in self.records)
        return (*(s for s in SETTINGS if s in there), *(s for s in there if s not in SETTINGS))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Those that were measured: at budgets by budget, over ranks, over documents, others."""
        there = dict.fromkeys(name for record in self.records for name in record.metrics)
        usual = [f"{name}@{budget}" for budget in self.budgets for name in AT_BUDGET]
        usual += [*AT_RANK, *OF_DOCUMENTS]
        return (*(n for n in usual if n in there), *(n for n in there if n not in usual))

    @cached_property
    def budgets(self) -> tuple[int, ...]:
        """Budgets in characters at which evidence was looked for, ascending."""
        found = (re.fullmatch(r"recall@(\d+)", n) for r in self.records for n in r.metrics)
        return tuple(sorted({int(match[1]) for match in found if match}))

    def headline(self, setting: str) -> str | None:
        """The metric that orders systems in a setting: evidence found at the middle budget.

        None where nothing was measured of more than documents' names.
        """
        usual = BUDGETS[len(BUDGETS) // 2]
        middle = self.budgets[len(self.budgets) // 2] if self.budgets else 0
        wanted = f"recall@{usual if usual in self.budgets else middle}"
        for metric in (wanted, *self.metrics):
            if self.tasks(metric, setting):
                return metric
        return None

    def check(self, metric: str, setting: str) -> None:
        """Raise InputError for a metric or setting of which there is no record."""
        if setting not in self.settings:
            raise InputError(
                f"nothing was measured in the setting {setting!r}",
                f"one of {', '.join(self.settings)}",
            )
        if not self.tasks(metric, setting):
            raise InputError(
                f"no {metric!r} in the setting {setting!r}",
                f"{nearest(metric, self.metrics)}one of {', '.join(self.metrics)}",
            )

    def check_system(self, name: str) -> None:
        """Raise InputError for a system of which there is no record."""
        known = dict.fromkeys(record.system for record in self.records)
        if name not in known:
            raise InputError(
                f"no record of the system {name!r}",
                f"{nearest(name, known)}one of {', '.join(known)}",
            )

    def get(self, setting: str, task: str, system: str) -> Record | None:
        """The record, None where there is none."""
        return self._found.get((setting, task, system))

    def tasks(self, metric: str, setting: str) -> tuple[str, ...]:
        """Tasks of which any system has the metric, in the order of the records."""
        return tuple(
            dict.fromkeys(
                record.task
                for record in self.records
                if record.setting == setting and metric in record.metrics
            )
        )

    def systems(self, metric: str, setting: str) -> tuple[str, ...]:
        """Systems of which any task has the metric, best first by their mean over tasks.

        Those that miss tasks are last: their means are of easier or harder questions.
        """
        tasks = self.tasks(metric, setting)
        means: dict[str, list[float]] = {}
        for record in self.records:
            if record.setting == setting and metric in record.metrics:
                means.setdefault(record.system, []).append(record.metrics[metric])
        return tuple(
            sorted(means, key=lambda name: (len(means[name]) < len(tasks), -fmean(means[name])))
        )

    def mean(self, system: str, metric: str, setting: str) -> Mean | None:
        """Mean over tasks; None for a system that misses one of them."""
        key = (system, metric, setting)
        if key not in self._means:
            columns = {}
            for task in self.tasks(metric, setting):
                record = self.get(setting, task, system)
                if record is None or metric not in record.per_question.figures:
                    break
                values = record.per_question.figures[metric]
                columns[task] = (values, record.per_question.documents)
            else:
                self._means[key] = Mean(*mean_over_tasks(columns))
            self._means.setdefault(key, None)
        return self._means[key]

    def missing(self, metric: str, setting: str) -> tuple[tuple[str, str], ...]:
        """System and task of each figure that is not there, systems best first."""
        return tuple(
            (system, task)
            for system in self.systems(metric, setting)
            for task in self.tasks(metric, setting)
            if (record := self.get(setting, task, system)) is None or metric not in record.metrics
        )

    def clusters(self, task: str, setting: str) -> frozenset[str]:
        """Documents that the task's questions are about."""
        return frozenset(
            document
            for record in self.records
            if (record.task, record.setting) == (task, setting)
            for document in record.per_question.documents
        )

    def other_questions(self, metric: str, setting: str) -> tuple[str, ...]:
        """Tasks of which the systems were not asked the same questions."""
        asked: dict[str, set[frozenset[str]]] = {}
        for record in self.records:
            if record.setting == setting and metric in record.metrics:
                names = frozenset(record.per_question.names)
                asked.setdefault(record.task, set()).add(names)
        return tuple(task for task, different in asked.items() if len(different) > 1)
