"""Words against bytes: the experiment of Learn Your Tokens (arXiv 2310.11628), without its leaks.

Every arm has nearly the same parameters, sees the same windows of bytes in the same order, and is
scored on every byte of documents that no arm has been trained on:

    bits a byte        -log2 P(bytes, ends of pieces) / bytes
    right words        the greedy guess gives every byte of the next word and then its end

Ends of pieces are part of a word model's text: they say where words end. Where the cut is drawn at
random it says nothing of the text, so its ends are given and not scored; a fixed stride's ends cost
next to nothing. ``end_bits`` tells what they cost.

``ARM@random``, ``ARM@nonsense`` and ``ARM@hierarchical`` are controls: the arm's network as it was
drawn, or pre-trained in the same way on text without meaning; its last layer alone reads the
corpus, so that the layers below know nothing of the language.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from milepost.errors import InputError, nearest
from milepost.evaluate.statistics import interval
from milepost.lab.controls.encoders import text_of
from milepost.lab.controls.kinds import Kind, parted, rows_below
from milepost.lab.tokens.units import (
    BUCKETS,
    Corpus,
    Cut,
    Window,
    bucket,
    mean_length,
    pieces,
    windows_of,
)
from milepost.model.bytes.encoder import padded_ids
from milepost.model.bytes.stack import StackShape, parameters
from milepost.model.bytes.tokenizer import END, OFFSET, PAD, encode
from milepost.model.bytes.word_model import ByteStream, WordModel, loss, nats
from milepost.model.bytes.words import Word
from milepost.train.fit_steps import fit_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

Model = WordModel | ByteStream


@dataclass(frozen=True, slots=True)
class Arm:
    """A model to compare: how text is cut and pooled.

    Attributes:
        name: for tables.
        cut: where it is cut.
        pooling: how bytes become a piece's vectors.
        prefixes: vectors a piece.
        published_mask: pad as the authors' code does.
    """

    name: str
    cut: Cut
    pooling: str = "wordpool"
    prefixes: int = 1
    published_mask: bool = False


ARMS: dict[str, Arm] = {
    arm.name: arm
    for arm in (
        Arm("words", "words"),
        Arm("bytes", "bytes"),
        Arm("stride", "stride"),
        Arm("random", "random"),
        Arm("words-mean", "words", pooling="mean"),
        Arm("words-2", "words", prefixes=2),
        Arm("words-4", "words", prefixes=4),
        Arm("words-published", "words", published_mask=True),
    )
}
"""Every arm by its name; the last four are ablations."""

MAIN = ("words", "bytes", "stride", "random")
"""The arms of the question itself."""

CONTROLS = rows_below("words")
"""Names of their controls."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings of all arms.

    Attributes:
        width: d of the states.
        window: bytes of context.
        batch: windows a step.
        steps: of AdamW at ``rate``, no decay; a control is pre-trained for as many.
        rate: learning rate.
        seeds: how many, of weights and batches.
        seed: the first.
    """

    width: int = 48
    window: int = 128
    batch: int = 8
    steps: int = 150
    rate: float = 3e-3
    seeds: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.width % 4:
            raise InputError(
                f"a width of {self.width} cannot be divided into 4 heads", "a multiple of 4"
            )
        if self.steps < 1 or self.seeds < 1:
            raise InputError("no step or no seed", "1 of each or more")


@dataclass(frozen=True, slots=True)
class Score:
    """Measurements of an arm on a corpus; means of the seeds.

    Attributes:
        arm: its name.
        parameters: numbers it trains.
        places: of attention: cells of all score matrices of one window on average, one head.
        bits: bits a byte, ends included where they count.
        low, high: 95 % interval of bits; windows are resampled.
        end_bits: the ends' share of them.
        right: bucket → share of right words, its interval, and how many words there are.
        seconds: of training, a step.
    """

    arm: str
    parameters: int
    places: float
    bits: float
    low: float
    high: float
    end_bits: float
    right: Mapping[str, tuple[float, float, float, int]]
    seconds: float


@dataclass(slots=True)
class _Found:
    """Measurements of one model on the test windows."""

    bits: list[float] = field(default_factory=list)  # of each window, ends included
    ends: list[float] = field(default_factory=list)  # of each window, the ends' part
    right: list[float] = field(default_factory=list)  # of each scored word


Progress = Callable[[str, int, int], None]
"""Called with what is done, steps done and steps in all."""


def compare(
    corpus: Corpus,
    setup: Setup,
    arms: Sequence[str] = MAIN,
    progress: Progress = lambda _, __, ___: None,
) -> list[Score]:
    """Train and measure every arm.

    Raises:
        InputError: an unknown arm or control.
    """
    known = [_known(name) for name in arms]
    train, test = (windows_of(texts, setup.window) for texts in (corpus.train, corpus.test))
    stride, seen = mean_length(train), corpus.counts()
    scored = [
        (number, seen[word.text]) for number, window in enumerate(test) for word in _asked(window)
    ]
    sizes = [len(window.data) for window in test]
    scores: list[Score] = []
    for name, (arm, control) in zip(arms, known, strict=True):
        found, seconds = [], 0.0
        for seed in range(setup.seed, setup.seed + setup.seeds):
            model = build(arm, setup, seed)
            if control is not None:
                _freeze(model, arm, control, train, stride, setup, seed)

            def doing(done: int, name: str = name, seed: int = seed) -> None:
                progress(f"{corpus.name}: {name}, seed {seed}", done, setup.steps)

            seconds += _train(model, arm, train, stride, setup, seed, doing) / setup.steps
            found.append(_measure(model, arm, test, stride, seed))
        bits = np.mean([one.bits for one in found], 0)
        ratio = float(bits.sum() / sum(sizes))
        low, high = _ratio_interval(bits, sizes)
        scores.append(
            Score(
                name,
                parameters(model),
                float(np.mean([cells(arm, window, stride) for window in test])),
                ratio,
                low,
                high,
                float(np.mean([sum(one.ends) for one in found]) / sum(sizes)),
                _by_bucket(np.mean([one.right for one in found], 0), scored),
                seconds / setup.seeds,
            )
        )
    return scores


def _known(name: str) -> tuple[Arm, Kind | None]:
    row, control = parted(name)
    if row not in ARMS:
        raise InputError(f"unknown arm {row!r}", f"{nearest(row, ARMS)}one of {', '.join(ARMS)}")
    return ARMS[row], control


def _freeze(
    model: Model,
    arm: Arm,
    control: Kind,
    windows: Sequence[Window],
    stride: int,
    setup: Setup,
    seed: int,
) -> None:
    """Make an arm's control: only its last layer is left to train on the windows."""
    if control != "random":
        text = text_of(control, sum(len(window.data) for window in windows), seed)
        others = windows_of([text.decode()], setup.window)
        _train(model, arm, others, stride, setup, seed, lambda _: None)
    model.requires_grad_(False)
    model.head.requires_grad_(True)


