"""The documents of a selection, as a condition of SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from milepost.filters.patterns import has_characters, sqlite_glob
from milepost.store.base import DocumentSelection
from milepost.store.conditions import ALWAYS, HEAD, Dialect
from milepost.store.conditions import condition as filtered
from milepost.store.sqlite.write import escape


def _pattern(pattern: str) -> tuple[str, str]:
    """``fits`` is Python's own, see ``folder.connect``: SQLite asks it where ``GLOB`` differs."""
    if has_characters(pattern):
        return "fits(facts.text, %s)", pattern
    return "facts.text GLOB %s", sqlite_glob(pattern)


_DIALECT = Dialect(
    value=":%s",
    having="id IN (SELECT document FROM facts WHERE %s)",
    head=f"substr(facts.text, 1, {HEAD})",
    position="instr(facts.text, %s) > 0",
    pattern=_pattern,
)


def condition(among: DocumentSelection) -> tuple[str, dict[str, Any]]:
    """The condition on ``documents`` that a search is limited by, and its values."""
    values: dict[str, Any] = {}
    parts = [ALWAYS]
    if among.names is not None:
        plain, odd = _spelled(among.names)
        values |= {"names": json.dumps(plain)} | odd
        named = "name IN (SELECT value FROM json_each(:names))"
        parts.append(f"({' OR '.join([named, *(f'name = :{key}' for key in odd)])})")
    if among.where is not None:
        parts.append(filtered(among.where.root, _DIALECT, values))
    return " AND ".join(parts), values


def _spelled(names: Iterable[str]) -> tuple[list[str], dict[str, str | bytes]]:
    """Names as they are kept; apart, with names of values, those that JSON does not hold."""
    plain: list[str] = []
    odd: dict[str, str | bytes] = {}
    for name in names:
        each = escape(name)
        if isinstance(each, str) and "\0" not in each:
            plain.append(each)
        else:
            odd[f"name{len(odd)}"] = each
    return plain, odd
