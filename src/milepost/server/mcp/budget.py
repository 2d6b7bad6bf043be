"""Results that hold no more tokens than an agent asked for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

R = TypeVar("R", bound=BaseModel)

LEAST = 200  # tokens below which a result has no room for a sentence and where it is from
MOST = 20_000  # tokens of one result; clients cut results at 25,000
TEXT_SHARE = 0.85  # part of a budget that is for sentences; the rest is for where they are from


def fitted(build: Callable[[int], R], most: int, count: Callable[[str], int], budget: int) -> R:
    """The result with as many items, or characters of its text, as the budget of tokens holds.

    ``build`` makes it with the first items, of which there are ``most``, given their number.
    """

    def tokens(items: int) -> int:  # they grow with the items
        return count(build(items).model_dump_json(exclude_none=True))

    return build(bisect_right(range(1, most + 1), budget, key=tokens))
