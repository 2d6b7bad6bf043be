"""The pool protocol of MonoByte (arXiv 2209.11035): encoders alike in all but their text.

    row      an encoder pre-trained on one text by one recipe: a language, or a control
    column   a task in one language, learned from few examples by one recipe
    cell     the score on new examples; mean of the seeds

The controls are always there: no pre-training at all (``random``), text without meaning
(``nonsense``), text of nothing but nesting (``hierarchical``), and the column's own language with
its bytes renamed (``permuted``). Two tasks:

    agreement    does the verb have its subject's number? The score is accuracy; chance is 0.5
    rebuild      fill gaps in the language, after little text of it; the score is minus bits a
                 target

Neither the examples nor the questions occur in a language's text of
pre-training: the grammar is small, and by chance every fifth or so would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from milepost.errors import InputError, nearest
from milepost_eval.statistics import interval
from milepost_lab.controls.byte_training import ByteRecipe, gapped, pretrain
from milepost_lab.controls.corpora import (
    LANGUAGES,
    Sentence,
    ToyLanguage,
    brackets,
    nonsense,
    permuted,
)
from milepost_lab.model.bytes.encoder import ByteModel, made, padded_ids
from milepost_lab.model.bytes.tokenizer import PAD, encode
from milepost_lab.model.pooling.module import masked_mean
from milepost_train.fit_steps import fit_steps

CONTROLS = ("random", "nonsense", "hierarchical", "permuted")
"""Rows that are not languages."""

Kind = Literal["agreement", "rebuild"]

Progress = Callable[[str, int, int], None]
"""Called with what is done next, how many cells are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """Settings of a matrix.

    Attributes:
        recipe: of pre-training.
        size: bytes of text a row is pre-trained on.
        task: what is learned from the examples.
        languages: toy languages that are rows and columns.
        seeds: how many; one is of pre-training, of the examples and of tuning together.
        seed: the first.
        examples: of the task, for tuning: sentences.
        questions: of the task, for measuring; none is among the examples.
        steps: of tuning, batches of 32.
        rate: of tuning.
    """

    recipe: ByteRecipe = field(default_factory=lambda: ByteRecipe(steps=100))
    size: int = 60_000
    task: Kind = "rebuild"
    languages: int = 2
    seeds: int = 1
    seed: int = 0
    examples: int = 200
    questions: int = 200
    steps: int = 60
    rate: float = 2e-3

    def __post_init__(self) -> None:
        if not 1 <= self.languages <= LANGUAGES:
            raise InputError(f"{self.languages} toy languages", f"1 to {LANGUAGES}")
        if self.seeds < 1:
            raise InputError("no seed", "1 seed or more")


@dataclass(frozen=True, slots=True)
class Cell:
    """A source on a target.

    Attributes:
        source: the row's text.
        target: the column's language.
        score: mean over questions and seeds.
        low, high: 95 % interval; questions are resampled, seeds are not.
        transfer: the share of the way from random weights to the target's own encoder, see
            ``normalised``; None where there is no such way.
    """

    source: str
    target: str
    score: float
    low: float
    high: float
    transfer: float | None


def source_text(
    name: str, size: int, seed: int = 0, target: int = 0, without: Collection[str] = ()
) -> bytes | None:
    """The text of a row: ``language N``, or one of ``CONTROLS``; None for ``random``.

    Args:
        name: the row.
        size: bytes, at least.
        seed: of the text.
        target: the column's language, which ``permuted`` renames.
        without: sentences that a text of a language does not hold.

    Raises:
        InputError: the row is unknown.
    """
    if name.startswith("language ") and name[9:].isdigit():
        return ToyLanguage(int(name[9:])).text(size, seed, without)
    texts: dict[str, Callable[[], bytes | None]] = {
        "random": lambda: None,
        "nonsense": lambda: nonsense(size, seed),
        "hierarchical": lambda: brackets(size, seed),
        "permuted": lambda: permuted(ToyLanguage(target).text(size, seed, without), seed),
    }
    if name not in texts:
        known = (*texts, "language 0")
        raise InputError(
            f"unknown text {name!r}", f"{nearest(name, known)}one of {', '.join(known)}"
        )
    return texts[name]()


def agreement(language: int, count: int, seed: int) -> list[Sentence]:
    """Different sentences of a language, every second of them without agreement."""
    rng = np.random.default_rng(seed)
    toy = ToyLanguage(language)
    found: dict[str, Sentence] = {}
    while len(found) < count:
        sentence = toy.sentence(rng, agrees=len(found) % 2 == 0)
        found.setdefault(sentence.text, sentence)
    return list(found.values())


