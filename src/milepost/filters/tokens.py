"""From the text of a filter to its tokens: words, strings, numbers, dates and signs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from milepost.errors import InputError
from milepost.filters.nodes import Date, Operand
from milepost.properties import iso_date
from milepost.wording import CONTROL

MAX_LENGTH = 2_000  # characters of a filter

_TOKEN = re.compile(
    r"""
    \s+
    | (?P<foreign>==|<>|=<|=>|&&|\|\||!(?!=))
    | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
    | (?P<date>\d{4}-\d\d(?:-\d\d)?(?![\w.:/-]))
    | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?(?![\w.:/-]))
    | (?P<word>[^\W\d][\w.-]*)
    | (?P<sign>!=|<=|>=|[=<>(),])
    | (?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"""\\([\\"'])""")
_LIKE_A_NUMBER = re.compile(r"-?\d[\w.:/-]*")
_SIGNS = {"==": "=", "<>": "!=", "=<": "<=", "=>": ">=", "&&": "and", "||": "or", "!": "not"}
"""What other languages write, and what it is here."""

Kind = Literal["word", "sign", "value", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a filter as it is written, words in lower case; columns are from 1."""

    kind: Kind
    text: str
    column: int
    value: Operand = ""


def refused(column: int, problem: str, hint: str) -> InputError:
    """The error for a filter that cannot be read: what is wrong where, and what is allowed."""
    shown = (
        "".join(sign if sign.isprintable() else " " for sign in each) for each in (problem, hint)
    )
    return InputError(f"filter, column {column}: {next(shown)}", next(shown))


def tokens(text: str) -> list[Token]:
    """Split a filter, not empty and not too long, into its tokens; the last one is its end."""
    if len(text) > MAX_LENGTH:
        raise InputError(
            f"the filter has {len(text):,} characters", f"at most {MAX_LENGTH:,}; in (…) is short"
        )
    if not text.strip():
        raise InputError("the filter is empty", 'kind = "pdf" and year >= 2020')
    found = [_token(match) for match in _TOKEN.finditer(text) if match.lastgroup]
    return [*found, Token("end", "the end", len(text) + 1)]


def date(text: str) -> Date | None:
    """A date as it is written in a filter; None for a day or month that does not exist.

    >>> date("2020-03"), date("2020-13")
    (Date(text='2020-03'), None)
    """
    written = re.fullmatch(r"[0-9]{4}(-[0-9]{2}){0,2}", text)
    return Date(text) if written and iso_date(text) else None


def _token(match: re.Match[str]) -> Token:
    text, column = match[0], match.start() + 1
    match match.lastgroup:
        case "foreign":
            raise refused(column, f"unknown sign {text}", _SIGNS[text])
        case "string":
            if bad := CONTROL.search(text):
                raise refused(column + bad.start(), "a character that cannot be shown", "leave it")
            return Token("value", text, column, _ESCAPED.sub(r"\1", text[1:-1]))
        case "date":
            if (value := date(text)) is None:
                raise refused(column, f"{text} is not a date", "2020, 2020-03 or 2020-03-01")
            return Token("value", text, column, value)
        case "number":
            number = float(text)
            if not math.isfinite(number):
                raise refused(column, "the number is too large", "a smaller one")
            return Token("value", text, column, number)
        case "word":
            return Token("word", text.lower(), column)
        case "sign":
            return Token("sign", text, column)
    raise _unknown(match.string, match.start())


def _unknown(text: str, at: int) -> InputError:
    sign, column = text[at], at + 1
    if sign in "\"'":
        return refused(column, "the text in quotation marks has no end", f"{sign}…{sign}")
    if sign in "“”„«»‘’":
        return refused(column, f"{sign} is not a quotation mark here", '"…"')
    if number := _LIKE_A_NUMBER.match(text, at):
        shown = number[0][:30]
        return refused(
            column,
            f"{shown} is neither a number nor a date",
            f'"{shown}" for text; dates are 2020, 2020-03 or 2020-03-01',
        )
    shown = f"unexpected {sign}" if sign.isprintable() else "a character that cannot be shown"
    return refused(column, shown, "keys, = != < <= > >=, ( ), quotation marks, numbers, dates")
