"""A pooling with its heads, and how its vectors are scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from milepost.errors import InputError
from milepost_lab.compare.live import LiveRagged, LiveStates
from milepost_lab.compare.rows import CompareRow
from milepost_lab.compare.states import Ragged, Reads, States, reads_of
from milepost_lab.model.pooling import PoolModule, module

Sides = States | LiveStates


class Pooled(nn.Module):
    """A pooling and its heads.

    Args:
        row: the operator, its settings and its network.
        states: of the training texts.
        seed: of its weights.
        width: of the heads' vectors; None compares the pooled vectors without heads.
        as_index: pool unit landmarks, see ``CompareRecipe``.

    Attributes:
        pool: the pooling.
        asks: whether it reads a query.
        late: whether it pools vectors of unit length that the head gave, and is scored by products.
        several: whether it is trained with several vectors a text.
        out: numbers of a vector.
        comparable: whether query and text vectors have the same width without heads.

    Raises:
        InputError: the pooling does not fit an index, or gives another shape, or NaN.
    """

    def __init__(
        self,
        row: CompareRow,
        states: States,
        seed: int,
        width: int | None,
        *,
        as_index: bool = False,
    ) -> None:
        super().__init__()
        operator = row.known
        self.reads: Reads = "index" if as_index else reads_of(operator)
        self.asks = "queries" in operator.needs
        self.late = bool(operator.late)
        if as_index and operator.needs - {"segments"}:
            raise InputError(
                f"{row.name} reads {', '.join(sorted(operator.needs))}, which an index lacks",
                "leave --as-index out, or name poolings that read only states",
            )
        d = int(states.tokens.shape[1])
        more: dict[str, Any] = dict(row.settings)
        if "layers" in operator.needs:
            more["layers"] = int(states.layers.shape[1])
        self.text: nn.Module = nn.Identity()
        if self.late and width is not None:
            self.text = _head(d, width, seed)
        self.pool: PoolModule = module(
            row.operator,
            width if self.late and width is not None else d,
            query_width=d if self.asks else 0,
            seed=seed,
            **more,
        )
        with torch.no_grad():
            for name, weight in self.pool.named_parameters():
                if name == "centre":
                    weight.copy_(torch.from_numpy(states.centre(self.reads)))
            one = self.pooled(states.some([0], self.reads), torch.zeros(1, d))
        self.out, self.several = int(one.shape[-1]), self.late or one.ndim == 3
        self.comparable = not self.asks or self.out == d
        if not self.late and width is not None:
            self.text = _head(self.out, width, seed)
        self.query: nn.Module = self.text
        if self.asks and width is not None:
            self.query = _head(d, width, seed)

    @property
    def parameters_of_pooling(self) -> int:
        """Number of trained weights, without the heads."""
        return sum(weight.numel() for weight in self.pool.parameters())

    def pooled(self, some: Ragged | LiveRagged, asked: Tensor | None = None) -> Tensor:
        """``(texts, d_out)`` or ``(texts, k, d_out)``.

        Args:
            some: the texts.
            asked: ``(texts, d)`` for operators that read queries.
        """
        states, lengths, segments = some.padded()
        if self.late:
            states = self.headed(states)
        needs = self.pool.operator.needs
        vectors: Tensor = self.pool(
            states,
            lengths,
            asked if self.asks else None,
            segments if "segments" in needs else None,
        )
        return vectors

    def headed(self, states: Tensor) -> Tensor:
        """What late interaction pools: the head's vectors of states, of unit length."""
        return normalize(self.text(states), dim=-1)

    def questions(self, states: Sides, numbers: Sequence[int]) -> Tensor:
        """Vectors of queries to train, ``(queries, width)`` or ``(queries, k, width)``."""
        if self.asks:
            vectors: Tensor = self.query(states.asked(numbers))
            return vectors
        return self.texts(states, numbers)

    def texts(self, states: Sides, numbers: Sequence[int]) -> Tensor:
        """Vectors of texts independent of a query, as of ``questions``.

        Those of late interaction are not pooled yet: MaxSim of all tokens is what is trained.
        """
        some = states.some(numbers, self.reads)
        vectors: Tensor = self.text(some.padded()[0] if self.late else self.pooled(some))
        return vectors

    def pairs(self, states: Sides, numbers: Sequence[int], asked: Tensor) -> Tensor:
        """Vectors of every text under every query, ``(queries, texts, width)``.

        Args:
            states: the texts'.
            numbers: which texts.
            asked: ``(queries, d)`` means of the queries' states.
        """
        every = asked.expand(len(numbers), -1, -1)
        pooled = self.pooled(states.some(numbers, self.reads), every)
        vectors: Tensor = self.text(pooled).transpose(0, 1)
        return vectors


def similar(asked: Tensor, found: Tensor) -> Tensor:
    """Scores of queries with texts, ``(queries, texts)``.

    One vector each: products, which are cosines of vectors of unit length. Several: the mean over a
    query's vectors of the greatest product with a vector of the text (MaxSim, arXiv 2004.12832,
    which sums; ``milepost_lab.pooling.maxsim``). Rows of zeros, which texts with
    fewer vectors than others have, do not count.

    Args:
        asked: ``(queries, d)`` or ``(queries, k, d)``.
        found: ``(texts, d)`` or ``(texts, l, d)``.
    """
    if asked.ndim == 2:
        return asked @ found.T
    none = (found == 0).all(-1)
    none[:, 0] = False  # each text has one vector at least
    rows = []
    for each in asked:
        there = (each != 0).any(-1)
        there[0] = True
        products = torch.einsum("kd,tld->tkl", each[there], found)
        rows.append(products.masked_fill(none[:, None], -torch.inf).amax(2).mean(1))
    return torch.stack(rows)


def _head(enters: int, leaves: int, seed: int) -> nn.Linear:
    """A linear map whose initial weights depend on its sizes and the seed alone."""
    head = nn.Linear(enters, leaves, bias=False)
    spread = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        head.weight.copy_(torch.randn(leaves, enters, generator=spread) / enters**0.5)
    return head
