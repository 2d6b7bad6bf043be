"""``milepost lab tokens``: words from their spelling, and pools of byte encoders."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np
import torch
from torch import Tensor

from milepost.cli.console.group import CommandGroup
from milepost.cli.console.options import count_option
from milepost_eval.statistics import corrected, over_seeds
from milepost_lab.bytes.study import command as pool
from milepost_lab.runner import Report, Run, study
from milepost_lab.tokens.model import (
    UnitModel,
    WordModel,
    next_word,
    split_words,
    targets,
    word_bytes,
    word_rows,
)
from milepost_lab.training import fit, parameters

ARMS = ("words", "bytes", "subwords")
CONTEXT = 160
"""Bytes of context that every arm reads."""


@click.group(
    "tokens", cls=CommandGroup, short_help="Words from spelling, bytes, and byte encoders."
)
def command() -> None:
    """Language models over words pooled from bytes, and pools of byte encoders."""


@study(
    "words",
    "Compare models over words, bytes and subwords.",
    "milepost lab tokens words --text book.txt --steps 1600 --seeds 3",
    seeds=3,
)
@click.option(
    "--text",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Read this; else a generated morphology with held-out words.",
)
@count_option("--size", 60_000, "Characters that are trained on.")
@count_option("--steps", 200, "Training steps of 16 rows.")
@count_option("--asked", 200, "Next words that are guessed.")
def words(run: Run, text: Path | None, size: int, steps: int, asked: int) -> Report:
    """Train each arm on the same text with the same bytes of context, and guess next words.

    All guess greedily; a word counts with its end. Bits a byte are of unseen text.
    """
    whole = text.read_text(encoding="utf-8") if text else morphology(size + size // 4)
    taught, tested = whole[:size], whole[size : size + size // 4]
    found = {
        arm: run.per_seed(arm, partial(measured, arm, taught, tested, steps, asked)) for arm in ARMS
    }
    rights = {arm: [one["right"] for one in some] for arm, some in found.items()}
    over = corrected({arm: over_seeds(rights["words"], rights[arm]) for arm in ARMS[1:]})
    rows = [
        {
            "arm": arm,
            "next word": fmean(rights[arm]),
            "bits a byte": fmean(one["bits"] for one in some),
            "unseen words": fmean(one["unseen"] for one in some),
            "words less it": over.get(arm),
            "detectable": over[arm].detectable if arm in over else None,
            "weights": some[0]["weights"],
        }
        for arm, some in found.items()
    ]
    return Report(rows)


command.add_command(words)
command.add_command(pool)


def morphology(size: int, seed: int = 0) -> str:
    """Text of 40 stems and 10 suffixes: after stem i comes next(i) in four of five cases.

    After suffix j comes suffix j + 1, so that the best guess is right for 80 % of the words.
    """
    rng = np.random.default_rng(seed)
    letters = "abcdefghijklmnop"
    stems = sorted({"".join(rng.choice(list(letters), rng.integers(2, 6))) for _ in range(60)})[:40]
    ends = sorted({"".join(rng.choice(list("qrstuvwxyz"), rng.integers(1, 4))) for _ in range(30)})
    following, words_, length = rng.permutation(len(stems)), [], 0
    stem, end = 0, 0
    while length < size:
        words_.append(stems[stem] + ends[end])
        length += len(words_[-1]) + 1
        sure = rng.random() < 0.8
        stem = int(following[stem]) if sure else int(rng.integers(len(stems)))
        end = (end + 1) % min(10, len(ends))
    return " ".join(words_)


def measured(
    arm: str, taught: str, tested: str, steps: int, asked: int, seed: int
) -> dict[str, float]:
    """Share of next words that are right, in all and of words that training lacks; bits a byte."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    pieces = [piece for word in split_words(taught) for piece in word_bytes(word)]
    rows = word_rows(pieces)
    units: Any = None
    subwords: list[int] = []
    if arm == "subwords":
        units, subwords = _subwords(taught)
    if arm == "words":
        model: Any = WordModel()
        # As many bytes of context: a word and its space have some five bytes together.
        span, data = max(2, CONTEXT * len(pieces) // len(taught.encode())), rows
    else:
        data = torch.tensor(subwords) if arm == "subwords" else torch.tensor(
            [byte + 3 for byte in taught.encode()]
        )  # fmt: skip
        span = CONTEXT if arm == "bytes" else max(2, CONTEXT * len(data) // len(taught.encode()))
        model = UnitModel(259 if arm == "bytes" else units.get_vocab_size())

    def loss(_: int) -> Tensor:
        places = rng.integers(0, max(1, len(data) - span - 1), 16)
        found: Tensor = model.loss(torch.stack([data[at : at + span + 1] for at in places]))
        return found

    fit(list(model.parameters()), loss, steps, 2e-3, decay=0.01)
    model.eval()
    known = set(split_words(taught))
    places = [n for n, word in enumerate(split_words(tested)) if word.strip() and n > 20][:asked]
    split = split_words(tested)
    right, unseen = [], []
    for place in places:
        before, wanted = split[:place], split[place]
        guess = _guess(model, arm, before, span, units)
        right.append(float(guess == wanted))
        if wanted not in known:
            unseen.append(right[-1])
    return {
        "right": fmean(right) if right else 0.0,
        "unseen": fmean(unseen) if unseen else 0.0,
        "bits": _bits(model, arm, tested, span, units),
        "weights": parameters(model),
    }


def _subwords(text: str) -> tuple[Any, list[int]]:
    """Byte-pair units of as many kinds as a small table holds, trained on the text."""
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE(byte_fallback=True))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1000,
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    made.train_from_iterator([text], trainer)
    return made, made.encode(text).ids


@torch.no_grad()
def _guess(model: Any, arm: str, before: list[str], span: int, units: Any) -> str:
    """The word behind a text, greedily, without the space behind it."""
    if arm == "words":
        pieces = [piece for word in before[-span:] for piece in word_bytes(word)][-span:]
        ids = next_word(model, word_rows(pieces))
        return bytes(each - 3 for each in ids if each > 2).decode("utf-8", "replace")
    text = "".join(before)
    if arm == "bytes":
        data = [byte + 3 for byte in text.encode()][-span:]
    else:
        data = units.encode(text).ids[-span:]
    made: list[int] = []
    for _ in range(17 if arm == "bytes" else 8):
        best = int(model(torch.tensor([[*data, *made][-span:]]))[0, -1].argmax())
        made.append(best)
        if arm == "bytes":
            found = bytes(max(0, each - 3) for each in made).decode("utf-8", "replace")
        else:
            found = units.decode(made)
        parts = split_words(found)
        if len(parts) > 1:
            return parts[0]
    return split_words(found)[0] if found else ""


@torch.no_grad()
def _bits(model: Any, arm: str, text: str, span: int, units: Any) -> float:
    """Bits a byte of unseen text, end marks included."""
    nats, size = 0.0, 0
    if arm == "words":
        rows = word_rows([piece for word in split_words(text) for piece in word_bytes(word)])
        for at in range(0, len(rows) - span - 1, span)[:20]:
            some = rows[at : at + span + 1][None]
            wanted = targets(some[:, 1:])
            nats += float(model.loss(some)) * int((wanted != -100).sum())
            size += int((some[:, 1:] > 2).sum())
    else:
        ids = [b + 3 for b in text.encode()] if arm == "bytes" else units.encode(text).ids
        data = torch.tensor(ids)
        for at in range(0, len(data) - span - 1, span)[:20]:
            some = data[at : at + span + 1]
            nats += float(model.loss(some[None])) * span
            size += span if arm == "bytes" else len(units.decode(some[1:].tolist()).encode())
    return nats / math.log(2) / max(1, size)
