"""``milepost lab ponet``: token mixers on generated texts, and the cost of a layer.

ListOps (arXiv 1804.06028) and byte-level texts of a topic have natural segments: the arguments of
an operation, and sentences. ``random segments`` is PoNet with as many segments cut at random.
"""

from __future__ import annotations

import string
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from statistics import fmean, median
from typing import Any, NamedTuple

import click
import torch
import torch.nn.functional as F
from torch import Tensor

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_eval.statistics import corrected, over_seeds
from milepost_lab.ponet.model import MIXERS, Classifier, EncoderLayer
from milepost_lab.pooling.base import padded
from milepost_lab.runner import Report, Run, study
from milepost_lab.training import best_rate, fit, parameters

RANDOM = "random segments"
LEARNING = ("attention", "fft", "aggregation", "ponet", RANDOM)
RATES = (1e-3, 2.5e-3, 5e-3, 1e-2)
OPERATIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "MIN": min,
    "MAX": max,
    "MED": lambda values: int(median(values)),
    "SM": lambda values: sum(values) % 10,
}
"""ListOps: the median rounded down, the sum's last digit."""
CLOSING = 10 + len(OPERATIONS)
"""The token ``]``. Digits are the ids 0 to 9, and operations follow them."""
TOPICS, HELD_OUT, BATCH = 6, 512, 32


class Example(NamedTuple):
    """A labelled text: token ids, its class, and the number of tokens in each segment."""

    ids: list[int]
    label: int
    segments: list[int]


@study(
    "ponet",
    "Compare token mixers: PoNet, attention, Fourier.",
    "milepost lab ponet --texts topics --longest 256 --steps 600 --seeds 5",
    "milepost lab ponet --texts none --lengths 1024,4096,16384",
)
@click.option(
    "--texts", type=click.Choice(["listops", "topics", "none"]), default="topics", help="Learned."
)
@count_option("--longest", 96, "Maximum length of a text in tokens.", minimum=64)
@count_option("--steps", 100, "Training steps of 32 texts.")
@click.option("--lengths", default="256,1024,4096", help="Lengths at which a layer is timed.")
def command(run: Run, texts: str, longest: int, steps: int, lengths: str) -> Report:
    """Train small encoders that differ only in their token mixer, and time one layer of each.

    All have the same number of parameters, and each its best of four learning rates, chosen on
    other texts with the first seed.
    """
    try:
        sizes = sorted({int(word) for word in lengths.split(",") if word.strip()})
    except ValueError:
        raise InputError(f"{lengths!r} is not a list of lengths", "256,1024,4096") from None
    costs = {
        f"{name} {n}": run.cached(f"cost-{name}-{n}", partial(cost, name, n))
        for name in MIXERS
        for n in sizes
    }
    if texts == "none":
        return Report(
            [
                {"mixer and tokens": name, "ms": ms, "parameters": count}
                for name, (ms, count) in costs.items()
            ]
        )
    found: dict[str, list[float]] = {}
    for mixer in LEARNING:
        train = partial(learn, mixer, texts, longest, steps)
        rate = run.cached(f"rate-{mixer}", partial(_chosen_rate, train, run.seeds[0]))
        found[mixer] = run.per_seed(mixer, partial(_accuracy, train, rate))
    over = corrected(
        {n: over_seeds(found["ponet"], some) for n, some in found.items() if n != "ponet"}
    )
    rows: list[dict[str, Any]] = [
        {
            "mixer": name,
            "accuracy": fmean(some),
            "PoNet less it": over.get(name),
            "p, Holm": over[name].adjusted if name in over else None,
            "detectable": over[name].detectable if name in over else None,
            **{f"ms at {n:,}": costs[f"{name} {n}"][0] if name in MIXERS else None for n in sizes},
        }
        for name, some in found.items()
    ]
    return Report(rows, record={"costs": costs, "of seeds": found})


def _chosen_rate(train: Callable[[float, int], tuple[float, float]], seed: int) -> float:
    return best_rate(RATES, lambda rate: train(rate, seed)[1])


def _accuracy(train: Callable[[float, int], tuple[float, float]], rate: float, seed: int) -> float:
    return train(rate, seed)[0]


