"""Filters as conditions of SQL on the table ``documents``, over their facts.

The table ``facts`` has a row for each value that a filter can ask for, see
``filters/fact_rows.py``. Values are bound, never written into the statement. What each test means
is said in ``filters.evaluate``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from milepost.filters import nodes
from milepost.filters.evaluate import AFTER, edge, is_year
from milepost.filters.fact_rows import comparable
from milepost.store.base import DocumentSelection
from milepost.store.strings import escape

HEAD = 64  # characters of a text that are in the index; keys of an index are short in PostgreSQL

ALWAYS = "1 = 1"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a database writes what databases write in different ways; ``%s`` is what is put in.

    ``value`` is a placeholder, of a name; ``having`` documents with a fact, of the condition on
    ``facts``; ``head`` the beginning of ``facts.text`` that is in the index; ``position`` whether a
    text holds a part; ``pattern`` the condition that a text fits a pattern, and the pattern's
    value; ``named`` that a document has one of the value ``names``, which is made of a list.
    """

    value: str
    having: str
    head: str
    position: str
    pattern: Callable[[str], tuple[str, str]]
    named: str
    names: Callable[[list[str]], Any]

    def condition(self, among: DocumentSelection) -> tuple[str, dict[str, Any]]:
        """The condition on ``documents`` that a search is limited by, and its values."""
        values: dict[str, Any] = {}
        parts = [ALWAYS]
        if among.names is not None:
            parts.append(self.named)
            values["names"] = self.names(list(map(escape, among.names)))
        if among.where is not None:
            parts.append(_Conditions(self, values).of(among.where.root))
        return " AND ".join(parts), values


class _Conditions:
    def __init__(self, dialect: Dialect, values: dict[str, Any]) -> None:
        self._dialect, self._values = dialect, values

    def of(self, node: nodes.Node) -> str:
        if passing := self._fact(node):
            return self._dialect.having % passing
        if isinstance(node, nodes.Joined):
            return f"({f' {node.word.upper()} '.join(map(self.of, node.nodes))})"
        if isinstance(node, nodes.Not):
            return f"NOT {self.of(node.node)}"
        exists = self.of(nodes.KeyTest(node.key, "exists"))
        if node.operator == "missing":
            return f"NOT {exists}"
        # != and not in: there is a value, and none of them is equal
        return f"({exists} AND NOT {self.of(nodes.KeyTest(node.key, 'in', node.operands))})"

    def _fact(self, node: nodes.Node) -> str:
        """The condition on one fact that a document must have; empty where that does not do.

        Of the tests of an ``or`` one fact must pass one: databases plan that better than a search
        for each.
        """
        if isinstance(node, nodes.Joined) and node.word == "or":
            parts = [self._fact(each) for each in node.nodes]
            return f"({' OR '.join(parts)})" if all(parts) else ""
        if not isinstance(node, nodes.KeyTest) or node.operator in ("missing", *nodes.NEGATED):
            return ""
        operator: nodes.Operator = "=" if node.operator == "in" else node.operator
        more = " OR ".join(self._compared(operator, each) for each in node.operands)
        key = f"facts.key = {self._bound(node.key)}"
        if node.operator == "in":
            more = f"({more})"
        return f"({key} AND {more})" if more else key

    def _bound(self, value: str | float) -> str:
        name = f"where{len(self._values)}"
        self._values[name] = value
        return self._dialect.value % name

    def _compared(self, operator: nodes.Operator, operand: nodes.Operand) -> str:
        if isinstance(operand, bool):
            return f"(facts.flag IS NOT NULL AND {'' if operand else 'NOT '}facts.flag)"
        if isinstance(operand, nodes.Date):
            return self._dated(operator, operand.text)
        if isinstance(operand, str):
            return self._text(operator, comparable(operand))
        number = f"facts.number {operator} {self._bound(float(operand))}"
        return number if is_year(operand) else f"({number} AND facts.dated IS NULL)"

    def _dated(self, operator: nodes.Operator, period: str) -> str:
        if operator == "=":
            first, behind = self._bound(period), self._bound(period + AFTER)
            return f"(facts.dated >= {first} AND facts.dated < {behind})"
        return f"facts.dated {operator} {self._bound(edge(operator, period))}"

    def _text(self, operator: nodes.Operator, text: str) -> str:
        """The index has the beginning alone, so it is asked for first."""
        if operator == "contains":
            return self._dialect.position % self._bound(text)
        if operator == "matches":
            written, pattern = self._dialect.pattern(text)
            return written % self._bound(pattern)
        head = self._bound(text[:HEAD])
        whole = f"facts.text {operator} {self._bound(text)}"
        near = f"{self._dialect.head} {operator if operator == '=' else operator[0] + '='} {head}"
        return near if operator == "=" and len(text) < HEAD else f"({near} AND {whole})"
