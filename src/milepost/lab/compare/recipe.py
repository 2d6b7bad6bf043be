"""One recipe for every operator: frozen states, pooling, linear head, InfoNCE within the batch.

    text    z = head(pool(states))                 query   the same pooling and head
    text    z = head(pool(states | query))         query   mean of its states, a head of its own

The second form is for operators that read a query: they score a pair and give no vector of a text
alone. Heads of one seed and width start with the same numbers for all operators, batches are the
same for all, and there is no weight decay, since it would move the power of generalised means
(``ggem``). Powers have their own learning rate, as in their paper: at the rate of the other weights
they would hardly move. A centre starts as the mean of the training states, as its page asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn

from milepost.errors import InputError
from milepost.lab.compare.rows import CompareRow
from milepost.lab.compare.states import Ragged, Reads, States, reads_of
from milepost.model.pooling import PoolModule, module
from milepost.train.fit_steps import fit_steps
from milepost.train.losses import info_nce
from milepost.train.schedule import order_of, rate_share

_POWERS, _POWERS_RATE = "pool.shift", 1e-2  # the weight of GeM and GGeM, and its peak rate


@dataclass(frozen=True, slots=True)
class CompareRecipe:
    """How each row is trained.

    Attributes:
        steps: of the optimiser.
        batch: pairs in a step; the other texts of the batch are a query's negatives.
        rate: peak learning rate, after a warm-up over a tenth of the steps; then a cosine to 0.
        temperature: of InfoNCE.
        width: of the head's output vectors.
    """

    steps: int = 60
    batch: int = 24
    rate: float = 5e-4
    temperature: float = 0.1
    width: int = 384

    def __repr__(self) -> str:
        # Published runs are keyed by this text: a new class name must not make them again.
        return f"Recipe({', '.join(f'{name}={value!r}' for name, value in asdict(self).items())})"


class Pooled(nn.Module):
    """A pooling and its heads.

    Args:
        row: the operator, its settings and its network.
        states: of the training texts.
        seed: of its weights.
        width: of the heads' vectors; None compares the pooled vectors without heads.

    Attributes:
        pool: the pooling.
        asks: whether it reads a query.
        comparable: whether query and text vectors have the same width without heads.
    """

    def __init__(self, row: CompareRow, states: States, seed: int, width: int | None) -> None:
        super().__init__()
        operator = row.known
        self.reads: Reads = reads_of(operator)
        self.asks = "queries" in operator.needs
        d = int(states.tokens.shape[1])
        more: dict[str, Any] = dict(row.settings)
        if "layers" in operator.needs:
            more["layers"] = int(states.layers.shape[1])
        self.pool: PoolModule = module(
            row.operator, d, query_width=d if self.asks else 0, seed=seed, **more
        )
        with torch.no_grad():
            for name, weight in self.pool.named_parameters():
                if name == "centre":
                    weight.copy_(torch.from_numpy(states.tokens.mean(0, dtype="float64")))
            self.out = int(self.pooled(states.some([0], self.reads), torch.zeros(1, d)).shape[1])
        self.comparable = not self.asks or self.out == d
        self.text: nn.Module = nn.Identity() if width is None else _head(self.out, width, seed)
        self.query: nn.Module = self.text
        if self.asks and width is not None:
            self.query = _head(d, width, seed)

    @property
    def parameters_of_pooling(self) -> int:
        """Number of trained weights, without the heads."""
        return sum(weight.numel() for weight in self.pool.parameters())

    def pooled(self, some: Ragged, asked: Tensor | None = None) -> Tensor:
        """``(texts, d_out)``; ``asked`` ``(texts, d)`` for operators that read queries."""
        states, lengths, segments = some.padded()
        needs = self.pool.operator.needs
        vectors: Tensor = self.pool(
            states,
            lengths,
            asked if self.asks else None,
            segments if "segments" in needs else None,
        )
        return vectors

    def questions(self, states: States, means: Tensor, numbers: Sequence[int]) -> Tensor:
        """Vectors of queries, ``(queries, width)``; ``means`` are those of all queries' states."""
        if self.asks:
            vectors: Tensor = self.query(means[list(numbers)])
            return vectors
        return self.texts(states, numbers)

    def texts(self, states: States, numbers: Sequence[int]) -> Tensor:
        """Vectors of texts independent of a query, ``(texts, width)``."""
        vectors: Tensor = self.text(self.pooled(states.some(numbers, self.reads)))
        return vectors

    def pairs(self, states: States, numbers: Sequence[int], asked: Tensor) -> Tensor:
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


def _head(enters: int, leaves: int, seed: int) -> nn.Linear:
    """A linear map whose initial weights depend on its sizes and the seed alone."""
    head = nn.Linear(enters, leaves, bias=False)
    spread = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        head.weight.copy_(torch.randn(leaves, enters, generator=spread) / enters**0.5)
    return head


@torch.random.fork_rng(devices=[])
def train(
    pooled: Pooled,
    queries: States,
    texts: States,
    recipe: CompareRecipe,
    seed: int,
    say: Callable[[int], None] = lambda step: None,
    among: Sequence[int] | None = None,
) -> list[float]:
    """Train pooling and heads in place.

    Args:
        pooled: with heads.
        queries: their states.
        texts: of the same number: text i answers query i.
        recipe: the same for all rows.
        seed: of the order of pairs, and of dropout.
        say: called with each finished step.
        among: numbers of the pairs to train on; None for all.

    Returns:
        The loss of each step, nats.

    Raises:
        InputError: the loss becomes NaN or infinite.
    """
    torch.manual_seed(seed)
    pooled.train()
    weights = [weight for weight in pooled.parameters() if weight.requires_grad]
    groups = [
        {"params": [weight], "lr": _POWERS_RATE if name == _POWERS else recipe.rate}
        for name, weight in pooled.named_parameters()
        if weight.requires_grad
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
    means = torch.from_numpy(queries.means())
    chosen = range(len(texts)) if among is None else among
    batches = order_of(len(chosen), recipe.batch, recipe.steps, seed)

    def loss(_: int) -> Tensor:
        numbers = [chosen[place] for place in next(batches)]
        asked = nn.functional.normalize(pooled.questions(queries, means, numbers), dim=-1)
        if pooled.asks:
            return _of_pairs(pooled, texts, numbers, means, asked, recipe.temperature)
        found = nn.functional.normalize(pooled.texts(texts, numbers), dim=-1)
        return info_nce(asked, found, recipe.temperature)

    def done(step: int, value: float) -> None:
        if not isfinite(value):
            raise InputError(
                f"{pooled.pool.operator.name}: the loss of step {step + 1} is {value}",
                "--tune, which also tries a lower learning rate",
            )
        say(step)

    return fit_steps(optimizer, recipe.steps, loss, share=rate_share, clipped=weights, on_step=done)


def _of_pairs(
    pooled: Pooled,
    texts: States,
    numbers: Sequence[int],
    means: Tensor,
    asked: Tensor,
    temperature: float,
) -> Tensor:
    """InfoNCE for texts that have a different vector under every query."""
    pairs = pooled.pairs(texts, numbers, means[list(numbers)])
    scores = (asked[:, None] * nn.functional.normalize(pairs, dim=-1)).sum(-1)
    # The same loss: a score is the product of the query's row of scores and the text's unit row.
    return info_nce(scores, torch.eye(len(numbers)), temperature)
