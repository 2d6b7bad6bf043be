"""A learning rate chosen with the first seed, and a training of every other seed at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar


class Rated(Protocol):
    """A training."""

    @property
    def rate(self) -> float:
        """Of learning."""

    @property
    def loss(self) -> float:
        """The lowest on the validation rows."""


T = TypeVar("T", bound=Rated)


def at_best_rate(
    train: Callable[[float, int], T],
    rates: Sequence[float],
    seeds: Sequence[int],
    say: Callable[[int, int], None],
) -> list[T]:
    """A training a seed, at the rate whose training with the first seed has the lowest loss.

    Args:
        train: trains at a rate with a seed.
        rates: to choose from.
        seeds: of the trainings.
        say: told trainings done and of how many.
    """
    first, *others = seeds
    of = len(rates) + len(others)
    tried = []
    for done, rate in enumerate(rates):
        say(done, of)
        tried.append(train(rate, first))
    found = [min(tried, key=lambda one: one.loss)]
    for done, seed in enumerate(others, len(rates)):
        say(done, of)
        found.append(train(found[0].rate, seed))
    return found