def tuned_accuracy(
    model: ByteModel,
    examples: Sequence[Sentence],
    questions: Sequence[Sentence],
    *,
    steps: int,
    rate: float,
    seed: int,
) -> list[float]:
    """1 or 0 a question, after tuning the whole encoder and a linear head on the examples.

    Args:
        model: where tuning begins; it is left as it is.
        examples: for tuning.
        questions: for measuring.
        steps: batches of 32.
        rate: of AdamW, no decay.
        seed: of the head and of the batches.
    """
    rng = np.random.default_rng(seed)
    model = deepcopy(model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(model.width, 2)

    def logits(sentences: Sequence[Sentence]) -> torch.Tensor:
        ids = padded_ids([encode(sentence.text) for sentence in sentences])
        mask = ids != PAD
        answer: torch.Tensor = head(masked_mean(model.states(ids) * mask[..., None], mask))
        return answer

    trained = [*model.embedding.parameters(), *model.encoder.parameters(), *head.parameters()]

    def loss(_: int) -> torch.Tensor:
        batch = [examples[n] for n in rng.integers(0, len(examples), 32)]
        wanted = torch.tensor([int(sentence.agrees) for sentence in batch])
        return F.cross_entropy(logits(batch), wanted)

    adam = torch.optim.AdamW(trained, lr=rate, weight_decay=0.0)
    fit_steps(adam, steps, loss, clipped=trained)
    with torch.no_grad():
        said = logits(questions).argmax(1).tolist()
    return [
        float(answer == sentence.agrees) for answer, sentence in zip(said, questions, strict=True)
    ]


def rebuilt(
    model: ByteModel,
    examples: Sequence[Sentence],
    questions: Sequence[Sentence],
    *,
    recipe: ByteRecipe,
    steps: int,
    seed: int,
) -> list[float]:
    """Minus bits a target of every window of the questions' text, after training on the examples'.

    Args:
        model: where training continues from; it is not changed.
        examples: their text is what is trained on.
        questions: their text is what is measured on.
        recipe: of pre-training, which continues with half its rate.
        steps: as many.
        seed: of windows and gaps.
    """
    learned, asked = ("".join(one.text for one in rows).encode() for rows in (examples, questions))
    more = replace(recipe, steps=steps, rate=recipe.rate / 2)
    after = pretrain(learned, more, seed, begun=model)
    rows = [asked[at : at + recipe.window] for at in range(0, len(asked), recipe.window)]
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        costs = [float(after.loss(*gapped([row], recipe.gap, rng))) for row in rows if len(row) > 1]
    return [-cost / math.log(2) for cost in costs]


def normalised(score: float, own: float, random: float) -> float | None:
    """``(A[s,t] − R[t]) / (A[t,t] − R[t])``: 0 as random weights, 1 as the target's own encoder.

    Absolute scores mix how easy a task is with what was carried over.

    Args:
        score: of the source on the target.
        own: of the target's own encoder on it.
        random: of random weights on it.

    Returns:
        None where random weights are as good as the target's own encoder.

    >>> round(normalised(0.65, 0.70, 0.42), 5)
    0.82143
    """
    way = own - random
    return (score - random) / way if way > 0 else None


def matrix(protocol: Protocol, progress: Progress = lambda _, __, ___: None) -> list[Cell]:
    """Fill the matrix: languages and controls by languages.

    An encoder is pre-trained once a row and seed (``permuted``: once a cell and seed), then tuned
    from there for every column.
    """
    languages = range(protocol.languages)
    rows = [*(f"language {n}" for n in languages), *CONTROLS]
    right: dict[tuple[str, int], list[list[float]]] = {}
    whole = len(rows) * protocol.languages * protocol.seeds
    for seed in range(protocol.seed, protocol.seed + protocol.seeds):
        sentences = _sentences(protocol, seed)
        without = {one.text for some in sentences for one in some}
        for source in rows:
            begun: ByteModel | None = None
            for target in languages:
                progress(f"{source} on language {target}, seed {seed}", _count(right), whole)
                if begun is None or source == "permuted":
                    begun = _begun(source, target, protocol, seed, without)
                found = _scored(begun, sentences[target], protocol, seed)
                right.setdefault((source, target), []).append(found)
    return _cells(right)


def _sentences(protocol: Protocol, seed: int) -> list[list[Sentence]]:
    """Of each language the examples, then the questions, of one seed."""
    count = protocol.examples + protocol.questions
    return [agreement(language, count, 1000 + seed) for language in range(protocol.languages)]


def _scored(
    begun: ByteModel, sentences: Sequence[Sentence], protocol: Protocol, seed: int
) -> list[float]:
    """The score of every question of one cell."""
    few, new = sentences[: protocol.examples], sentences[protocol.examples :]
    steps = protocol.steps
    if protocol.task == "rebuild":
        few, new = ([one for one in rows if one.agrees] for rows in (few, new))
        return rebuilt(begun, few, new, recipe=protocol.recipe, steps=steps, seed=seed)
    return tuned_accuracy(begun, few, new, steps=steps, rate=protocol.rate, seed=seed)


def _begun(
    source: str, target: int, protocol: Protocol, seed: int, without: Collection[str]
) -> ByteModel:
    text = source_text(source, protocol.size, seed, target, without)
    if text is None:
        return made(protocol.recipe.shape, seed)
    return pretrain(text, protocol.recipe, seed)


def _count(right: dict[tuple[str, int], list[list[float]]]) -> int:
    return sum(len(seeds) for seeds in right.values())


def _cells(right: dict[tuple[str, int], list[list[float]]]) -> list[Cell]:
    means = {place: float(np.mean(values)) for place, values in right.items()}
    cells: list[Cell] = []
    for (source, target), values in right.items():
        each = [value for seed in values for value in seed]
        # Every seed has questions of its own.
        low, high = interval(each, [str(number) for number in range(len(each))])
        own, random = means[f"language {target}", target], means["random", target]
        share = normalised(means[source, target], own, random)
        cells.append(Cell(source, f"language {target}", means[source, target], low, high, share))
    return cells
