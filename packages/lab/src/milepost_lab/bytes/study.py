"""``milepost lab tokens pool``: byte models of toy languages, tuned in one, tested in others.

The languages share one grammar and no byte, so only structure can transfer. Controls: random
weights, words without meaning, and nested brackets.
"""

from __future__ import annotations

import copy
import string
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from milepost.cli.console.options import count_option
from milepost_eval.statistics import interval
from milepost_lab.bytes.model import accuracy, byte_model, normalised, pretrain, tune
from milepost_lab.runner import Report, Run, study

LANGUAGES, LETTERS = 4, 23
NOUNS, VERBS = 10, 6
CONTROLS = ("random", "nonsense", "brackets")


@study(
    "pool",
    "Compare byte encoders of toy languages with controls.",
    "milepost lab tokens pool --seeds 5",
    seeds=3,
)
@count_option("--size", 60_000, "Bytes of each corpus.")
@count_option("--steps", 200, "Steps of pre-training.")
@count_option("--tuning", 60, "Steps of tuning on agreement of subject and verb.")
@count_option("--languages", 3, "Toy languages, 4 at most.")
def command(run: Run, size: int, steps: int, tuning: int, languages: int) -> Report:
    """Pre-train a model a corpus by span corruption; tune each in every language and test there.

    A row is the corpus of pre-training; the task is whether the verb agrees with its subject.
    """
    count = min(languages, LANGUAGES)
    targets = [f"language {n}" for n in range(count)]
    sources = [*targets, *CONTROLS]
    found = {
        source: run.per_seed(
            source.replace(" ", "-"), partial(measured, source, count, size, steps, tuning)
        )
        for source in sources
    }
    means = np.array([np.mean(found[source], axis=0) for source in sources])
    gains = normalised(means, means[sources.index("random")])
    rows: list[dict[str, Any]] = [
        {
            "pre-trained on": source,
            **{
                target: interval([one[n] for one in found[source]])
                for n, target in enumerate(targets)
            },
            "normalised, others": float(np.nanmean([gains[at, n] for n in range(count) if n != at]))
            if at < count and count > 1
            else None,
        }
        for at, source in enumerate(sources)
    ]
    return Report(rows)


def measured(
    source: str, languages: int, size: int, steps: int, tuning: int, seed: int
) -> list[float]:
    """Accuracy of one pre-trained model in each language, tuned there on 400 sentences."""
    model = byte_model(seed=seed)
    if source != "random":
        pretrain(model, corpus(source, size, seed), steps, seed)
    found = []
    for number in range(languages):
        tuned = copy.deepcopy(model)
        texts, labels = agreement(number, 400, seed)
        head = tune(tuned, texts, labels, tuning, seed)
        found.append(accuracy(tuned, head, *agreement(number, 400, seed + 1000)))
    return found


def corpus(name: str, size: int, seed: int) -> bytes:
    """At least ``size`` bytes: sentences of a language, words without meaning, or brackets."""
    rng = np.random.default_rng(seed)
    if name.startswith("language"):
        number = int(name.split()[1])
        parts: Iterator[str] = (sentence(number, rng, agrees=True) for _ in range(10**9))
    else:
        parts = _nonsense(rng) if name == "nonsense" else _brackets(rng)
    pieces: list[str] = []
    length = 0
    for part in parts:
        pieces.append(part)
        length += len(part)
        if length >= size:
            break
    text = "".join(pieces)
    return text.encode()


def nonsense_word(number: int) -> str:
    """Three digits in base 26, least significant first: 0 aaa, 1 baa, 26 aba, 676 aab."""
    letters = string.ascii_lowercase
    return letters[number % 26] + letters[number // 26 % 26] + letters[number // 676 % 26]


def _nonsense(rng: np.random.Generator) -> Iterator[str]:
    """Sentences of 10±5 words out of 15 drawn ones of 5,000."""
    while True:
        few = rng.integers(0, 5000, 15)
        words = [nonsense_word(int(few[n])) for n in rng.integers(0, 15, rng.integers(5, 16))]
        yield " ".join(words) + ". "


def _brackets(rng: np.random.Generator, depth: int = 8) -> Iterator[str]:
    """Nested pairs ``a … A``, at most ``depth`` deep."""
    while True:
        stack: list[str] = []
        row, length = "", int(rng.integers(20, 81))
        while stack or len(row) < length:
            if len(row) < length and len(stack) < depth and (not stack or rng.random() < 0.5):
                stack.append(string.ascii_lowercase[int(rng.integers(26))])
                row += stack[-1]
            else:
                row += stack.pop().upper()
        yield row + ".\n"


def words_of(number: int) -> tuple[list[str], list[str], tuple[str, str], str, str]:
    """Stems of nouns and verbs, both marks of number, space and stop of a language.

    Language 1 is language 0 in other characters, letter by letter.
    """
    letters = [chr(33 + LETTERS * number + n) for n in range(LETTERS)]
    rng = np.random.default_rng(1)  # the same words in every language
    stems: list[str] = []
    while len(stems) < NOUNS + VERBS:
        stem = "".join(letters[int(rng.integers(19))] for _ in range(int(rng.integers(3, 6))))
        if stem not in stems:
            stems.append(stem)
    return stems[:NOUNS], stems[NOUNS:], (letters[19], letters[20]), letters[21], letters[22]


def sentence(number: int, rng: np.random.Generator, *, agrees: bool) -> str:
    """Subject, sometimes a noun of the other number in between, verb, object."""
    nouns, verbs, marks, space, stop = words_of(number)
    plural = int(rng.integers(2))

    def noun(count: int) -> str:
        return nouns[int(rng.integers(NOUNS))] + marks[count]

    words = [noun(plural)]
    if rng.random() < 0.25:
        words.append(noun(1 - plural))  # the nearest noun misleads
    words.append(verbs[int(rng.integers(VERBS))] + marks[plural if agrees else 1 - plural])
    words.append(noun(int(rng.integers(2))))
    return space.join(words) + stop


def agreement(number: int, count: int, seed: int) -> tuple[list[str], list[int]]:
    """Sentences of a language and whether subject and verb agree."""
    rng = np.random.default_rng([seed, number])
    labels = rng.integers(0, 2, count).tolist()
    return [sentence(number, rng, agrees=bool(label)) for label in labels], labels
