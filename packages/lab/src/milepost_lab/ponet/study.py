"""PoNet's mixing compared with rivals: accuracy, and cost by text length.

Every mixer reads the same generated texts in the same order, with equally many parameters and
steps, at the learning rate that suits it best on validation texts. ``ponet, cut at random`` gets as
many segments at random places, to measure the effect of their structure. ``ponet@random`` and the
other untrained baselines train only the linear head, over a frozen encoder that is random or
pre-trained on texts without meaning.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from milepost.errors import InputError, nearest
from milepost_lab.best_rate import at_best_rate
from milepost_lab.controls.kinds import Pretrained, parted, rows_below
from milepost_lab.controls.symbol_training import pretrain, symbols, text_bytes
from milepost_lab.model.pooling.module import padded
from milepost_lab.ponet.mixers import Classifier, count, layer
from milepost_lab.ponet.peak_memory import PeakMemory
from milepost_lab.ponet.texts import KINDS, Example, Kind, numbered, recut
from milepost_train.fit_steps import fit_steps
from milepost_train.schedule import rate_share

RANDOM = "ponet, cut at random"
LEARNING = ("attention", "fft", "aggregation", "ponet", RANDOM)
"""Rows of the table of accuracies; ``plain`` attention computes what ``attention`` does."""

CONTROLS = rows_below("ponet")
"""Untrained baselines below them: only the linear head is trained, over a frozen encoder."""

_SIZE = 20_000  # tokens that a control is pre-trained on
_SEGMENT = 16  # tokens of a segment of that text
_HELD_OUT = 1 << 20  # held-out texts have seeds from here on
_VALIDATION = 1 << 21  # validation texts have seeds from here on
_ASKED = 64  # texts per batch in evaluation


@dataclass(frozen=True, slots=True)
class PonetRecipe:
    """The recipe of every mixer.

    Attributes:
        longest: maximum tokens of a text.
        steps: optimizer steps; a control's encoder is pre-trained for as many.
        batch: texts per step.
        rates: peak learning rates to choose from with the first seed; a warm-up over a tenth of the
            steps, then a cosine to 0.
        width, heads, layers: sizes of the encoder.
        held_out: number of texts that accuracy is measured on; as many others choose the rate.
    """

    longest: int = 96
    steps: int = 100
    batch: int = 32
    rates: tuple[float, ...] = (1e-3, 2.5e-3, 5e-3, 1e-2)
    width: int = 64
    heads: int = 2
    layers: int = 2
    held_out: int = 512


@dataclass(frozen=True, slots=True)
class Learned:
    """Accuracy of a mixer on a kind of texts.

    Attributes:
        mixer: name of the row.
        kind: kind of texts.
        accuracies: share of held-out texts whose class is right, for each seed.
        rate: the chosen learning rate.
        parameters: number of trained parameters.
        milliseconds: median time of a step; processor time, so that other work does not count.
        padding: greatest change of a score when texts are padded to twice the batch's length.
    """

    mixer: str
    kind: str
    accuracies: tuple[float, ...]
    rate: float
    parameters: int
    milliseconds: float
    padding: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of one layer, forward and backward, for one text.

    Attributes:
        mixer: name of the mixer.
        tokens: length of the text.
        milliseconds: processor time, the shortest of the runs.
        megabytes: peak size of all tensors, without parameters.
    """

    mixer: str
    tokens: int
    milliseconds: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class _Training:
    """A model, its rate, its loss on validation texts, and the seconds of each step."""

    rate: float
    loss: float
    model: Classifier
    seconds: list[float]


