"""``milepost lab lmk``: LMK, [CLS] and the mean on documents of 512 to 16k tokens.

A document of L tokens is a test passage at a random place among passages of training documents, the
same for all arms; questions search all of them. Nothing is decided unless every arm beats the bag
of words at the shortest length.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np
import torch

from milepost.cli.console.options import count_option
from milepost.errors import InputError
from milepost_lab.data.network import TokenReader
from milepost_lab.data.pairs import Pairs, ndcg, read_pairs, stable
from milepost_lab.lmk.model import ARMS, TESTED, Arm, Retriever, encoder, pretrain, train
from milepost_lab.runner import Lines, Report, Run, study
from milepost_lab.statistics import difference, holm, interval

GATE = 0.05
RATES = (3e-4, 1e-3)
CONTRASTS = (("lmk", "cls"), ("lmk", "mean"))


@study(
    "lmk",
    "LMK, CLS and mean on documents of 512 to 16k tokens.",
    "milepost lab lmk --lengths 128,512,2048 --steps 500 --seeds 3 --out results/lmk",
    seeds=2,
)
@click.option("--data", type=click.Path(exists=True), help="Pairs; else those that come along.")
@click.option("--lengths", default="128,512,2048", metavar="N,...", help="Tokens of documents.")
@click.option("--arm", "arms", multiple=True, type=click.Choice([*ARMS]), help="Of these.")
@count_option("--pretraining", 1000, "Steps of masked language modelling.")
@count_option("--steps", 500, "Steps of contrastive training, 32 pairs each.")
@count_option("--width", 128, "Width of the encoder.")
@count_option("--pairs", 2000, "Most training pairs.")
@count_option("--asked", 200, "Most test questions.")
def command(
    run: Run,
    data: str | None,
    lengths: str,
    arms: tuple[Arm, ...],
    pretraining: int,
    steps: int,
    width: int,
    pairs: int,
    asked: int,
) -> Report:
    """Pre-train an encoder, train every arm from it, and search documents of all lengths."""
    try:
        sizes = sorted({int(word) for word in lengths.split(",")})
    except ValueError:
        raise InputError(f"{lengths!r} is no list of lengths", "512,2048,8192") from None
    chosen = tuple(dict.fromkeys(arms or ARMS))
    made = read_pairs(data, pairs, asked)
    tokenizer = TokenReader.open("minilm").tokenizer
    material = Material(made, tokenizer)
    found: dict[str, list[dict[str, Any]]] = {}
    for arm in chosen:
        found[arm] = run.per_seed(
            arm, partial(measured, arm, material, sizes, pretraining, steps, width)
        )
    clusters = [*made.test_documents] * len(run.seeds)

    def values(arm: str, size: int) -> Any:
        return np.array([each[str(size)] for each in found[arm]]).ravel()

    apart = holm(
        {
            f"{a} - {b} at {size:,}": difference(values(a, size), values(b, size), clusters)
            for a, b in CONTRASTS
            if a in chosen and b in chosen
            for size in sizes
        }
    )
    rows: list[dict[str, Any]] = [
        {"arm": arm, "tokens": size, "nDCG@10": interval(values(arm, size), clusters),
         "p, Holm": None, "detectable": None}
        for arm in chosen for size in sizes
    ]  # fmt: skip
    rows += [
        {"arm": name, "tokens": None, "nDCG@10": one, "p, Holm": one.p,
         "detectable": one.detectable}
        for name, one in apart.items()
    ]  # fmt: skip
    return Report(rows, _gate(found, sizes[0]), lines=Lines("tokens", "nDCG@10", "arm", log=True))


def _gate(found: dict[str, list[dict[str, Any]]], shortest: int) -> list[str]:
    """Whether attention is worth anything in this set-up: the arms against the bag of words."""
    if "bag" not in found:
        return []
    means = {
        arm: float(np.mean([each[str(shortest)] for each in some])) for arm, some in found.items()
    }
    below = [arm for arm in means if arm != "bag" and means[arm] < means["bag"] + GATE]
    if not below:
        return [f"Every arm beats the bag of words by {GATE} at {shortest:,} tokens."]
    return [
        f"{', '.join(below)}: not {GATE} above the bag of words ({means['bag']:.3f}) at "
        f"{shortest:,} tokens, so this set-up decides nothing about poolings."
    ]


class Material:
    """Texts as token ids: training pairs, questions, test passages, and what surrounds them."""

    def __init__(self, pairs: Pairs, tokenizer: Any) -> None:
        self.pairs, self.tokenizer = pairs, tokenizer

        def ids(texts: list[str]) -> list[list[int]]:
            found: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
            return found

        sides = {name: ids(texts) for name, texts in pairs.sides().items()}
        self.train = [
            (query[:64], passage[:256])
            for query, passage in zip(sides["train queries"], sides["train passages"], strict=True)
        ]
        self.queries, self.passages = sides["test queries"], sides["test passages"]
        self.filler = [token for passage in sides["train passages"] for token in passage]

    def documents(self, length: int) -> list[list[int]]:
        """Each test passage among filler of training passages, ``length`` tokens in all."""
        found = []
        for number, passage in enumerate(self.passages):
            own = passage[: min(length, 128)]
            random = np.random.default_rng(int(stable(f"{number} {length}")[:8], 16))
            more = length - len(own)
            filler = np.resize(self.filler, len(self.filler) + more)
            start = int(random.integers(len(self.filler)))
            around = np.roll(filler, -start)[:more].tolist()
            at = int(random.integers(more + 1))
            found.append([*around[:at], *own, *around[at:]])
        return found


def measured(
    arm: Arm,
    material: Material,
    sizes: list[int],
    pretraining: int,
    steps: int,
    width: int,
    seed: int,
) -> dict[str, Any]:
    """nDCG@10 of each question at each length, at the rate with the lower loss at the end."""
    tokenizer = material.tokenizer
    opening, landmark = tokenizer.cls_token_id, tokenizer.sep_token_id
    begun = encoder(len(tokenizer), width, seed=seed)
    if arm != "bag" and pretraining:
        texts = [passage for _, passage in material.train]
        pretrain(begun, tokenizer, texts, pretraining, seed, 128)
    state = {name: value.clone() for name, value in begun.state_dict().items()}
    best: tuple[float, Retriever] | None = None
    for rate in RATES:
        model = encoder(len(tokenizer), width, seed=seed)
        model.load_state_dict(state)
        made = Retriever(model, arm, opening, landmark)
        losses = train(made, material.train, steps, rate, seed)
        if best is None or np.mean(losses[-20:]) < best[0]:
            best = float(np.mean(losses[-20:])), made
    assert best is not None
    made = best[1].eval()
    found: dict[str, Any] = {"loss": best[0]}
    with torch.no_grad():
        queries = _vectors(made, material.queries)
        for size in sizes:
            documents = _vectors(made, material.documents(size))
            found[str(size)] = ndcg((queries @ documents.T).numpy(), material.pairs.test_answers)
    return found


def _vectors(made: Retriever, texts: list[list[int]]) -> torch.Tensor:
    """Vectors of texts of one length or another, some 8,192 tokens at once."""
    step = max(1, 8192 // max(map(len, texts)))
    parts = [texts[at : at + step] for at in range(0, len(texts), step)]
    return torch.cat([made(part, [TESTED] * len(part)) for part in parts])
