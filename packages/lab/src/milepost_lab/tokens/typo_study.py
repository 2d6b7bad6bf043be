"""The cost of typing errors in questions: words from spelling, n-grams, a subword model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import torch

from milepost.text import split
from milepost_eval.types import Question, Task
from milepost_lab.controls.encoders import text_of
from milepost_lab.controls.kinds import Kind, Pretrained
from milepost_lab.model.bytes.stack import StackShape
from milepost_lab.model.bytes.word_encoder import WordReader
from milepost_lab.model.bytes.words import split_words
from milepost_lab.tokens.sentence_search import Asked, Finder, Recall, Words, asked_of, recall, tune
from milepost_lab.tokens.typos import RATES, typos


@dataclass(frozen=True, slots=True)
class TypoRow:
    """A finder at one rate of errors.

    Attributes:
        finder: its name.
        rate: share of letters with an error.
        found: share of questions whose evidence is found.
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
        steps: of training, 8 questions each.
        width: d.
        questions: drawn from the task, at most.
        seed: of weights and draws.
        name: for tables.
        progress: called with the steps that are done.
    """
    finder = _drawn(width, seed, name)
    asked = asked_of(train, questions, seed)
    tune(finder, asked, steps=steps, batch=8, seed=seed, progress=progress)
    return finder


def control_words(
    kind: Kind,
    *,
    steps: int = 150,
    width: int = 64,
    seed: int = 0,
    name: str = "WordPool",
    progress: Callable[[int], None] = lambda _: None,
) -> Words:
    """A control of ``trained_words``: as it was drawn, or trained alike on text without meaning.

    Args:
        kind: see ``lab.controls.KINDS``.
        steps: of training, 8 questions each; none where the weights stay as drawn.
        width: d.
        seed: of weights, text and draws.
        name: of the row whose control it is.
        progress: called with the steps that are done.
    """
    finder = _drawn(width, seed, f"{name}@{kind}")
    if kind != "random":
        asked = asked_without_meaning(kind, 60_000, seed)
        tune(finder, asked, steps=steps, batch=8, seed=seed, progress=progress)
    return finder


def asked_without_meaning(kind: Pretrained, size: int, seed: int = 0) -> list[Asked]:
    """Every sentence of a text without meaning, asked for by half of its words in another order.

    What can be learned of these is that words are the same, and brackets their own.

    Args:
        kind: of text.
        size: bytes of it, at least; ten lines are a document.
        seed: of the text, and of which words ask.
    """
    rng = np.random.default_rng(seed)
    lines = text_of(kind, size, seed).decode().splitlines(keepends=True)
    found: list[Asked] = []
    for place in range(0, len(lines), 10):
        text = "".join(lines[place : place + 10])
        for start, end in split(text):
            words = [word.text for word in split_words(text[start:end]) if word.kind == "word"]
            half = rng.permutation(len(words))[: (len(words) + 1) // 2]
            found.append(Asked(" ".join(words[n] for n in half), text, (start, end)))
    return found


def _drawn(width: int, seed: int, name: str) -> Words:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        reader = WordReader(StackShape(width, 2 * width, 4, width // 4), window=96)
    return Words(reader, name)


def typo_table(
    finders: Sequence[Finder],
    task: Task,
    *,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda _, __, ___: None,
) -> list[TypoRow]:
    """Ask every finder the same questions with the same errors.

    Args:
        finders: what is compared.
        task: documents and questions; documents are left as they are.
        rates: shares of letters hit.
        seed: of the errors; a question's do not depend on the others'.
        progress: called with what is done, rows done and rows in all.
    """
    rows: list[TypoRow] = []
    for finder in finders:
        for rate in rates:
            progress(f"{finder.name}, {rate:.0%} errors", len(rows), len(finders) * len(rates))

            def hit(question: Question, rate: float = rate) -> str:
                rng = np.random.default_rng([seed, crc32(question.name.encode())])
                return typos(question.text, rate, rng)

            rows.append(TypoRow(finder.name, rate, recall(finder, task, hit)))
    return rows
