"""Results that hold no more tokens than an agent asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

R = TypeVar("R", bound=BaseModel)

LEAST = 200
"""Tokens below which a result has no room for a sentence and where it is from."""

MOST = 20_000
"""Tokens of one result; clients cut results at 25,000."""

TEXT_SHARE = 0.8
"""Part of a budget that is for sentences; the rest is for where they are from."""


def fitted(result: R, name: str, count: Callable[[str], int], budget: int) -> R:
    """Drop items from the end of a list until the result, as JSON, is within the budget.

    Args:
        result: what holds the list.
        name: the field with the list, the best first.
        count: tokens of a text.
        budget: maximum number of tokens.
    """
    items = getattr(result, name)
    while items and count(result.model_dump_json(exclude_none=True)) > budget:
        items.pop()
    return result
