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
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from itertools import product
from operator import contains, eq, ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from milepost.filters import nodes

if TYPE_CHECKING:
    from milepost.types import Value

    Single = str | float | bool

_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}(?:[T ].*)?)?)?", re.DOTALL)
_ORDERS: dict[nodes.Operator, Callable[[Any, Any], bool]] = {
    "=": eq,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "contains": contains,
    "matches": fnmatchcase,
}
AFTER = "~"  # sorts behind the digits and the hyphen of a date


def holds(node: nodes.Node, properties: Mapping[str, Value]) -> bool:
    """Whether a document with these properties passes a node."""
    if isinstance(node, nodes.Joined):
        every = all if node.word == "and" else any
        return every(holds(each, properties) for each in node.nodes)
    if isinstance(node, nodes.Not):
        return not holds(node.node, properties)
    values = values_of(properties, node.key)
    if node.operator == "missing" or not values:
        return node.operator == "missing" and not values
    if node.operator == "exists":
        return True
    negated = node.operator in nodes.NEGATED
    order = "=" if negated or node.operator == "in" else node.operator
    pairs = product(values, node.operands)
    return any(_compares(each, order, operand) for each, operand in pairs) is not negated


def folded(text: str) -> str:
    """Text as it is compared: in one Unicode form, without regard to case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def is_date(text: str) -> bool:
    """Whether a value is compared with dates: YYYY, YYYY-MM, YYYY-MM-DD, and a time behind it."""
    return _DATE.fullmatch(text) is not None


def is_year(number: float) -> bool:
    """Whether a number is compared with dates, as a year."""
    return float(number).is_integer() and 1000 <= number <= 9999


def edge(operator: nodes.Operator, period: str) -> str:
    """What a date must come before or behind: the beginning of a period, or its end."""
    return period + AFTER if operator in ("<=", ">") else period


def values_of(properties: Mapping[str, Value], key: str) -> tuple[Single, ...]:
    """The values of a key: none, one or several."""
    value = properties.get(key, ())
    return value if isinstance(value, tuple) else (value,)


def _compares(value: Single, operator: nodes.Operator, operand: nodes.Operand) -> bool:
    """Whether one value is to an operand what an operator says."""
    if isinstance(operand, bool) or isinstance(value, bool):
        return operator == "=" and value is operand
    if isinstance(operand, nodes.Date):
        return isinstance(value, str) and is_date(value) and _dated(value, operator, operand.text)
    if isinstance(operand, str):
        return isinstance(value, str) and _ORDERS[operator](folded(value), folded(operand))
    if isinstance(value, str):
        return is_year(operand) and is_date(value) and _dated(value, operator, f"{operand:.0f}")
    return _ORDERS[operator](value, operand)


def _dated(value: str, operator: nodes.Operator, period: str) -> bool:
    if operator == "=":
        return value.startswith(period)
    return _ORDERS[operator](value, edge(operator, period))
