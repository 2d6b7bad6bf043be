"""Words, subwords and bytes: the experiment of Learn Your Tokens (2310.11628), without its leaks.

Every arm has nearly the same parameters, sees the same windows of bytes in the same order, and is
scored on every byte of documents that no arm has been trained on:

    bits a byte        -log2 P(bytes, ends of pieces) / bytes
    right words        the greedy guess gives every byte of the next word and then its end

Ends of pieces are part of a word model's text: they say where words end. Where the cut is drawn at
random it says nothing of the text, so its ends are given and not scored; a fixed stride's ends cost
next to nothing. ``end_bits`` tells what they cost.

Subwords (``subwords.py``) are scored as the vocabulary cuts the text. The same bytes in other
subwords are not counted, in bits as in right words: both figures are bounds, of what such a model
knows at least.

``ARM@random``, ``ARM@nonsense`` and ``ARM@hierarchical`` are controls: the arm's network as it was
drawn, or pre-trained in the same way on text without meaning; its last layer alone reads the
corpus, so that the layers below know nothing of the language.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from milepost.errors import InputError, nearest
from milepost_eval.statistics import Difference, corrected, difference, interval
from milepost_lab.controls.encoders import text_of
from milepost_lab.controls.kinds import Kind, parted
from milepost_lab.differences import over_trainings
from milepost_lab.model.bytes.stack import parameters
from milepost_lab.model.bytes.tokenizer import END, OFFSET, PAD
from milepost_lab.model.bytes.word_model import loss, nats
from milepost_lab.model.bytes.words import Word
from milepost_lab.pieces import Pieces, fingerprint
from milepost_lab.tokens.lm_arms import (
    ARMS,
    MAIN,
    Arm,
    Cutting,
    Model,
    Setup,
    build,
    cells,
    cutting_of,
    units,
)
from milepost_lab.tokens.units import BUCKETS, Corpus, Window, bucket, windows_of
from milepost_train.fit_steps import fit_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

BASE = "words"
"""The arm that every other one is compared with."""

RIGHT, BITS = "right words", "bits a byte"
"""The measures."""

_VERSION = 1
"""Of what the figures depend on here; a new one does not go on with what an older one kept."""


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """All arms on one corpus.

    Attributes:
        scores: of each arm.
        gains: measure → ``words - ARM`` → difference, corrected for all of the measure. First the
            windows are resampled, for means of the seeds; then the seeds, where there are several.
    """

    scores: list[Score]
    gains: Mapping[str, Mapping[str, Difference]]


@dataclass(slots=True)
class _Found:
    """Measurements of one trained model on the test windows."""

    bits: list[float] = field(default_factory=list)  # of each window, ends included
    ends: list[float] = field(default_factory=list)  # of each window, the ends' part
    right: list[float] = field(default_factory=list)  # of each scored word
    parameters: int = 0  # that were trained
    seconds: float = 0.0  # of training, a step


Progress = Callable[[str, int, int], None]
"""Called with what is done, steps done and steps in all."""


def compare(
    corpus: Corpus,
    setup: Setup,
    arms: Sequence[str] = MAIN,
    progress: Progress = lambda _, __, ___: None,
    folder: Path | None = None,
) -> Comparison:
    """Train and measure every arm.

    Args:
        corpus: what is read.
        setup: of all arms.
        arms: names of arms and controls.
        progress: see ``Progress``.
        folder: keeps finished trainings; None keeps nothing.

    Raises:
        InputError: an unknown arm or control, a vocabulary that does not fit, or a folder that
            holds trainings with other settings.
    """
    known = [_known(name) for name in arms]
    for arm, _ in known:
        build(arm, setup, setup.seed)  # what does not fit is refused before anything is trained
    train, test = (windows_of(texts, setup.window) for texts in (corpus.train, corpus.test))
    cutting, seen = cutting_of(corpus.train, train, setup), corpus.counts()
    scored = [
        (number, seen[word.text]) for number, window in enumerate(test) for word in _asked(window)
    ]
    sizes = [len(window.data) for window in test]
    pieces = _pieces(corpus, setup, folder)
    found: dict[str, list[_Found]] = {name: [] for name in arms}
    for seed in range(setup.seed, setup.seed + setup.seeds):
        for name, (arm, control) in zip(arms, known, strict=True):

            def doing(done: int, name: str = name, seed: int = seed) -> None:
                progress(f"{corpus.name}: {name}, seed {seed}", done, setup.steps)

            def made(
                arm: Arm = arm,
                control: Kind | None = control,
                seed: int = seed,
                doing: Callable[[int], None] = doing,
            ) -> dict[str, object]:
                model = build(arm, setup, seed)
                if control is not None:
                    _freeze(model, arm, control, train, cutting, setup, seed)
                seconds = _train(model, arm, train, cutting, setup, seed, doing)
                one = _measure(model, arm, test, cutting, seed)
                one.parameters, one.seconds = parameters(model), seconds / setup.steps
                return asdict(one)

            kept = pieces.kept(f"{corpus.name}-{name}-{seed}", (name, seed), made)
            found[name].append(_Found(**kept))
    scores = [
        _score(
            name,
            found[name],
            float(np.mean([cells(arm, window, cutting) for window in test])),
            sizes,
            scored,
        )
        for name, (arm, _) in zip(arms, known, strict=True)
    ]
    return Comparison(scores, _gains(found, sizes, [number for number, _ in scored]))


def _pieces(corpus: Corpus, setup: Setup, folder: Path | None) -> Pieces:
    """Kept trainings of a corpus; other seeds and arms may join them."""
    same = replace(setup, seeds=1, seed=0)
    key = repr((_VERSION, corpus, same))
    settings = {
        "version": f"version {_VERSION} of the study",
        "steps": f"--steps {setup.steps}",
        "vocabulary": f"--vocabulary {setup.vocabulary}",
        "setup": f"setup {fingerprint(same)}",
        "text": f"{sum(map(len, corpus.train)):,} characters of text {fingerprint(corpus)}",
    }
    return Pieces(folder, key, settings, part=corpus.name)


def _score(
    name: str,
    found: Sequence[_Found],
    places: float,
    sizes: Sequence[int],
    scored: Sequence[tuple[int, int]],
) -> Score:
    bits = np.mean([one.bits for one in found], 0)
    low, high = interval(*_of_bytes(bits, sizes))
    return Score(
        name,
        found[0].parameters,
        places,
        float(bits.sum() / sum(sizes)),
        low,
        high,
        float(np.mean([sum(one.ends) for one in found]) / sum(sizes)),
        _by_bucket(np.mean([one.right for one in found], 0), scored),
        float(np.mean([one.seconds for one in found])),
    )


def _gains(
    found: Mapping[str, Sequence[_Found]], sizes: Sequence[int], windows: Sequence[int]
) -> dict[str, dict[str, Difference]]:
    """``words`` less every other arm, by measure; none where ``words`` was not trained."""
    others = [name for name in found if name != BASE and "@" not in name]
    if BASE not in found or not others:
        return {}

    def over_windows(measure: str, other: str) -> Difference:
        if measure == RIGHT:
            ours, theirs = (np.mean([one.right for one in found[n]], 0) for n in (BASE, other))
            return difference(ours.tolist(), theirs.tolist(), [str(number) for number in windows])
        (ours, names), (theirs, _) = (
            _of_bytes(np.mean([one.bits for one in found[n]], 0), sizes) for n in (BASE, other)
        )
        return difference(ours, theirs, names)

    def by_seed(measure: str, other: str) -> Difference:
        ours, theirs = (
            [
                float(np.mean(one.right)) if measure == RIGHT else sum(one.bits) / sum(sizes)
                for one in found[name]
            ]
            for name in (BASE, other)
        )
        return over_trainings(ours, theirs)

    ways = {"over windows": over_windows}
    if len(found[BASE]) > 1:
        ways["over trainings"] = by_seed
    return {
        f"{measure}, {over}": corrected({f"{BASE} - {name}": of(measure, name) for name in others})
        for measure in (RIGHT, BITS)
        for over, of in ways.items()
    }


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
    cutting: Cutting,
    setup: Setup,
    seed: int,
) -> None:
    """Make an arm's control: only its last layer is left to train on the windows."""
    if control != "random":
        text = text_of(control, sum(len(window.data) for window in windows), seed)
        others = windows_of([text.decode()], setup.window)
        _train(model, arm, others, cutting, setup, seed, lambda _: None)
    model.requires_grad_(False)
    model.head.requires_grad_(True)