def learn(
    mixer: str, kind: str, longest: int, steps: int, rate: float, seed: int
) -> tuple[float, float]:
    """Train a mixer; accuracy on held-out texts, and loss on others that choose the rate."""
    vocabulary, classes = (CLOSING + 1, 10) if kind == "listops" else (128, TOPICS)
    torch.manual_seed(seed)
    model = Classifier("ponet" if mixer == RANDOM else mixer, vocabulary, classes)
    random = Random(seed)

    def loss(_: int) -> Tensor:
        ids, mask, segments, labels = batch(texts_of(kind, mixer, random, longest, BATCH))
        return F.cross_entropy(model(ids, mask, segments), labels)

    fit(list(model.parameters()), loss, steps, rate, decay=0.01)
    model.eval()
    found = []
    for offset in (1_000_000, 2_000_000):
        judges = texts_of(kind, mixer, Random(offset + seed), longest, HELD_OUT)
        with torch.no_grad():
            ids, mask, segments, labels = batch(judges)
            scores = model(ids, mask, segments)
        right = (scores.argmax(1) == labels).float().mean().item()
        found.append((right, F.cross_entropy(scores, labels).item()))
    return found[0][0], found[1][1]


def cost(name: str, tokens: int, runs: int = 3) -> list[float]:
    """Processor milliseconds of one layer, forward and backward, and its number of parameters."""
    torch.manual_seed(0)
    layer = EncoderLayer(name, 64, 2)
    states = torch.randn(1, tokens, 64, requires_grad=True)
    mask, segments = torch.ones(1, tokens, dtype=torch.bool), torch.arange(tokens)[None] // 32
    times = []
    for _ in range(runs + 1):
        begun = time.process_time()
        layer(states, mask, segments).sum().backward()
        times.append(time.process_time() - begun)
    return [1000 * min(times[1:]), float(parameters(layer))]


def texts_of(kind: str, mixer: str, random: Random, longest: int, count: int) -> list[Example]:
    """Draw texts, the same for all mixers except for the cuts of ``RANDOM``."""
    make = list_of_operations if kind == "listops" else text_of_a_topic
    made = [make(random, longest) for _ in range(count)]
    if mixer != RANDOM:
        return made
    cuts = Random(str(made[0].ids))  # its own, so that later texts stay those of other mixers
    return [recut(example, cuts) for example in made]


def batch(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pad texts: ids, mask and segments ``(b, n)``, labels ``(b,)``."""
    ids, mask = padded([torch.tensor(example.ids) for example in examples])
    cut = [
        torch.arange(len(each.segments)).repeat_interleave(torch.tensor(each.segments))
        for each in examples
    ]
    return ids, mask, padded(cut)[0], torch.tensor([example.label for example in examples])


def list_of_operations(random: Random, longest: int) -> Example:
    """``[MAX 4 3 [MIN 2 3 ] 1 0 ]`` → 4, of at most ``longest`` tokens; segments are arguments."""
    ids, label, parts = _operation(random, longest, 1.0)
    return Example(ids, label, [1, *parts, 1])


def _operation(random: Random, room: int, nested: float) -> tuple[list[int], int, list[int]]:
    """Draw an operation: its tokens, its value, and the number of tokens in each argument."""
    number = random.randrange(len(OPERATIONS))
    parts: list[list[int]] = []
    values: list[int] = []
    room -= 2
    for left in range(random.randint(2, min(5, room)), 0, -1):
        part = room // left
        if part >= 4 and random.random() < nested:
            tokens, value, _ = _operation(random, part, 0.25)
        else:
            value = random.randrange(10)
            tokens = [value]
        room -= len(tokens)
        parts.append(tokens)
        values.append(value)
    operation = tuple(OPERATIONS.values())[number]
    ids = [10 + number, *(each for part in parts for each in part), CLOSING]
    return ids, operation(values), [len(part) for part in parts]


def text_of_a_topic(random: Random, longest: int) -> Example:
    """Bytes of sentences, most of them about one topic; segments are sentences.

    On average half of a sentence's words belong to its topic. The words of a topic never change.
    """
    label = random.randrange(TOPICS)
    sentences: list[str] = []
    while True:
        topic = label if random.random() < 0.7 or not sentences else random.randrange(TOPICS)
        words = (
            random.choice(_WORDS[topic] if random.random() < 0.5 else _COMMON)
            for _ in range(random.randint(3, 6))
        )
        sentence = " ".join(words).capitalize() + ". "
        if sum(map(len, sentences)) + len(sentence) > longest:
            break
        sentences.append(sentence)
    return Example(list("".join(sentences).encode()), label, list(map(len, sentences)))


def recut(example: Example, random: Random) -> Example:
    """Cut the same text at random into as many segments."""
    inside = random.sample(range(1, len(example.ids)), len(example.segments) - 1)
    edges = [0, *sorted(inside), len(example.ids)]
    return example._replace(segments=[end - at for at, end in pairwise(edges)])


def _vocabulary(name: str, count: int) -> list[str]:
    random = Random(name)
    return [
        "".join(random.choices(string.ascii_lowercase, k=random.randint(3, 7)))
        for _ in range(count)
    ]


_COMMON = _vocabulary("common", 60)
_WORDS = [_vocabulary(f"topic {number}", 20) for number in range(TOPICS)]
