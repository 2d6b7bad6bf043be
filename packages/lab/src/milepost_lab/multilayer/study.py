"""Pooling × attention: the five designs of Tang and Yang (arXiv 2409.02727) on planted topics.

    M1  last token                      causal
    M2  trained, last layer             causal
    M3  trained, all layers             causal
    M4  trained, last layer             both sides
    M5  trained, all layers             both sides

Each design is trained with LoRA on a small causal model of random weights (``planted.py``) to bring
two texts of one topic together. It is tested by retrieving the second text of 64 unseen topics. A
dataset is a network, its topics and its texts; designs are compared on the same datasets. The
control rows are M5 over frozen networks that never saw topics (``controls.py``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from milepost_eval.statistics import difference, holm, wilcoxon
from milepost_lab.controls.kinds import KINDS, Kind, rows_below
from milepost_lab.model.pooling import PoolModule, module
from milepost_lab.multilayer.controls import as_control
from milepost_lab.multilayer.planted import PLACES, Place, Planted, Texts
from milepost_train.fit_steps import fit_steps
from milepost_train.losses import info_nce
from milepost_train.model.lora import with_lora

ASKED = 64
CHANCE = sum(1 / rank for rank in range(1, ASKED + 1)) / ASKED
"""Expected mean reciprocal rank of a random order."""


@dataclass(frozen=True, slots=True)
class Design:
    """A pooling and an attention.

    Attributes:
        name: the paper's name, or what differs from the paper.
        pooling: an operator of ``milepost_lab.pooling``.
        settings: settings of the operator.
        every_layer: whether it reads all layers instead of the last.
        bidirectional: whether tokens see both sides.
        control: kind of the frozen control network; None for a random network with LoRA.
    """

    name: str
    pooling: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    every_layer: bool = False
    bidirectional: bool = False
    control: Kind | None = None


_LAST = {"summary": "last"}
_TOKENS = {"keys": "tokens"}
M1 = Design("M1", "last")
M2 = Design("M2", "multilayer", _LAST)
M3 = Design("M3", "multilayer", _LAST, every_layer=True)
M4 = Design("M4", "multilayer", _TOKENS, bidirectional=True)
M5 = Design("M5", "multilayer", every_layer=True, bidirectional=True)

CONTROLS = tuple(
    replace(M5, name=name, control=kind) for name, kind in zip(rows_below("M5"), KINDS, strict=True)
)
"""Rows below every study: M5 over networks that never saw topics."""


def _like_m5(name: str, **settings: Any) -> Design:
    return Design(name, "multilayer", settings, every_layer=True, bidirectional=True)


STUDIES: dict[str, tuple[Design, ...]] = {
    "paper": (M1, M2, M3, M4, M5),
    # M3 reads last tokens and M5 means, so the paper's step from M3 to M5 changes two things.
    "crossed": (
        M3,
        Design("M3 mean", "multilayer", every_layer=True),
        Design("M5 last", "multilayer", _LAST, every_layer=True, bidirectional=True),
        M5,
    ),
    # Ablations of M5, then M2 with all tokens as keys, and poolings with hardly any parameters.
    "parts": (
        M5,
        _like_m5("no layer table", layer_table="none"),
        _like_m5("1 latent", latents=1),
        _like_m5("16 latents", latents=16),
        _like_m5("no residual", residual=False),
        _like_m5("all tokens", **_TOKENS),
        Design("M2 tokens", "multilayer", _TOKENS),
        Design("layer-mix", "layer-mix", every_layer=True, bidirectional=True),
        Design("layer-mean", "layer-mean", every_layer=True, bidirectional=True),
        Design("mean", "mean", bidirectional=True),
    ),
}
"""Study → its designs; all others are compared with the first."""

LAYERS = (("M3", "M2"), ("M5", "M4"))
"""Pairs of ``paper`` that show the effect of reading all layers; only the keys differ as well."""


@dataclass(frozen=True, slots=True)
class Training:
    """How every design is trained.

    Attributes:
        steps: AdamW steps; a control's network is pre-trained for as many.
        batch: pairs of texts per step.
        rate: learning rate, which falls linearly to about 0.
        rank: rank of LoRA on all linear layers; 0 leaves the network frozen.
        layers: number of layers of the network.
        width: width of its states.
    """

    steps: int = 60
    batch: int = 32
    rate: float = 0.02
    rank: int = 4
    layers: int = 4
    width: int = 32


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of a design on a dataset.

    Attributes:
        score: mean reciprocal rank of a topic's second text among 64.
        cosine: mean over texts of different topics, which shows how narrow the cone of vectors is.
        parameters: number of trained parameters, those of LoRA included.
        milliseconds: processor time to encode a text, network and pooling.
    """

    design: str
    place: Place
    dataset: int
    score: float
    cosine: float
    parameters: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two designs over datasets: ``design`` minus ``against``.

    Attributes:
        mean: difference of the scores, with its 95 % interval from ``low`` to ``high``.
        p: two-sided, by Wilcoxon's signed-rank test; ``wilcoxon`` says when it is exact.
        adjusted: p after Holm's correction over all comparisons of the study.
    """

    place: Place
    design: str
    against: str
    mean: float
    low: float
    high: float
    p: float
    adjusted: float


def run(
    study: str,
    *,
    places: Sequence[Place] = PLACES,
    datasets: int = 2,
    training: Training = Training(),
    seed: int = 0,
    controls: bool = True,
    progress: Callable[[str, int, int], None] = lambda *_: None,
) -> list[Trial]:
    """Train every design of a study on every dataset of every place.

    Args:
        study: a name in ``STUDIES``.
        places: where topics can be read.
        datasets: number of networks with topics and texts, at each place.
        training: how to train.
        seed: seed of the first dataset; the next ones count up.
        controls: train ``CONTROLS`` as well.
        progress: called with a name, trials done, and trials in all.
    """
    designs = (*STUDIES[study], *(CONTROLS if controls else ()))
    # Datasets first: controls keep the networks of one dataset for all its places.
    todo = [(n, p, d) for n in range(datasets) for p in places for d in designs]
    trials = []
    for done, (number, place, design) in enumerate(todo):
        progress(f"{place} {design.name}", done, len(todo))
        trials.append(trial(design, place, training, seed=seed + number))
    return trials


def trial(design: Design, place: Place, training: Training, *, seed: int) -> Trial:
    """Train a design on one dataset and test it on unseen topics."""
    planted = Planted(
        place, training.layers, training.width, bidirectional=design.bidirectional, seed=seed
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # for LoRA's own weights
        planted.encoder.requires_grad_(False)
        if training.rank and design.control is None:
            with_lora(planted.encoder, training.rank, 2.0 * training.rank, dropout=0.0)
    if design.control is not None:
        as_control(planted, design.control, seed=seed, steps=training.steps)
    read = training.layers if design.every_layer else 1
    pooling = module(design.pooling, training.width, layers=read, seed=seed, **design.settings)
    learned = [w for w in (*planted.encoder.parameters(), *pooling.parameters()) if w.requires_grad]
    random = torch.Generator().manual_seed(seed + 1)
    if learned:
        _train(planted, pooling, design, training, learned, random)
    # Seeded separately, so that a change of the training leaves the test texts the same.
    texts = Texts.joined(*planted.pairs(ASKED, torch.Generator().manual_seed(seed + 2)))
    with torch.no_grad():
        begun = time.process_time()
        vectors, answers = _encode(planted, pooling, design, texts).chunk(2)
        passed = time.process_time() - begun
    return Trial(
        design.name,
        place,
        seed,
        _reciprocal_rank(vectors, answers),
        _cosine(vectors),
        sum(weight.numel() for weight in learned),
        1000 * passed / (2 * ASKED),
    )


def compare(trials: Sequence[Trial], pairs: Iterable[tuple[str, str]]) -> list[Comparison]:
    """Compare pairs of designs at every place, with one correction over all.

    Raises:
        MissingExtra: SciPy is not installed.
    """
    scores: dict[tuple[Place, str], list[float]] = {}
    for one in sorted(trials, key=lambda each: each.dataset):
        scores.setdefault((one.place, one.design), []).append(one.score)
    places = list(dict.fromkeys(one.place for one in trials))
    asked = [(place, a, b) for place in places for a, b in pairs]
    made = {}
    for place, a, b in asked:
        ours, theirs = scores[place, a], scores[place, b]
        found = difference(ours, theirs, [str(n) for n in range(len(ours))])
        p = wilcoxon([x - y for x, y in zip(ours, theirs, strict=True)])
        made[f"{place} {a} {b}"] = (place, a, b, found.mean, found.low, found.high, p)
    adjusted = holm({name: values[-1] for name, values in made.items()})
    return [Comparison(*values, adjusted[name]) for name, values in made.items()]


def pairs_of(study: str) -> list[tuple[str, str]]:
    """Pairs to compare in a study: each design with the first, and ``LAYERS`` for ``paper``."""
    first, *others = STUDIES[study]
    more = LAYERS if study == "paper" else ()
    return [*((other.name, first.name) for other in others), *more]


def _train(
    planted: Planted,
    pooling: PoolModule,
    design: Design,
    training: Training,
    learned: list[Tensor],
    random: torch.Generator,
) -> None:
    def loss(_: int) -> Tensor:
        texts = Texts.joined(*planted.pairs(training.batch, random))
        queries, documents = _encode(planted, pooling, design, texts).chunk(2)
        return info_nce(queries, documents, 0.05)

    adam = torch.optim.AdamW(learned, lr=training.rate, weight_decay=0.01)
    fit_steps(adam, training.steps, loss, share=lambda step, steps: 1 - 0.999 * step / steps)


def _encode(planted: Planted, pooling: PoolModule, design: Design, texts: Texts) -> Tensor:
    """Unit vectors of texts, ``(b, d)``."""
    states = planted.states(texts)
    if not design.every_layer:
        states = states[:, :, -1:]
    if "layers" not in pooling.operator.needs:
        states = states[:, :, -1]
    return F.normalize(pooling(states, texts.lengths), dim=1)


def _reciprocal_rank(asked: Tensor, answers: Tensor) -> float:
    """Mean reciprocal rank of answer i for question i; ties share the middle rank."""
    scores = asked @ answers.T
    own = scores.diagonal()[:, None]
    above = (scores > own).sum(1) + ((scores == own).sum(1) - 1) / 2
    return float((1 / (1 + above)).mean())


def _cosine(vectors: Tensor) -> float:
    count = len(vectors)
    return float(((vectors @ vectors.T).sum() - count) / (count * (count - 1)))
