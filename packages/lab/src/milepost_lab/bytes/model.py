"""Byte models of one recipe (arXiv 2209.11035), by ``transformers``' T5 with ByT5's form.

1. ids: pad 0, end 1, unknown 2, byte b -> b + 3; marks of gaps are 258, 257, … downwards
2. span corruption: noise = round(0.15 N), gaps = round(noise / mean); inputs of N - noise +
gaps + 1 ids, targets of noise + gaps + 1
3. normalised transfer T[s, t] = (A[s, t] - R[t]) / (A[t, t] - R[t]), R of random weights
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from milepost._optional import require
from milepost.errors import InputError
from milepost_lab.training import fit

PAD, END, FIRST_MARK, MARKS = 0, 1, 258, 100
NOISE = 0.15


def encode(data: bytes, *, end: bool = True) -> list[int]:
    """Equation 1.

    >>> encode("olá".encode())
    [114, 111, 198, 164, 1]
    """
    return [byte + 3 for byte in data] + [END] * end


def window_at(data: bytes, start: int, size: int) -> bytes:
    """At most ``size`` bytes that begin and end with whole characters."""
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    end = min(len(data), start + size)
    while end < len(data) and end > start and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[start:end]


def gaps_of(length: int, mean: float) -> tuple[int, int]:
    """Noise bytes and gaps of a text of ``length`` bytes, at least one each."""
    noise = min(max(round(NOISE * length), 1), length - 1)
    return noise, min(max(round(noise / mean), 1), noise, length - noise)


def corrupt(ids: Sequence[int], gaps: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Equation 2: inputs with a mark for each gap ``(start, end)``, targets with what was there.

    Raises:
        InputError: more gaps than marks.
    """
    if len(gaps) > MARKS:
        raise InputError(f"{len(gaps)} gaps, {MARKS} marks", "longer gaps, or shorter windows")
    inputs: list[int] = []
    targets: list[int] = []
    at = 0
    for number, (start, end) in enumerate(gaps):
        mark = FIRST_MARK - number
        inputs += [*ids[at:start], mark]
        targets += [mark, *ids[start:end]]
        at = end
    return [*inputs, *ids[at:], END], [*targets, END]


def random_gaps(length: int, mean: float, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Gaps of random sizes and places, none touching another, as T5 draws them."""
    noise, gaps = gaps_of(length, mean)

    def parts(total: int) -> NDArray[np.int64]:
        cuts = np.sort(rng.choice(np.arange(1, total), gaps - 1, replace=False))
        found: NDArray[np.int64] = np.diff([0, *cuts, total])
        return found

    ends = np.cumsum(np.stack([parts(length - noise), parts(noise)], 1).ravel())
    return [(int(ends[2 * n]), int(ends[2 * n + 1])) for n in range(gaps)]


def byte_model(
    width: int = 64, layers: int = 2, decoder_layers: int = 1, heads: int = 4, seed: int = 0
) -> Any:
    """A small T5 of ByT5's form: gated GELU, untied embeddings, 384 ids."""
    transformers = require("transformers", extra="lab")
    config = transformers.T5Config(
        vocab_size=384,
        d_model=width,
        d_kv=width // heads,
        d_ff=2 * width,
        num_layers=layers,
        num_decoder_layers=decoder_layers,
        num_heads=heads,
        feed_forward_proj="gated-gelu",
        dropout_rate=0.0,
        tie_word_embeddings=False,
        decoder_start_token_id=PAD,
        pad_token_id=PAD,
        eos_token_id=END,
    )
    torch.manual_seed(seed)
    return transformers.T5ForConditionalGeneration(config)


def padded_ids(rows: Sequence[Sequence[int]]) -> Tensor:
    """``(b, n)`` int64."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True)


def pretrain(
    model: Any, data: bytes, steps: int, seed: int, window: int = 128, mean: float = 8.0
) -> list[float]:
    """Train by span corruption on windows of a text; the loss of each step in nats.

    Raises:
        InputError: the text is no longer than a window.
    """
    if len(data) <= window:
        raise InputError(f"{len(data)} bytes for windows of {window}", "more text")
    rng = np.random.default_rng(seed)

    def loss(_: int) -> Tensor:
        rows = []
        for place in rng.integers(0, len(data) - window, 16):
            ids = encode(window_at(data, int(place), window), end=False)
            rows.append(corrupt(ids, random_gaps(len(ids), mean, rng)))
        inputs, targets = (padded_ids([row[side] for row in rows]) for side in (0, 1))
        labels = targets.masked_fill(targets == PAD, -100)
        found: Tensor = model(input_ids=inputs, attention_mask=inputs != PAD, labels=labels).loss
        return found

    return fit(list(model.parameters()), loss, steps, 3e-3)


def states(model: Any, ids: Tensor) -> Tensor:
    """Mean of the encoder's states over the bytes, ``(b, d)``."""
    mask = ids != PAD
    found: Tensor = model.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    return (found * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def tune(
    model: Any, texts: Sequence[str], labels: Sequence[int], steps: int, seed: int
) -> nn.Linear:
    """Train the encoder and a linear head to tell two classes of texts; returns the head."""
    torch.manual_seed(seed)
    head = nn.Linear(model.config.d_model, 2)
    ids, kinds = padded_ids([encode(text.encode()) for text in texts]), torch.tensor(labels)
    draws = torch.Generator().manual_seed(seed)

    def loss(_: int) -> Tensor:
        rows = torch.randint(len(ids), (32,), generator=draws)
        return F.cross_entropy(head(states(model, ids[rows])), kinds[rows])

    fit([*model.encoder.parameters(), *head.parameters()], loss, steps, 3e-3)
    return head


@torch.no_grad()
def accuracy(model: Any, head: nn.Linear, texts: Sequence[str], labels: Sequence[int]) -> float:
    """Share of texts whose class is right."""
    ids = padded_ids([encode(text.encode()) for text in texts])
    right = head(states(model, ids)).argmax(1) == torch.tensor(labels)
    return float(right.float().mean())


def normalised(scores: NDArray[np.float64], random: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 3 of ``(sources, targets)`` and ``(targets,)``; NaN where nothing can be gained."""
    gain = np.diag(scores)[: scores.shape[1]] - random
    with np.errstate(divide="ignore", invalid="ignore"):
        found: NDArray[np.float64] = np.where(np.abs(gain) > 1e-9, (scores - random) / gain, np.nan)
    return found
