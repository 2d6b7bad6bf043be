"""What typing errors in questions cost: words from spelling, n-grams, and a subword model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import torch

from milepost.evaluate.types import Question, Task
from milepost.lab.noise import RATES, typos
from milepost.lab.sentence_search import Finder, Recall, Words, asked_of, recall, tune
from milepost.model.bytes.stack import StackShape
from milepost.model.bytes.word_encoder import WordReader


@dataclass(frozen=True, slots=True)
class Row:
    """A finder at one rate of errors.

    Attributes:
        finder: its name.
        rate: share of letters hit.
        found: how often the evidence is found.
    """

    finder: str
    rate: float
    found: Recall


def trained_words(
    train: Task,
    *,
    steps: int = 150,
    width: int = 64,
    questions: int = 2000,
    seed: int = 0,
    name: str = "WordPool",
    progress: Callable[[int], None] = lambda _: None,
) -> Words:
    """A small ``WordReader`` from scratch: it has read nothing but these questions' documents.

    Args:
        train: a task with marked evidence.
        steps: of training, 8 questions each; with 0 it stays as it was drawn, as a control.
        width: d.
        questions: drawn from the task, at most.
        seed: of weights and draws.
        name: for tables.
        progress: called with the steps that are done.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = WordReader(StackShape(width, 2 * width, 4, width // 4), window=96)
    finder = Words(reader, name)
    asked = asked_of(train, questions, seed)
    tune(finder, asked, steps=steps, batch=8, seed=seed, progress=progress)
    return finder


def noise_table(
    finders: Sequence[Finder],
    task: Task,
    *,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda _, __, ___: None,
) -> list[Row]:
    """Ask every finder the same questions with the same errors.

    Args:
        finders: what is compared.
        task: documents and questions; documents are left as they are.
        rates: shares of letters hit.
        seed: of the errors; a question's do not depend on the others'.
        progress: called with what is done, rows done and rows in all.
    """
    rows: list[Row] = []
    for finder in finders:
        for rate in rates:
            progress(f"{finder.name}, {rate:.0%} errors", len(rows), len(finders) * len(rates))

            def hit(question: Question, rate: float = rate) -> str:
                rng = np.random.default_rng([seed, crc32(question.name.encode())])
                return typos(question.text, rate, rng)

            rows.append(Row(finder.name, rate, recall(finder, task, hit)))
    return rows
