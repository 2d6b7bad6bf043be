"""A pooling over stored token states, with a linear map behind it, as a retriever.

A question is pooled as a text is; poolings by a query read the mean of the question's tokens.
Scores are cosines, MaxSim for poolings that give several vectors, and products for fixed encodings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from milepost.errors import InputError
from milepost_lab.pooling import module
from milepost_lab.pooling.base import identity, masked_mean, padded
from milepost_lab.pooling.late import maxsim
from milepost_lab.pooling.registry import Operator, operator, pool

TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class Texts:
    """States of texts.

    Attributes:
        states: ``(tokens, d)`` of each, or ``(tokens, layers, d)``.
        segments: the sentence of each token.
    """

    states: Sequence[Tensor]
    segments: Sequence[Sequence[int]]

    def __len__(self) -> int:
        return len(self.states)

    def some(self, numbers: Sequence[int]) -> Texts:
        """Some of the texts."""
        return Texts([self.states[n] for n in numbers], [self.segments[n] for n in numbers])

    def batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """Padded states and mask, and segments ``(texts, n)``."""
        states, mask = padded(list(self.states))
        return states, mask, padded([torch.tensor(each) for each in self.segments])[0]


@dataclass(frozen=True, slots=True)
class Arm:
    """A row of the comparison.

    Attributes:
        name: as it was asked for: ``ggem:groups=4@random``.
        row: of the table of poolings.
        settings: of the pooling.
        random: read an encoder with random weights: the control.
    """

    name: str
    row: Operator
    settings: dict[str, Any]
    random: bool = False


def read_arm(text: str) -> Arm:
    """Read ``NAME:setting=value:…``, with ``@random`` behind it for the control.

    Raises:
        InputError: an unknown pooling, setting or network.
    """
    rest, at, network = text.partition("@")
    if at and network != "random":
        raise InputError(f"{text}: unknown network {network!r}", f"{rest}@random")
    name, *pairs = rest.split(":")
    row = operator(name)
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        default = row.defaults.get(key)
        try:
            if isinstance(default, bool):
                settings[key] = {"true": True, "false": False}[value.lower()]
            elif isinstance(default, tuple):
                settings[key] = tuple(int(part) for part in value.split("-"))
            elif isinstance(default, int | float):
                settings[key] = type(default)(value)
            else:
                settings[key] = value
        except (KeyError, ValueError):
            raise InputError(f"{text}: {key}={value}", f"as in {key}={default!r}") from None
    return Arm(text, row, row.settings(settings), bool(at))


class Retriever(nn.Module):
    """A pooling and a linear map that begins as the identity."""

    def __init__(self, arm: Arm, width: int, layers: int, seed: int) -> None:
        super().__init__()
        self.row = arm.row
        self.pooling = module(
            arm.row.name, width, query_width=width, layers=layers, seed=seed, **arm.settings
        )
        self.asking = self.pooling
        if arm.row.query_settings:  # late interaction trains nothing of the pooling
            more = {**arm.settings, **arm.row.query_settings}
            self.asking = module(arm.row.name, width, layers=layers, seed=seed, **more)
        self.head: nn.Module = nn.Identity()
        if arm.row.late != "one":
            wide = self._wide(width, layers)
            self.head = identity(wide)

    @torch.no_grad()
    def _wide(self, width: int, layers: int) -> int:
        shape = (1, 2, layers, width) if "layers" in self.row.needs else (1, 2, width)
        mask, cut = torch.ones(1, 2).bool(), torch.zeros(1, 2).long()
        found = self._pool(self.pooling, torch.zeros(shape), mask, cut, torch.zeros(1, width))
        return int(found.shape[-1])

    def _pool(
        self, made: nn.Module, states: Tensor, mask: Tensor, cut: Tensor, queries: Tensor
    ) -> Tensor:
        return pool(made, self.row.needs, states, mask, queries, cut)

    def scores(self, queries: Texts, texts: Texts) -> Tensor:
        """Scores of all questions and texts, ``(questions, texts)``."""
        asked, asked_mask, asked_cut = queries.batch()
        states, mask, cut = texts.batch()
        if "queries" in self.row.needs:
            vectors = masked_mean(asked, asked_mask)
            found = self._pool(self.pooling, states, mask, cut, vectors.expand(len(states), -1, -1))
            # The question's side keeps its vector where the pooling keeps the width.
            if found.shape[-1] == vectors.shape[-1]:
                return F.cosine_similarity(self.head(found), vectors[None], dim=-1).T
            own = self._pool(self.pooling, asked, asked_mask, asked_cut, vectors)
            return F.cosine_similarity(self.head(found), self.head(own)[None], dim=-1).T
        one = self._pool(self.asking, asked, asked_mask, asked_cut, asked[:, 0])
        other = self._pool(self.pooling, states, mask, cut, states[:, 0])
        if self.row.late == "many" or one.ndim == 3:
            left, right = F.normalize(self.head(one), dim=-1), F.normalize(self.head(other), dim=-1)
            there = one.abs().sum(-1) > 0
            return maxsim(left, there, right, other.abs().sum(-1) > 0) / there.sum(1)[:, None]
        if self.row.late == "one":
            return one @ other.T
        return F.normalize(self.head(one), dim=-1) @ F.normalize(self.head(other), dim=-1).T

    def loss(self, queries: Texts, texts: Texts) -> Tensor:
        """InfoNCE; text i answers question i."""
        scores = self.scores(queries, texts) / TEMPERATURE
        return F.cross_entropy(scores, torch.arange(len(queries)))

    @torch.no_grad()
    def ranking(self, queries: Texts, texts: Texts, together: int = 32) -> np.ndarray[Any, Any]:
        """Scores of all pairs in tiles, ``(questions, texts)`` float32."""
        rows = []
        for at in range(0, len(queries), together):
            some = queries.some(range(at, min(len(queries), at + together)))
            parts = [
                self.scores(some, texts.some(range(n, min(len(texts), n + together))))
                for n in range(0, len(texts), together)
            ]
            rows.append(torch.cat(parts, 1))
        found: np.ndarray[Any, Any] = torch.cat(rows).numpy()
        return found
