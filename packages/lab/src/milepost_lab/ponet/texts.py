"""Generated texts with class labels: nested lists of operations, and byte-level texts of a topic.

Both have natural segments: the arguments of an operation, and sentences.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random
from statistics import median

from milepost.errors import InputError

OPERATIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "MIN": min,
    "MAX": max,
    "MED": lambda values: int(median(values)),
    "SM": lambda values: sum(values) % 10,
}
"""ListOps (arXiv 1804.06028): the median rounded down, the sum's last digit."""

CLOSING = 10 + len(OPERATIONS)
"""The token ``]``. Digits are the ids 0–9, and operations follow them."""

TOPICS = 6
_NESTED = 0.25
"""Share of lists among the arguments of an inner list, where there is room."""


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled text.

    Attributes:
        ids: token ids.
        label: number of its class.
        segments: number of tokens in each segment.
    """

    ids: tuple[int, ...]
    label: int
    segments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of texts.

    Attributes:
        vocabulary: number of token ids.
        classes: number of classes.
        make: random generator and maximum number of tokens → a text.
        in_bytes: whether tokens are ASCII bytes.
    """

    vocabulary: int
    classes: int
    make: Callable[[Random, int], Example]
    in_bytes: bool = False


def list_of_operations(random: Random, longest: int) -> Example:
    """``[MAX 4 3 [MIN 2 3 ] 1 0 ]`` → 4, of at most ``longest`` tokens; segments are arguments.

    Raises:
        InputError: fewer than 8 tokens.
    """
    if longest < 8:
        raise InputError(f"lists of {longest} tokens hold no list", "allow 8 or more")
    ids, label, parts = _operation(random, longest, 1.0)
    return Example(tuple(ids), label, (1, *parts, 1))


def text_of_a_topic(random: Random, longest: int) -> Example:
    """Bytes of sentences, most of them about one topic; segments are sentences.

    On average half of a sentence's words belong to its topic. The words of a topic never change.

    Raises:
        InputError: fewer than 64 bytes.
    """
    if longest < 64:
        raise InputError(f"texts of {longest} bytes hold no sentences", "allow 64 or more")
    label = random.randrange(TOPICS)
    sentences: list[str] = []
    while True:
        topic = label if random.random() < 0.7 or not sentences else random.randrange(TOPICS)
        count = random.randint(3, 6)
        words = (
            random.choice(_WORDS[topic] if random.random() < 0.5 else _COMMON) for _ in range(count)
        )
        sentence = " ".join(words).capitalize() + ". "
        if sum(map(len, sentences)) + len(sentence) > longest:
            break
        sentences.append(sentence)
    return Example(tuple("".join(sentences).encode()), label, tuple(map(len, sentences)))


KINDS = {
    "listops": Kind(CLOSING + 1, 10, list_of_operations),
    "topics": Kind(128, TOPICS, text_of_a_topic, in_bytes=True),
}
"""Kinds of texts by name."""


def recut(example: Example, random: Random) -> Example:
    """Cut the same text at random into as many segments."""
    inside = random.sample(range(1, len(example.ids)), len(example.segments) - 1)
    edges = [0, *sorted(inside), len(example.ids)]
    return replace(example, segments=tuple(end - at for at, end in pairwise(edges)))


def numbered(segments: Sequence[int]) -> list[int]:
    """The segment number of each token."""
    return [number for number, length in enumerate(segments) for _ in range(length)]


def _operation(random: Random, room: int, nested: float) -> tuple[list[int], int, list[int]]:
    """Draw an operation: its tokens, its value, and the number of tokens in each argument."""
    number = random.randrange(len(OPERATIONS))
    parts: list[list[int]] = []
    values: list[int] = []
    room -= 2
    count = random.randint(2, min(5, room))
    for left in range(count, 0, -1):
        share = room // left
        if share >= 4 and random.random() < nested:
            tokens, value, _ = _operation(random, share, _NESTED)
        else:
            value = random.randrange(10)
            tokens = [value]
        room -= len(tokens)
        parts.append(tokens)
        values.append(value)
    operation = tuple(OPERATIONS.values())[number]
    ids = [10 + number, *(each for part in parts for each in part), CLOSING]
    return ids, operation(values), [len(part) for part in parts]


def _vocabulary(random: Random, count: int) -> list[str]:
    return [
        "".join(random.choices(string.ascii_lowercase, k=random.randint(3, 7)))
        for _ in range(count)
    ]


_COMMON = _vocabulary(Random("common"), 60)
_WORDS = [_vocabulary(Random(f"topic {number}"), 20) for number in range(TOPICS)]
