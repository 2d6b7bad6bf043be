"""From the text of a filter to its tree, once; errors say the column and what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from milepost.errors import InputError, nearest
from milepost.filters import nodes
from milepost.filters.evaluate import holds
from milepost.filters.facts import BUILT_IN, TYPES
from milepost.filters.tokens import Token, date, refused, tokens
from milepost.properties import KEY

if TYPE_CHECKING:
    from milepost.types import Value

MAX_DEPTH = 50  # parentheses and "not" inside each other

WORDS = frozenset(
    ("and", "or", "not", "in", "contains", "matches", "exists", "missing", "true", "false")
)
"""Words of the grammar, which cannot be keys."""

_OWN_SHOWN = 10  # keys of the documents' own that a message names
_ORDER = ("<", "<=", ">", ">=")
_TESTS = '= != < <= > >=, in (…), not in (…), contains "…" or matches "…"'
_VALUES = 'a value: "text", a number, a date such as 2020-03, true or false'
_SHOWN = 30


@dataclass(frozen=True)
class Filter:
    """Which documents are searched; made by ``parse``.

    >>> str(parse("kind='pdf' AND year>=2020"))
    'kind = "pdf" and year >= 2020'
    """

    root: nodes.Node

    def __str__(self) -> str:
        return str(self.root)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The keys that it asks for."""
        return frozenset(test.key for test in nodes.tests(self.root))

    def matches(self, properties: Mapping[str, Value]) -> bool:
        """Whether a document with these properties is searched; see ``facts``.

        >>> parse("year >= 2020").matches({"year": 2021.0})
        True
        """
        return holds(self.root, properties)

    def check_keys(self, known: Collection[str]) -> None:
        """Refuse keys that no document has; the built-in ones need not be among those ``known``."""
        own = sorted({*known} - {*BUILT_IN})
        for test in nodes.tests(self.root):
            if test.key not in (*own, *BUILT_IN):
                near = nearest(test.key, sorted([*own, *BUILT_IN]))
                names = [*own[:_OWN_SHOWN], *["…"] * (len(own) > _OWN_SHOWN), *BUILT_IN]
                raise refused(
                    test.column,
                    f"no document has the key {test.key!r}",
                    f"{near}another key: {', '.join(names)}",
                )


def parse(text: str) -> Filter:
    """Read a filter (grammar: docs/filters.md); errors say where, why, and what is allowed there.

    >>> parse("date >= 2020-03").matches({"date": "2021-11-05"})
    True
    """
    return Filter(_Parser(tokens(text)).whole())


def as_filter(where: str | Filter | None) -> Filter | None:
    """A filter as callers give it: as text, parsed already, or none."""
    return parse(where) if isinstance(where, str) else where


