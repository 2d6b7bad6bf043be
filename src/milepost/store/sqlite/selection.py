"""The documents of a selection, as a condition of SQL."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from milepost.store.conditions import HEAD, Dialect
from milepost.store.sqlite.write import escape


def _pattern(pattern: str) -> tuple[str, str]:
    """``fits`` is Python's own, see ``folder.connect``: SQLite asks it where ``GLOB`` differs."""
    return ("fits(facts.text, %s)" if "[" in pattern else "facts.text GLOB %s"), pattern


def _named(names: Collection[str], values: dict[str, Any]) -> str:
    """JSON does not hold all names: the others are values of their own."""
    plain: list[str] = []
    odd: dict[str, str | bytes] = {}
    for name in map(escape, names):
        if isinstance(name, str) and "\0" not in name:
            plain.append(name)
        else:
            odd[f"name{len(odd)}"] = name
    values |= {"names": json.dumps(plain)} | odd
    listed = "name IN (SELECT value FROM json_each(:names))"
    return f"({' OR '.join([listed, *(f'name = :{key}' for key in odd)])})"


DIALECT = Dialect(
    value=":%s",
    having="id IN (SELECT document FROM facts WHERE %s)",
    head=f"substr(facts.text, 1, {HEAD})",
    position="instr(facts.text, %s) > 0",
    pattern=_pattern,
    named=_named,
)
