"""Landmark pooling, LMK (arXiv 2601.21525), in an encoder with rotary positions.

    1. a landmark token closes every g tokens; g is drawn from {32, 64, 128, 256} for each text in
       training, and 32 in the test
    2. z = mean of the landmarks' last states (LMK); the state of [CLS]; or the mean of all tokens
    3. pre-training: masked language modelling, 30 % of the tokens
    4. contrast: cross-entropy over the passages of a batch, temperature 0.05

The encoder is ModernBERT's (transformers): every third layer reads all tokens, the others 128
around, so that nothing in it knows a longest text. ``bag`` is the control: embeddings and LayerNorm
without attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost._optional import require
from milepost_lab.pooling.base import masked_mean
from milepost_lab.training import fit

Arm = Literal["lmk", "cls", "mean", "multi-cls", "bag"]
ARMS: tuple[Arm, ...] = ("lmk", "cls", "mean", "multi-cls", "bag")
GRANULARITIES, TESTED = (32, 64, 128, 256), 32
TEMPERATURE, MASKED = 0.05, 0.3


def encoder(vocabulary: int, width: int = 128, layers: int = 4, seed: int = 0) -> Any:
    """A ModernBERT with random weights: rotary positions, alternating attention."""
    transformers = require("transformers", extra="lab")
    config = transformers.ModernBertConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 32),
        local_attention=128,
        max_position_embeddings=16_384,
        pad_token_id=0,
        attn_implementation="sdpa",
    )
    torch.manual_seed(seed)
    return transformers.ModernBertForMaskedLM(config)


def with_landmarks(
    ids: Sequence[int], opening: int, landmark: int, every: int
) -> tuple[list[int], list[bool]]:
    """Equation 1: ids behind ``[CLS]`` with a landmark behind every ``every`` of them and the last.

    >>> with_landmarks([5, 6, 7], 1, 2, 2)
    ([1, 5, 6, 2, 7, 2], [False, False, False, True, False, True])
    """
    row, marks = [opening], [False]
    for at in range(0, len(ids), every):
        part = list(ids[at : at + every])
        row += [*part, landmark]
        marks += [False] * len(part) + [True]
    return row, marks


class Retriever(nn.Module):
    """An encoder and a way to make one vector of its states (eq. 2).

    Args:
        model: with ``get_input_embeddings``; of ``bag`` only its embeddings are used.
        arm: of ``ARMS``.
        opening: id of ``[CLS]``.
        landmark: id of the landmark.
    """

    def __init__(self, model: Any, arm: Arm, opening: int, landmark: int) -> None:
        super().__init__()
        self.arm, self.opening, self.landmark = arm, opening, landmark
        self.model = model
        self.norm = nn.LayerNorm(model.config.hidden_size)

    def rows(
        self, texts: Sequence[Sequence[int]], every: Sequence[int]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, mask and what is pooled, ``(texts, n)``.

        ``multi-cls`` has its tokens where LMK has them, but they stand for ``[CLS]``.
        """
        made = []
        for ids, step in zip(texts, every, strict=True):
            if self.arm in ("lmk", "multi-cls"):
                closing = self.landmark if self.arm == "lmk" else self.opening
                made.append(with_landmarks(ids, self.opening, closing, step))
            else:
                row = [self.opening, *ids]
                read = [n == 0 for n in range(len(row))] if self.arm == "cls" else [True] * len(row)
                made.append((row, read))
        pad = nn.utils.rnn.pad_sequence
        ids_ = pad([torch.tensor(row) for row, _ in made], batch_first=True)
        mask = pad([torch.ones(len(row), dtype=torch.bool) for row, _ in made], batch_first=True)
        return ids_, mask, pad([torch.tensor(read) for _, read in made], batch_first=True)

    def forward(self, texts: Sequence[Sequence[int]], every: Sequence[int]) -> Tensor:
        """Unit vectors ``(texts, d)`` of token ids, a landmark every so many tokens of each."""
        ids, mask, read = self.rows(texts, every)
        if self.arm == "bag":
            states = self.model.get_input_embeddings()(ids)
        else:
            states = self.model.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state
        return F.normalize(self.norm(masked_mean(states, read)), dim=-1)


def pretrain(
    model: Any, tokenizer: Any, texts: Sequence[Sequence[int]], steps: int, seed: int, length: int
) -> list[float]:
    """Equation 3 on rows of ``length`` tokens; the loss of each step in nats."""
    transformers = require("transformers", extra="lab")
    collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=MASKED)
    stream = np.concatenate([np.asarray(text) for text in texts])
    random = np.random.default_rng(seed)
    torch.manual_seed(seed)

    def loss(_: int) -> Tensor:
        places = random.integers(0, max(1, len(stream) - length), 16)
        rows = [{"input_ids": stream[at : at + length].tolist()} for at in places]
        batch = collator(rows)
        if not (batch["labels"] != -100).any():
            batch["labels"][0, 0] = batch["input_ids"][0, 0]
        found: Tensor = model(**batch).loss
        return found

    return fit(list(model.parameters()), loss, steps, 1e-3, decay=0.01)


def train(
    made: Retriever,
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    steps: int,
    rate: float,
    seed: int,
    batch: int = 32,
) -> list[float]:
    """Equation 4 on questions and passages; the loss of each step."""
    random = np.random.default_rng(seed)

    def loss(_: int) -> Tensor:
        some = random.choice(len(pairs), min(batch, len(pairs)), replace=False)
        every = random.choice(GRANULARITIES, len(some)).tolist()
        queries = made([pairs[n][0] for n in some], [TESTED] * len(some))
        passages = made([pairs[n][1] for n in some], every)
        return F.cross_entropy(queries @ passages.T / TEMPERATURE, torch.arange(len(some)))

    return fit([w for w in made.parameters() if w.requires_grad], loss, steps, rate, decay=0.01)
