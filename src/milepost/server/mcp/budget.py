"""Results that hold no more tokens than an agent asked for, and cursors that lead on."""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from milepost.errors import InputError
from milepost.index.naming import document_id

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


_LONGEST = 200  # characters of a cursor; a longer one may be JSON nested without end


def write_cursor(of: str, *places: int) -> str:
    """A cursor: numbers that lead on, for one question only, in a word that an agent hands back."""
    data = json.dumps([_mark(of), *places], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def read_cursor(cursor: str, of: str) -> tuple[int, int]:
    """The numbers of a cursor, which must be one of this question."""
    try:
        given = cursor if len(cursor) <= _LONGEST else ""
        data = base64.urlsafe_b64decode(given + "=" * (-len(given) % 4))
        mark, first, skipped = json.loads(data)
        if mark == _mark(of) and LEAST <= first <= MOST and 0 <= skipped <= 1 << 40:
            return int(first), int(skipped)
    except (ValueError, TypeError, RecursionError, binascii.Error):
        pass
    raise InputError("the cursor is not one of this question", "the `cursor` of the last result")


def _mark(of: str) -> str:
    return document_id(of)[:6]
