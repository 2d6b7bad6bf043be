"""The tree of a filter, and how it is written; ``parse(str(node))`` gives an equal tree.

A store that translates a tree asks for the meaning of each node in ``evaluate.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Operator = Literal[
    "=", "!=", "<", "<=", ">", ">=", "in", "not in", "contains", "matches", "exists", "missing"
]


@dataclass(frozen=True, slots=True)
class Date:
    """A year, a month or a day, such as ``2020-03`` or ``2020-03-01``: it stands for a period."""

    text: str

    def __str__(self) -> str:
        return self.text


Operand = str | float | bool | Date  # what a key is compared with

SEVERAL = ("in", "not in")  # operators with operands in parentheses
NEGATED = ("!=", "not in")
"""Operators that ask for a value, and that none is equal."""


@dataclass(frozen=True, slots=True)
class KeyTest:
    """What is asked of one key, which is in lower case.

    ``key = value`` and the other comparisons have one operand, ``key in (value, …)`` any number,
    ``exists key`` and ``missing key`` none. ``contains "text"``: the value holds the text anywhere;
    ``matches "pattern"``: the whole value fits ``*``, ``?`` and ``[…]``; ``*`` crosses /.
    ``column`` of the key in the text is from 1; it does not count in ``==``.
    """

    key: str
    operator: Operator
    operands: tuple[Operand, ...] = ()
    column: int = field(default=1, compare=False)

    def __str__(self) -> str:
        listed = ", ".join(map(written, self.operands))
        if not self.operands:
            return f"{self.operator} {self.key}"
        return f"{self.key} {self.operator} {f'({listed})' if self.operator in SEVERAL else listed}"


@dataclass(frozen=True, slots=True)
class Not:
    """``not`` what follows."""

    node: Node

    def __str__(self) -> str:
        return f"not {_inner(self.node)}"


@dataclass(frozen=True, slots=True)
class Joined:
    """All (``and``) or some (``or``) of two or more."""

    word: Literal["and", "or"]
    nodes: tuple[Node, ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(map(_inner, self.nodes))


Node = KeyTest | Not | Joined


def tests(node: Node) -> list[KeyTest]:
    """All tests of a tree, in order."""
    if isinstance(node, Not):
        return tests(node.node)
    if isinstance(node, Joined):
        return [test for each in node.nodes for test in tests(each)]
    return [node]


def written(operand: Operand) -> str:
    r"""An operand as it is written in a filter.

    >>> print(written('a "b" \\ c'), written(3.0), written(True))
    "a \"b\" \\ c" 3 true
    """
    if isinstance(operand, bool):
        return "true" if operand else "false"
    if isinstance(operand, str):
        escaped = operand.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(operand, Date):
        return operand.text
    return repr(operand).removesuffix(".0")


def _inner(node: Node) -> str:
    return f"({node})" if isinstance(node, Joined) else str(node)
