"""What a filter means, plainly; a store's own translation must agree with it.

A key has no value, one, or several (``tags``, authors): a test holds where one of the values passes
it. Where there is none, every test but ``missing`` is false, ``!=`` and ``not in`` among them;
these two hold where there is a value and none of them is equal. Values of another type than the
operand's are neither equal nor less nor greater.

Text is compared without regard to case. A date stands for its period: ``date = 2020`` holds for all
days of the year, ``date > 2020`` from 2021 on, ``date >= 2020`` is one or the other. A document
whose own date is only a year or a month counts as of its beginning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from milepost.filters.nodes import (
    And,
    Compare,
    Contains,
    Date,
    Exists,
    In,
    Matches,
    Missing,
    Node,
    Not,
    Operand,
    Operator,
    Or,
)

if TYPE_CHECKING:
    from milepost.types import Value

    Single = str | float | bool

_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[T ].*)?)?)?", re.DOTALL)
_AFTER = "~"  # sorts behind the digits and the hyphen of a date


def holds(node: Node, properties: Mapping[str, Value]) -> bool:
    """Whether a document with these properties passes a node."""
    match node:
        case And(nodes):
            return all(holds(each, properties) for each in nodes)
        case Or(nodes):
            return any(holds(each, properties) for each in nodes)
        case Not(inner):
            return not holds(inner, properties)
    values = _values(properties, node.key)
    match node:
        case Exists():
            return bool(values)
        case Missing():
            return not values
        case Compare(_, "!=", operand):
            return bool(values) and not any(_compares(each, "=", operand) for each in values)
        case Compare(_, operator, operand):
            return any(_compares(each, operator, operand) for each in values)
        case In(_, operands, negated):
            equal = any(_compares(each, "=", operand) for each in values for operand in operands)
            return bool(values) and equal is not negated
        case Contains(_, text):
            part = folded(text)
            return any(part in folded(each) for each in values if isinstance(each, str))
        case Matches(_, pattern):
            glob = folded(pattern)
            return any(fnmatchcase(folded(each), glob) for each in values if isinstance(each, str))


def folded(text: str) -> str:
    """Text as it is compared: in one Unicode form, without regard to case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def is_date(text: str) -> bool:
    """Whether a value is compared with dates: YYYY, YYYY-MM, YYYY-MM-DD, and a time behind it."""
    return _DATE.fullmatch(text) is not None


def _values(properties: Mapping[str, Value], key: str) -> tuple[Single, ...]:
    value = properties.get(key, ())
    return value if isinstance(value, tuple) else (value,)


def _compares(value: Single, operator: Operator, operand: Operand) -> bool:
    """Whether one value is equal to an operand (``=``), or less or greater."""
    if isinstance(operand, bool) or isinstance(value, bool):
        return operator == "=" and value is operand
    if isinstance(operand, Date):
        return isinstance(value, str) and is_date(value) and _dated(value, operator, operand.text)
    if isinstance(operand, str):
        return isinstance(value, str) and _ordered(folded(value), operator, folded(operand))
    if isinstance(value, str):  # a number of four digits is a year
        year = operand.is_integer() and 1000 <= operand <= 9999
        return year and is_date(value) and _dated(value, operator, f"{operand:.0f}")
    return _ordered(value, operator, operand)


def _dated(value: str, operator: Operator, period: str) -> bool:
    if operator == "=":
        return value.startswith(period)
    return _ordered(value, operator, period + _AFTER if operator in ("<=", ">") else period)


def _ordered(value: str | float, operator: Operator, operand: str | float) -> bool:
    """Compare two texts or two numbers."""
    match operator:
        case "=":
            return value == operand
        case "!=":
            return value != operand
        case "<":
            return value < operand  # type: ignore[operator]
        case "<=":
            return value <= operand  # type: ignore[operator]
        case ">":
            return value > operand  # type: ignore[operator]
        case ">=":
            return value >= operand  # type: ignore[operator]