def learn(
    mixer: str,
    kind: str,
    recipe: PonetRecipe,
    seeds: Sequence[int],
    say: Callable[[str, int, int], None] = lambda doing, done, of: None,
) -> Learned:
    """Train a mixer with each seed.

    Args:
        mixer: one of ``LEARNING``; ``NAME@random`` and so on for a control of it.
        kind: one of ``KINDS``.
        recipe: the same for all.
        seeds: seeds of weights and texts.
        say: called with the current work, the amount done and the total.

    Raises:
        InputError: no such kind, mixer or control.
    """
    if kind not in KINDS:
        raise InputError(
            f"unknown texts {kind!r}",
            f"{nearest(kind, tuple(KINDS))}one of {', '.join(KINDS)}",
        )
    texts = KINDS[kind]
    whole = (len(recipe.rates) + len(seeds) - 1) * recipe.steps
    begun = itertools.count()

    def train(rate: float, seed: int) -> _Training:
        done = next(begun) * recipe.steps
        model, times = _trained(
            mixer,
            texts,
            recipe,
            rate,
            seed,
            lambda step: say(f"{kind} {mixer}", done + step, whole),
        )
        judges = _texts(mixer, texts, Random(_VALIDATION + seed), recipe, recipe.held_out)
        return _Training(rate, _measured(model, judges)[1], model, times)

    found = at_best_rate(train, recipe.rates, seeds, lambda done, of: None)
    held_out = [
        _texts(mixer, texts, Random(_HELD_OUT + seed), recipe, recipe.held_out) for seed in seeds
    ]
    return Learned(
        mixer,
        kind,
        tuple(_measured(one.model, own)[0] for one, own in zip(found, held_out, strict=True)),
        found[0].rate,
        count(found[0].model),
        1000 * float(np.median([second for one in found for second in one.seconds])),
        _moved_by_padding(found[-1].model, held_out[-1][:8]),
    )


def cost(name: str, tokens: int, *, width: int = 64, heads: int = 2, runs: int = 3) -> Cost:
    """Time and memory of one layer for one text with segments of 32 tokens.

    Args:
        name: one of ``MIXERS``.
        tokens: length of the text.
        width: width of the layer.
        heads: heads of the layer.
        runs: timed runs, after a first one that measures memory.
    """
    torch.manual_seed(0)
    made = layer(name, width, heads)
    states = torch.randn(1, tokens, width)
    mask = torch.ones(1, tokens, dtype=torch.bool)
    segments = torch.arange(tokens)[None] // 32

    def once() -> None:
        given = states.clone().requires_grad_(True)
        made(given, mask, segments).sum().backward()
        made.zero_grad(set_to_none=True)

    with PeakMemory() as memory:
        once()
    passed = []
    for _ in range(runs):
        begun = time.process_time()
        once()
        passed.append(time.process_time() - begun)
    # A coarse clock may measure 0, from which no growth can be computed.
    least = time.get_clock_info("process_time").resolution
    return Cost(name, tokens, 1000 * max(least, min(passed)), memory.peak / 1e6)


def lengths_of(words: str) -> list[int]:
    """Parse ``--lengths``: whole numbers separated by commas, returned in ascending order.

    Raises:
        InputError: something else.

    >>> lengths_of("1024, 256")
    [256, 1024]
    """
    try:
        found = sorted({int(word) for word in words.split(",") if word.strip()})
    except ValueError:
        found = [0]
    if found and found[0] < 1:
        raise InputError(f"{words!r} is not a list of lengths", "256,1024,4096")
    return found


def growth(costs: Sequence[Cost]) -> dict[str, tuple[float, float]]:
    """Exponents of time and memory in the length, from the two longest texts of a mixer.

    1 is linear, 2 is quadratic: ``log(y2 / y1) / log(n2 / n1)``.
    """
    found = {}
    for name in dict.fromkeys(each.mixer for each in costs):
        own = sorted((each for each in costs if each.mixer == name), key=lambda each: each.tokens)
        if len(own) > 1:
            one, two = own[-2:]
            longer = np.log(two.tokens / one.tokens)
            found[name] = (
                float(np.log(two.milliseconds / one.milliseconds) / longer),
                float(np.log(two.megabytes / one.megabytes) / longer),
            )
    return found


