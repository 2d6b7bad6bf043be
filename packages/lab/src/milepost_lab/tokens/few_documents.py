"""A task cut down to a few documents and questions, so that a small experiment ends soon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from milepost.errors import InputError
from milepost_eval.types import Task


def few(
    task: Task,
    documents: int,
    questions: int,
    *,
    seed: int = 0,
    where: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> Task:
    """So many documents at most and so many questions of each, drawn.

    Args:
        task: what is cut down.
        documents: at most.
        questions: of a document, at most.
        seed: of the draw.
        where: which documents may stay, by their ``Task.facts``.

    Raises:
        InputError: no document may stay.
    """
    rng = np.random.default_rng(seed)
    asked: dict[str, list[int]] = {}
    for number, question in enumerate(task.questions):
        asked.setdefault(question.document, []).append(number)
    fit = [one for one in task.documents if where(task.facts.get(one.name, {}))]
    fit = [one for one in fit if one.name in asked]
    if not fit:
        raise InputError(f"{task.name}: no such document with a question", "other documents")
    kept = {fit[n].name for n in rng.permutation(len(fit))[:documents]}
    numbers = [n for name in sorted(kept) for n in rng.permutation(asked[name])[:questions]]
    return replace(
        task,
        documents=tuple(one for one in task.documents if one.name in kept),
        questions=tuple(task.questions[n] for n in sorted(numbers)),
    )
