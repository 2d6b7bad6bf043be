"""Each rival at its best: one procedure for all, on development questions only.

A family is a name with ``tuned`` in the place of its unit. Its candidates are asked every
development question with the document given; the one with the highest evidence recall (mean of
the budgets, then of the tasks) is chosen, one for all tasks, as a user would set it up once.
Two things are tuned in a second round, with what did best in the first: k1 and b of words, and the
windows in which late chunking reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from milepost.errors import InputError, nearest
from milepost_eval import where
from milepost_eval.metrics import BUDGETS
from milepost_eval.names import Workshop, parse
from milepost_eval.run import ask
from milepost_eval.tasks.protocol import for_tuning
from milepost_eval.tuned import Tuned
from milepost_eval.types import Task

SIZES = (
    "sentence",
    "200",
    "400",
    "400-100",
    "800",
    "800-200",
    "1600",
    "2000",
    "recursive:400-100",
    "recursive:1000-200",
    "semantic:400",
    "semantic:800",
)
"""Units tried: whole sentences packed, with and without overlap, and two libraries' splitters."""

SPARSE = ("sentence", "200", "400", "800", "semantic:400")
"""Units of a learned sparse model, whose weights are kept no longer than a process lasts."""

LATE = ("sentence", "200", "400", "800", "1600")
"""Units of late chunking: whole sentences, so that one pass gives all."""

MODELS = ("minilm", "e5", "landmark")
READ_LATE = ("minilm", "landmark")
"""Models that late chunking is tuned with: for e5 it takes longer than all else together."""
WEIGHTS = ("/0.5", "", "/2", "/4")
FREE = tuple((k1, b) for k1 in (0.9, 1.5) for b in (0.4, 0.9))
WINDOWS = (32, 64, 128)
"""Tokens of a window of late chunking, beside the length that the model reads: a model that was
trained on short texts finds more in short windows. Milepost's own has its windows."""


def families() -> dict[str, list[str]]:
    """Every family with its candidates of the first round.

    Where vectors and words are joined, unit and weight are chosen together.
    """
    found: dict[str, list[str]] = {
        "bm25:tuned": [f"bm25:{unit}" for unit in SIZES],
        "bm25s:tuned": [f"bm25s:{unit}" for unit in SIZES],
    }
    for model in MODELS:
        found[f"sentence:tuned@{model}+bm25"] = [f"sentence@{model}+bm25{w}" for w in WEIGHTS]
        found[f"sentence-window:tuned@{model}"] = [
            f"sentence-window:{size}@{model}" for size in (1, 2, 3, 5)
        ]
        late = (("late-chunk", LATE),) if model in READ_LATE else ()
        for base, units in (("chunk", SIZES[1:]), *late):
            alone = [f"{base}:{unit}@{model}" for unit in units]
            found[f"{base}:tuned@{model}"] = alone
            found[f"{base}:tuned@{model}+bm25"] = [
                f"{name}+bm25{weight}" for name in alone for weight in WEIGHTS
            ]
            found[f"{base}:tuned@{model}+bm25/rank"] = [f"{name}+bm25/rank" for name in alone]
    sparse = [f"splade:{unit}" for unit in SPARSE]
    found["splade:tuned"] = sparse
    found["splade:tuned+bm25"] = [f"{name}+bm25{weight}" for name in sparse for weight in WEIGHTS]
    found["splade:tuned+bm25/rank"] = [f"{name}+bm25/rank" for name in sparse]
    return found


def tune(
    tasks: Sequence[Task],
    workshop: Workshop,
    *,
    only: Sequence[str] = (),
    known: Tuned | None = None,
    progress: Callable[[str, float], None] | None = None,
    save: Callable[[Tuned], None] | None = None,
) -> Tuned:
    """Choose every family's best candidate.

    Args:
        tasks: none of them of the test split.
        workshop: makes the systems.
        only: families of these models or bases alone, such as ``e5`` or ``bm25``; none for all.
        known: what was tuned before, with the same model and dtype. If the questions are the same,
            the families whose candidates it has are kept.
        progress: called with each candidate and its figure.
        save: called after each family with what is known by then.

    Raises:
        InputError: a task of the test split, or no family of that model or base.
    """
    wanted = _families(only)
    asked = [for_tuning(task) for task in tasks]

    def figure(name: str) -> float:
        value = fmean(_recall(name, task, workshop) for task in asked)
        if progress is not None:
            progress(name, value)
        return value

    questions = hashed(asked)
    before = known if known is not None and known.questions == questions else None
    made = Tuned(
        choices=dict(before.choices) if before else {},
        grids=dict(before.grids) if before else {},
        tasks={task.name: (len(task.questions), len(task.documents)) for task in asked},
        questions=questions,
        date=where.today(),
        commit=where.commit(),
    )
    for family, candidates in wanted.items():
        if before is not None and set(candidates) <= before.grids.get(family, {}).keys():
            continue
        grid = {name: figure(name) for name in candidates}
        best = max(grid, key=grid.__getitem__)
        grid |= {name: figure(name) for name in second_round(best)}
        rounded = {name: round(value, 4) for name, value in grid.items()}
        made = _with(made, family, max(grid, key=grid.__getitem__), rounded)
        if save is not None:
            save(made)
    return made


def _families(only: Sequence[str]) -> dict[str, list[str]]:
    """The families of some models or bases; none for all."""
    found = families()
    names = {family: {parse(family).base, parse(family).model} for family in found}
    unknown = [name for name in only if not any(name in each for each in names.values())]
    if unknown:
        known = sorted({name for each in names.values() for name in each if name})
        raise InputError(
            f"nothing of {unknown[0]!r} is tuned",
            f"{nearest(unknown[0], known)}one of {', '.join(known)}",
        )
    return {
        family: candidates
        for family, candidates in found.items()
        if not only or names[family].intersection(only)
    }


def _with(tuned: Tuned, family: str, choice: str, grid: Mapping[str, float]) -> Tuned:
    return replace(
        tuned,
        choices={**tuned.choices, family: choice},
        grids={**tuned.grids, family: grid},
    )


def hashed(tasks: Sequence[Task]) -> str:
    """What tells one set of questions from another: sha256 of their names."""
    names = sorted(f"{task.name} {q.name}" for task in tasks for q in task.questions)
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def second_round(best: str) -> Iterator[str]:
    """Names like the one that did best, with other numbers of what is tuned last.

    >>> list(second_round("late-chunk:200@minilm"))[:2]
    ['late-chunk-w32:200@minilm', 'late-chunk-w64:200@minilm']
    """
    base, _, rest = best.partition(":")
    if base == "bm25":
        yield from (f"bm25-k{k1}-b{b}:{rest}" for k1, b in FREE)
    if base == "late-chunk" and parse(best).model != "landmark":
        yield from (f"late-chunk-w{tokens}:{rest}" for tokens in WINDOWS)


def _recall(name: str, task: Task, workshop: Workshop) -> float:
    figures = ask(workshop.make(name), task, "document", budgets=BUDGETS).figures
    return fmean(fmean(figures[f"recall@{budget}"]) for budget in BUDGETS)