def _trained(
    mixer: str,
    kind: Kind,
    recipe: PonetRecipe,
    rate: float,
    seed: int,
    say: Callable[[int], None],
) -> tuple[Classifier, list[float]]:
    """Train a model; also return the seconds of each step."""
    name, control = parted(mixer)
    torch.manual_seed(seed)
    model = Classifier(
        "ponet" if name == RANDOM else name,
        kind.vocabulary,
        kind.classes,
        width=recipe.width,
        heads=recipe.heads,
        layers=recipe.layers,
    )
    if control is not None:
        if control != "random":
            _pretrain(model, control, kind, recipe, seed)
        model.requires_grad_(False)
        model.head.requires_grad_(True)
    learned = [weight for weight in model.parameters() if weight.requires_grad]
    random, times = Random(seed), []

    def loss(step: int) -> Tensor:
        say(step)
        ids, mask, segments, labels = _batch(_texts(mixer, kind, random, recipe, recipe.batch))
        times.append(-time.process_time())
        return F.cross_entropy(model(ids, mask, segments), labels)

    def stop(step: int, _: float) -> None:
        times[step] += time.process_time()

    adam = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
    fit_steps(adam, recipe.steps, loss, share=rate_share, clipped=learned, on_step=stop)
    return model.eval(), times


def _pretrain(
    model: Classifier, control: Pretrained, kind: Kind, recipe: PonetRecipe, seed: int
) -> None:
    """Pre-train the encoder to restore exchanged tokens; all segments have the same length."""
    if kind.in_bytes:
        text = text_bytes(control, _SIZE, seed)
    else:
        text = symbols(control, _SIZE, kind.vocabulary, seed)

    def read(ids: Tensor) -> Tensor:
        segments = torch.arange(ids.shape[1]).expand_as(ids) // _SEGMENT
        return model.states(ids, torch.ones_like(ids, dtype=torch.bool), segments)

    encoder = [
        each for part in (model.table, model.norm, model.layers) for each in part.parameters()
    ]
    pretrain(
        read,
        encoder,
        text,
        width=recipe.width,
        kinds=kind.vocabulary,
        causal=False,
        steps=recipe.steps,
        seed=seed,
    )


def _texts(
    mixer: str, kind: Kind, random: Random, recipe: PonetRecipe, number: int
) -> list[Example]:
    """Draw texts, the same for all mixers except for the cuts of ``RANDOM``."""
    made = [kind.make(random, recipe.longest) for _ in range(number)]
    if mixer != RANDOM:
        return made
    # A separate generator, so that later texts stay the same as those of the other mixers.
    cuts = Random(str(made[0].ids))
    return [recut(example, cuts) for example in made]


def _batch(examples: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pad texts to a batch: ids, mask, segments and labels."""
    ids, lengths = padded([torch.tensor(example.ids) for example in examples])
    segments, _ = padded([torch.tensor(numbered(example.segments)) for example in examples])
    mask = torch.arange(ids.shape[1])[None] < lengths[:, None]
    return ids, mask, segments, torch.tensor([example.label for example in examples])


@torch.no_grad()
def _measured(model: Classifier, examples: Sequence[Example]) -> tuple[float, float]:
    """Measure accuracy and mean loss on texts."""
    right, lost = 0, 0.0
    for at in range(0, len(examples), _ASKED):
        ids, mask, segments, labels = _batch(examples[at : at + _ASKED])
        scores = model(ids, mask, segments)
        right += int((scores.argmax(1) == labels).sum())
        lost += float(F.cross_entropy(scores, labels, reduction="sum"))
    return right / len(examples), lost / len(examples)


@torch.no_grad()
def _moved_by_padding(model: Classifier, examples: Sequence[Example]) -> float:
    """Greatest change of a score when texts are padded to twice the batch's length."""
    ids, mask, segments, _ = _batch(examples)
    more = [F.pad(each, (0, ids.shape[1])) for each in (ids, mask, segments)]
    return float((model(*more) - model(ids, mask, segments)).abs().max())