class _Parser:
    """Recursive descent: ``or`` binds least, then ``and``, then ``not``."""

    def __init__(self, given: list[Token]) -> None:
        self._tokens, self._at = given, 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _skip(self, *texts: str) -> bool:
        if self._next.kind in ("word", "sign") and self._next.text in texts:
            self._at += 1
            return True
        return False

    def whole(self) -> nodes.Node:
        node = self._either(0)
        if self._next.kind != "end":
            raise _unexpected(self._next, "and, or, or the end")
        return node

    def _either(self, depth: int) -> nodes.Node:
        return self._chain("or", lambda: self._chain("and", lambda: self._one(depth)))

    def _chain(self, word: Literal["and", "or"], part: Callable[[], nodes.Node]) -> nodes.Node:
        parts = [part()]
        while self._skip(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else nodes.Joined(word, tuple(parts))

    def _one(self, depth: int) -> nodes.Node:
        column = self._next.column
        if depth > MAX_DEPTH:
            raise refused(column, f"more than {MAX_DEPTH} ( and not inside each other", "fewer")
        if self._skip("not"):
            return nodes.Not(self._one(depth + 1))
        if self._skip("("):
            node = self._either(depth + 1)
            if not self._skip(")"):
                raise _unexpected(self._next, f") for the ( at column {column}")
            return node
        operator: nodes.Operator
        for operator in ("exists", "missing"):
            if self._skip(operator):
                key, column = self._key()
                return nodes.KeyTest(key, operator, (), column)
        return self._test(*self._key())

    def _key(self) -> tuple[str, int]:
        token = self._next
        if token.kind != "word" or token.text in WORDS:
            raise _unexpected(self._next, f"a key: {', '.join(BUILT_IN)}, or your own")
        if not KEY.fullmatch(token.text):
            raise refused(token.column, f"{_shown(token)} is not a key", "a to z or _ comes first")
        self._at += 1
        return token.text, token.column

    def _test(self, key: str, column: int) -> nodes.Node:
        token = self._take()
        word = token.text if token.kind in ("sign", "word") else ""
        if word in ("=", "!=", *_ORDER):
            operand = self._operand(key, after=word)
            if word in _ORDER and isinstance(operand, bool):
                raise refused(token.column, f"true and false have no {word}", "= or !=")
            return nodes.KeyTest(key, cast(nodes.Operator, word), (operand,), column)
        if word == "in":
            return nodes.KeyTest(key, "in", self._list(key), column)
        if word == "not" and self._skip("in"):
            return nodes.KeyTest(key, "not in", self._list(key), column)
        if word in ("contains", "matches"):
            if TYPES.get(key) in ("date", "number"):
                raise refused(token.column, f"{key} is not text", "= != < <= > >= or in (…)")
            return nodes.KeyTest(key, cast(nodes.Operator, word), (self._string(word),), column)
        if word == "like":
            hint = 'contains "part", or matches "*part*"'
            raise refused(token.column, "unknown operator like", hint)
        raise _unexpected(token, _TESTS, after=key)

    def _list(self, key: str) -> tuple[nodes.Operand, ...]:
        if not self._skip("("):
            raise _unexpected(self._next, '("one", "other")', after="in")
        operands = [self._operand(key, after="(")]
        while self._skip(","):
            operands.append(self._operand(key, after=","))
        if not self._skip(")"):
            raise _unexpected(self._next, ", or )")
        return tuple(operands)

    def _string(self, after: str) -> str:
        token = self._take()
        if isinstance(token.value, str) and token.kind == "value":
            return token.value
        raise _unexpected(token, 'text in quotation marks: "…"', after=after)

    def _operand(self, key: str, after: str) -> nodes.Operand:
        token = self._take()
        if token.kind == "word" and token.text in ("true", "false"):
            value: nodes.Operand = token.text == "true"
        elif token.kind == "value":
            value = token.value
        elif token.kind == "word" and token.text not in WORDS:
            raise refused(
                token.column, f"{_shown(token)} needs quotation marks", f'"{_shown(token)}"'
            )
        else:
            raise _unexpected(token, _VALUES, after=after)
        return _fitting(key, value, token)


def _unexpected(token: Token, allowed: str, after: str = "") -> InputError:
    found = "the filter ends" if token.kind == "end" else f"unexpected {_shown(token)}"
    return refused(token.column, f"{found}{after and f' after {after[:_SHOWN]}'}", allowed)


def _fitting(key: str, value: nodes.Operand, token: Token) -> nodes.Operand:
    """The value in the type of a built-in key."""
    typed = TYPES.get(key, "any")
    if typed == "date" and not isinstance(value, nodes.Date):
        plain = value.strip() if isinstance(value, str) else token.text
        if (made := date(plain)) is None:
            raise refused(
                token.column, f"{_shown(token)} is not a date", "2020, 2020-03 or 2020-03-01"
            )
        return made
    if typed == "number" and not isinstance(value, float):
        raise refused(token.column, f"{_shown(token)} is not a number", f"{key} = 2020")
    if typed == "text" and not isinstance(value, str):
        shown = nodes.written(token.text)
        raise refused(token.column, f"{key} is text, which needs quotation marks", shown)
    return value


def _shown(token: Token) -> str:
    return token.text if len(token.text) <= _SHOWN else token.text[: _SHOWN - 1] + "…"