def build(arm: Arm, setup: Setup, seed: int) -> Model:
    """An arm's network: of the byte model's layers as wide inside as brings it to equal size."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        shape = StackShape(setup.width, 2 * setup.width, 4, setup.width // 4)
        pooled = WordModel(
            shape,
            prefixes=arm.prefixes,
            pooling=arm.pooling,
            published_mask=arm.published_mask,
        )
        if arm.cut != "bytes":
            return pooled
        layers = 4
        narrow, wide = (parameters(_stream(shape, inner, layers)) for inner in (1, 2))
        inner = round(1 + (parameters(pooled) - narrow) / (wide - narrow))
        return _stream(shape, inner, layers)


def _stream(shape: StackShape, inner: int, layers: int) -> ByteStream:
    return ByteStream(replace(shape, inner=inner), layers=layers)


def cells(arm: Arm, window: Window, stride: int) -> int:
    """Cells of all attention matrices of one layer of each kind for a window, one head.

    Bytes: n². Pooled: ``(p + c)²`` a piece of c bytes in encoder and decoder, ``(p t)²`` between
    t pieces. A space is a piece: 128 words of 5 letters with theirs are 589,824 cells as bytes and
    75,776 in pieces of one vector; the 25,600 that the paper's form comes to leave spaces out.
    """
    if arm.cut == "bytes":
        return len(window.data) ** 2
    lengths = pieces(window, arm.cut, stride, np.random.default_rng(0))
    inside = sum((arm.prefixes + length) ** 2 for length in lengths)
    return 2 * inside + (arm.prefixes * len(lengths)) ** 2


def _units(arm: Arm, windows: Sequence[Window], stride: int, rng: np.random.Generator) -> Tensor:
    """Windows as the model reads them: ``(b, n)`` bytes or ``(b, t, c)`` bytes of pieces."""
    if arm.cut == "bytes":
        return padded_ids([encode(window.data, end=False) for window in windows])
    rows: list[list[list[int]]] = []
    for window in windows:
        ids = encode(window.data, end=False)
        ends = np.cumsum(pieces(window, arm.cut, stride, rng)).tolist()
        rows.append([ids[a:b] for a, b in zip([0, *ends], ends, strict=False)])
    count, canvas = max(map(len, rows)), max(len(piece) for row in rows for piece in row)
    units = torch.full((len(rows), count, canvas), PAD)
    for number, row in enumerate(rows):
        units[number, : len(row), : max(map(len, row))] = padded_ids(row)
    return units


def _train(
    model: Model,
    arm: Arm,
    windows: Sequence[Window],
    stride: int,
    setup: Setup,
    seed: int,
    progress: Callable[[int], None],
) -> float:
    """Seconds that training took; the batches are the same for every arm."""
    rng, cuts = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    learned = [weight for weight in model.parameters() if weight.requires_grad]

    def cost(_: int) -> Tensor:
        chosen = [windows[n] for n in rng.integers(0, len(windows), setup.batch)]
        return loss(model, _units(arm, chosen, stride, cuts))

    adam = torch.optim.AdamW(learned, lr=setup.rate, betas=(0.9, 0.95), weight_decay=0.0)
    begun = time.perf_counter()
    fit_steps(adam, setup.steps, cost, clipped=learned, on_step=lambda step, _: progress(step + 1))
    return time.perf_counter() - begun


def _measure(model: Model, arm: Arm, windows: Sequence[Window], stride: int, seed: int) -> _Found:
    found, rng = _Found(), np.random.default_rng(seed)
    model.eval()
    for window in windows:
        units = _units(arm, [window], stride, rng)
        with torch.no_grad():
            logits, targets = model(units), model.targets(units)
        costs = nats(logits, targets)[0].flatten().double().numpy() / math.log(2)
        wanted, guess = targets[0].flatten().numpy(), logits[0].argmax(-1).flatten().numpy()
        costs, guess, wanted = (rows[wanted != PAD] for rows in (costs, guess, wanted))
        end = wanted == END
        # What follows each byte: the end of its piece, or else the next byte.
        behind = np.flatnonzero(~end) + 1
        scored_ends = float(costs[end].sum()) if arm.cut != "random" else 0.0
        found.ends.append(scored_ends)
        found.bits.append(float(costs[~end].sum()) + scored_ends)
        right = (guess == wanted)[~end]
        next_guess = guess[np.minimum(behind, len(guess) - 1)]
        byte_guess = guess[~end]
        for word in _asked(window):
            last = word.last - 1
            closed = (
                next_guess[last] == END
                if arm.cut == "words"
                else not _continues(int(byte_guess[word.last]))
            )
            found.right.append(float(right[word.first : word.last].all() and closed))
    return found


def _asked(window: Window) -> list[Word]:
    """The words that are asked for: whole ones whose end every arm sees, so not a window's last.

    The pieces that ``split_words`` cuts a long word into are not whole words.
    """
    kinds = [None, *(word.kind for word in window.words)]
    return [
        word
        for word, before, following in zip(window.words, kinds, kinds[2:], strict=False)
        if word.kind == "word" and "word" not in (before, following)
    ]


def _continues(guess: int) -> bool:
    """Whether a guessed id goes on with a word: a letter, a digit, or part of a character."""
    byte = guess - OFFSET
    return byte >= 0x80 or (0 <= byte < 0x80 and chr(byte).isalnum())


def _ratio_interval(bits: NDArray[np.float64], sizes: Sequence[int]) -> tuple[float, float]:
    """Interval of bits a byte: windows are resampled, each byte counts alike."""
    values = np.repeat(bits / np.array(sizes), sizes).tolist()
    return interval(values, [str(n) for n, size in enumerate(sizes) for _ in range(size)])


def _by_bucket(
    right: NDArray[np.float64], scored: Sequence[tuple[int, int]]
) -> dict[str, tuple[float, float, float, int]]:
    found: dict[str, tuple[float, float, float, int]] = {}
    for name in (*BUCKETS, "all"):
        rows = [n for n, (_, count) in enumerate(scored) if name in ("all", bucket(count))]
        if rows:
            values = [float(right[n]) for n in rows]
            low, high = interval(values, [str(scored[n][0]) for n in rows])
            found[name] = (float(np.mean(values)), low, high, len(rows))
    return found
