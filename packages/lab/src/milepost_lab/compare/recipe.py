"""One recipe for every operator: states, pooling, linear head, InfoNCE within the batch.

    text    z = head(pool(states))                 query   the same pooling and head
    text    z = head(pool(states | query))         query   mean of its states, a head of its own

The second form is for operators that read a query: they score a pair and give no vector of a text
alone. An operator with k vectors a text is scored by their greatest products (``similar``). Late
interaction trains the head on every token, by MaxSim, and pools what the head gives: its rows
differ in what they keep of the same trained vectors.

Heads of one seed and width start with the same numbers for all operators, batches are the same for
all, and there is no weight decay, since it would move the power of generalised means (``ggem``).
Powers have their own learning rate, as in their paper: at the rate of the other weights they would
hardly move. A centre starts as the mean of the training states, as its page asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from milepost.errors import InputError
from milepost_lab.compare.pooled import Pooled, Sides, similar
from milepost_lab.model.pooling.outside import failed_backward
from milepost_train.early_stopping import Flat, Patience, fit_with_early_stopping
from milepost_train.fit_steps import fit_steps
from milepost_train.losses import info_nce
from milepost_train.schedule import order_of, rate_share

_POWERS, _POWERS_RATE = "pool.shift", 1e-2  # the weight of GeM and GGeM, and its peak rate


Network = Literal["frozen", "lora", "full"]
"""What is trained below the pooling: nothing, LoRA beside linear layers, or all weights."""

NETWORK_RATES: dict[Network, float] = {"frozen": 0.0, "lora": 2e-4, "full": 2e-5}
"""Peak learning rates of the network, as is usual for each."""

_LATER: dict[str, Any] = {
    "rates": (),
    "network": "frozen",
    "as_index": False,
    "until_flat": False,
}


@dataclass(frozen=True, slots=True)
class CompareRecipe:
    """How each row is trained.

    Attributes:
        steps: of the optimiser; at most, if trained until flat.
        batch: pairs in a step; the other texts of the batch are a query's negatives.
        rate: peak learning rate, after a warm-up over a tenth of the steps; then a cosine to 0.
        temperature: of InfoNCE.
        width: of the head's output vectors.
        rates: learning rates of which validation pairs choose one for each row; empty: ``rate``.
        network: what is trained below the pooling.
        as_index: pool unit landmarks, without heads, as the document vectors of an index are made.
        until_flat: train until the loss of the validation pairs is flat; the rate stays up after
            its warm-up.
    """

    steps: int = 60
    batch: int = 24
    rate: float = 5e-4
    temperature: float = 0.1
    width: int = 384
    rates: tuple[float, ...] = ()
    network: Network = "frozen"
    as_index: bool = False
    until_flat: bool = False

    def __repr__(self) -> str:
        # Published runs are keyed by this text: a new class name, or a field that came later and
        # has its default, must not make them again.
        told = {
            name: value
            for name, value in asdict(self).items()
            if name not in _LATER or value != _LATER[name]
        }
        return f"Recipe({', '.join(f'{name}={value!r}' for name, value in told.items())})"


@torch.random.fork_rng(devices=[])
def train(
    pooled: Pooled,
    queries: Sides,
    texts: Sides,
    recipe: CompareRecipe,
    seed: int,
    say: Callable[[int], None] = lambda step: None,
    *,
    among: Sequence[int] | None = None,
    network: nn.Module | None = None,
) -> list[float]:
    """Train pooling and heads in place, for the recipe's steps.

    Args:
        pooled: with heads.
        queries: their states.
        texts: of the same number: text i answers query i.
        recipe: the same for all rows.
        seed: of the order of pairs, and of dropout.
        say: called with each finished step.
        among: numbers of the pairs to train on; None for all.
        network: what computes states, if it is trained as well.

    Returns:
        The loss of each step, nats; empty where there is no weight to train.

    Raises:
        InputError: the loss becomes NaN or infinite, or the backward pass of a pooling of others
            fails.
    """
    torch.manual_seed(seed)
    pooled.train()
    optimizer = _optimizer(pooled, recipe, network)
    if optimizer is None:
        return []
    loss = _losses(pooled, (queries, texts), recipe, seed, among)

    def done(step: int, value: float) -> None:
        if not isfinite(value):
            raise InputError(
                f"{pooled.pool.operator.name}: the loss of step {step + 1} is {value}",
                "vectors that are not 0 and a lower learning rate: --rate 1e-4",
            )
        say(step)

    weights = _weights(optimizer)
    with _named(pooled):
        return fit_steps(
            optimizer, recipe.steps, loss, share=rate_share, clipped=weights, on_step=done
        )


@torch.random.fork_rng(devices=[])
def train_until_flat(
    pooled: Pooled,
    sides: tuple[Sides, Sides],
    recipe: CompareRecipe,
    seed: int,
    say: Callable[[int], None],
    *,
    among: Sequence[int],
    held: Sequence[int],
    network: nn.Module | None = None,
) -> tuple[list[float], Flat]:
    """Train as ``train`` does, until the loss of held-out pairs is flat; the best weights stay.

    Args:
        pooled: with heads.
        sides: states of queries and of texts.
        recipe: whose steps are the cap.
        seed: of the order of pairs, and of dropout.
        say: called with each finished step.
        among: numbers of the pairs to train on.
        held: numbers of the pairs that validate.
        network: what computes states, if it is trained as well.

    Returns:
        The loss of each step and how the training ended; without a step where there is no weight.

    Raises:
        InputError: the backward pass of a pooling of others fails.
    """
    torch.manual_seed(seed)
    pooled.train()
    optimizer = _optimizer(pooled, recipe, network)
    if optimizer is None:
        return [], Flat(0, 0, 0.0, True, (), ())
    batches = [held[at : at + recipe.batch] for at in range(0, len(held), recipe.batch)]

    def validated() -> float:
        pooled.eval()
        found = [float(_loss(pooled, *sides, each, recipe)) * len(each) for each in batches]
        pooled.train()
        return sum(found) / len(held)

    with _named(pooled):
        found = fit_with_early_stopping(
            optimizer,
            _losses(pooled, sides, recipe, seed, among),
            validated,
            Patience(most=recipe.steps),
            clipped=_weights(optimizer),
            on_step=lambda step, _: say(step),
        )
    return list(found.losses), found


@contextmanager
def _named(pooled: Pooled) -> Iterator[None]:
    """Name a pooling of others whose backward pass fails, as it may only below a trained network.

    Its trial cannot tell: states of a frozen network have no gradient.
    """
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        operator = pooled.pool.operator
        if operator.make is None:
            raise
        raise failed_backward(operator.name, error) from error


def _optimizer(
    pooled: Pooled, recipe: CompareRecipe, network: nn.Module | None
) -> torch.optim.Optimizer | None:
    """AdamW of all that is trained; None where there is nothing."""
    groups: list[dict[str, Any]] = [
        {"params": [weight], "lr": _POWERS_RATE if name == _POWERS else recipe.rate}
        for name, weight in pooled.named_parameters()
        if weight.requires_grad
    ]
    below = [] if network is None else [w for w in network.parameters() if w.requires_grad]
    if below:
        groups.append({"params": below, "lr": NETWORK_RATES[recipe.network]})
    return torch.optim.AdamW(groups, weight_decay=0.0) if groups else None


def _weights(optimizer: torch.optim.Optimizer) -> list[Tensor]:
    return [weight for group in optimizer.param_groups for weight in group["params"]]


def _losses(
    pooled: Pooled,
    sides: tuple[Sides, Sides],
    recipe: CompareRecipe,
    seed: int,
    among: Sequence[int] | None,
) -> Callable[[int], Tensor]:
    """The loss of each step, on batches in the order of the seed."""
    chosen = range(len(sides[1])) if among is None else among
    batches = order_of(len(chosen), recipe.batch, recipe.steps, seed)

    def loss(_: int) -> Tensor:
        return _loss(pooled, *sides, [chosen[place] for place in next(batches)], recipe)

    return loss


def _loss(
    pooled: Pooled, queries: Sides, texts: Sides, numbers: Sequence[int], recipe: CompareRecipe
) -> Tensor:
    """InfoNCE of some pairs, each other's negatives."""
    asked = normalize(pooled.questions(queries, numbers), dim=-1)
    if pooled.asks:
        means = queries.asked(numbers)
        pairs = normalize(pooled.pairs(texts, numbers, means), dim=-1)
        scores = (asked[:, None] * pairs).sum(-1)
    else:
        found = normalize(pooled.texts(texts, numbers), dim=-1)
        if not pooled.several:
            return info_nce(asked, found, recipe.temperature)
        scores = similar(asked, found)
    # The same loss: a score is the product of the query's row of scores and the text's unit row
    return info_nce(scores, torch.eye(len(numbers)), recipe.temperature)