def _train(
    model: Model,
    arm: Arm,
    windows: Sequence[Window],
    cutting: Cutting,
    setup: Setup,
    seed: int,
    progress: Callable[[int], None],
) -> float:
    """Seconds that training took; the batches are the same for every arm."""
    rng, cuts = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    learned = [weight for weight in model.parameters() if weight.requires_grad]

    def cost(_: int) -> Tensor:
        chosen = [windows[n] for n in rng.integers(0, len(windows), setup.batch)]
        return loss(model, units(arm, chosen, cutting, cuts))

    adam = torch.optim.AdamW(learned, lr=setup.rate, betas=(0.9, 0.95), weight_decay=0.0)
    begun = time.perf_counter()
    fit_steps(adam, setup.steps, cost, clipped=learned, on_step=lambda step, _: progress(step + 1))
    return time.perf_counter() - begun


def _measure(
    model: Model, arm: Arm, windows: Sequence[Window], cutting: Cutting, seed: int
) -> _Found:
    found, rng = _Found(), np.random.default_rng(seed)
    model.eval()
    for window in windows:
        read = units(arm, [window], cutting, rng)
        with torch.no_grad():
            logits, targets = model(read), model.targets(read)
        costs = nats(logits, targets)[0].flatten().double().numpy() / math.log(2)
        wanted, guess = targets[0].flatten().numpy(), logits[0].argmax(-1).flatten().numpy()
        costs, guess, wanted = (rows[wanted != PAD] for rows in (costs, guess, wanted))
        end = wanted == END
        # What follows each id: the end of its piece, or else the next id.
        behind = np.flatnonzero(~end) + 1
        scored_ends = float(costs[end].sum()) if arm.cut != "random" else 0.0
        found.ends.append(scored_ends)
        found.bits.append(float(costs[~end].sum()) + scored_ends)
        right = (guess == wanted)[~end]
        next_guess = guess[np.minimum(behind, len(guess) - 1)]
        byte_guess = guess[~end]
        asked = _asked(window)
        places = [(word.first, word.last) for word in asked]
        if arm.cut == "subwords":
            byte_guess = cutting.vocabulary.first_bytes[byte_guess]
            of = dict(zip(window.words, cutting.vocabulary.places(window), strict=True))
            places = [of[word] for word in asked]
        for first, last in places:
            closed = (
                next_guess[last - 1] == END
                if arm.cut == "words"
                else not _continues(int(byte_guess[last]))
            )
            found.right.append(float(right[first:last].all() and closed))
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


def _of_bytes(bits: NDArray[np.float64], sizes: Sequence[int]) -> tuple[list[float], list[str]]:
    """A figure and a window a byte: windows are resampled, each byte counts alike."""
    values: list[float] = np.repeat(bits / np.array(sizes), sizes).tolist()
    return values, [str(n) for n, size in enumerate(sizes) for _ in range(size)]


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
