"""The properties of a document: title, author, date … and whatever its maker says of it.

A value is a string, a number, true or false, or several strings. Values are bounded, so that a list
of all documents stays small.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from milepost.errors import InputError, WrongType
from milepost.wording import CONTROL

Value = str | float | bool | tuple[str, ...]  # what a property can be

MAX_KEYS = 64  # keys of a document
MAX_CHARACTERS = 1_000  # characters of a string
MAX_KEY = 64  # characters of a key

_TEXTS = ("title", "author", "language")  # keys whose values are words

KEY = re.compile(r"[a-z_][\w.-]*")
_NOT_KEY = re.compile(r"[^\w.-]+")
_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:$|[T ])")
_PACKED = re.compile(r"(?:D:)?(\d{4})(?:(\d\d)(\d\d)?)?(?:\d{6})?(?:$|[Z+-])")
"""As PDF writes dates: D:20200301120000+01'00'."""


class Properties(Mapping[str, Value]):
    """An immutable mapping of checked values; equal to any mapping with the same items."""

    __slots__ = ("_json", "_values")

    def __init__(self, values: Mapping[str, Value], written: str | None = None) -> None:
        """Made by ``checked``, ``cleaned`` and ``stored`` alone, which bound the values."""
        self._values: dict[str, Value] | None = dict(values)
        self._json = written

    @classmethod
    def stored(cls, written: str) -> Properties:
        """What ``as_json`` has written; it is parsed when a value is asked for."""
        if written == "{}":
            return EMPTY
        made = cls({}, written)
        made._values = None  # so that a list of documents costs nothing
        return made

    def as_json(self) -> str:
        """All items as JSON, in order of their keys."""
        if self._json is None:
            self._json = json.dumps(self._held(), ensure_ascii=False, sort_keys=True)
        return self._json

    def _held(self) -> dict[str, Value]:
        if self._values is None:
            read = json.loads(self._json or "{}")
            self._values = {
                key: tuple(value) if isinstance(value, list) else value
                for key, value in read.items()
            }
        return self._values

    def __getitem__(self, key: str) -> Value:
        return self._held()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __len__(self) -> int:
        return len(self._held())

    def __eq__(self, other: object) -> bool:
        return self._held() == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._held().items()))

    def __repr__(self) -> str:
        return repr(self._held())

    def __reduce__(self) -> tuple[Any, ...]:
        return Properties.stored, (self.as_json(),)


EMPTY = Properties({})  # no properties


def checked(given: Mapping[str, Any]) -> Properties:
    """Properties that a caller gives, which must be of the right types and sizes.

    >>> checked({"year": 2020, "tags": ["a", "b"]})
    {'year': 2020, 'tags': ('a', 'b')}
    """
    if isinstance(given, Properties):
        return given
    if not isinstance(given, Mapping):
        raise WrongType(
            f"properties must be Mapping, not {type(given).__name__}", 'properties={"year": 2020}'
        )
    if len(given) > MAX_KEYS:
        raise InputError(f"a document has {len(given)} properties", f"at most {MAX_KEYS}")
    made: dict[str, Value] = {}
    for key, value in given.items():
        if (
            not isinstance(key, str)
            or not KEY.fullmatch(key)
            or len(key) > MAX_KEY
            or key != key.lower()
        ):
            raise InputError(
                f"{str(key)[:MAX_KEY]!r} cannot be the key of a property",
                f"lower-case letters, digits and _ . -, at most {MAX_KEY}, a letter first",
            )
        plain = _value(value, strict=key)
        if plain is not None:
            made[key] = _fitting(key, plain)
    return Properties(made)


def cleaned(given: Mapping[str, Any]) -> Properties:
    """Properties that a file gives: what cannot be one is left out, and long strings are cut.

    >>> cleaned({"Project Name": " a  b ", "title": "", "date": "D:20200301120000Z"})
    {'project_name': 'a b', 'date': '2020-03-01'}
    """
    made: dict[str, Value] = {}
    for key, value in given.items():
        name = unicodedata.normalize("NFC", str(key)).strip().lower()
        name = _NOT_KEY.sub("_", name)[:MAX_KEY]
        plain = _value(value)
        if plain is not None and KEY.fullmatch(name) and name not in made:
            made[name] = _fitting(name, plain)
        if len(made) == MAX_KEYS:
            break
    return Properties(made) if made else EMPTY


def merged(first: Mapping[str, Value], over: Mapping[str, Value]) -> Properties:
    """Both; the second ones win, and come first where there are too many."""
    if not over:
        return checked(first)
    every = {**over, **first, **over}
    return Properties(dict(list(every.items())[:MAX_KEYS]))


def iso_date(written: str) -> str | None:
    """A date as YYYY, YYYY-MM or YYYY-MM-DD, from ISO 8601, PDF and mail; None for another form.

    >>> iso_date("D:20200301120000+01'00'"), iso_date("2020-03-01T12:00:00Z"), iso_date("March")
    ('2020-03-01', '2020-03-01', None)
    """
    text = written.strip()
    match = _ISO.match(text) or _PACKED.match(text)
    if match is not None:
        parts = [part for part in match.groups() if part]
        try:
            datetime.date(*(int(part) for part in (*parts, "1", "1")[:3]))
        except ValueError:
            return None
        return "-".join(parts)
    if not 8 <= len(text) <= 100:
        return None
    from email.utils import parsedate_to_datetime  # slow to import, and rarely needed

    try:
        return f"{parsedate_to_datetime(text):%Y-%m-%d}"
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _value(value: Any, *, strict: str = "") -> Value | None:
    if hasattr(value, "tolist"):  # of NumPy
        date = str(value.dtype).startswith("datetime64")  # those in nanoseconds become numbers
        value = value.astype("datetime64[s]").tolist() if date else value.tolist()
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        if abs(value) < 1e300 and math.isfinite(value) and float(value) == value:
            return value
        if strict:
            raise InputError(
                f"the property {strict!r} is not a number, or too large",
                "a number of at most 15 digits, or a string",
            )
        if isinstance(value, int):
            return _value(str(value))
    elif isinstance(value, datetime.date):  # a datetime is one, too
        return f"{value:%Y-%m-%d}"
    elif isinstance(value, str):
        if strict and len(value) > MAX_CHARACTERS:
            raise InputError(
                f"the property {strict!r} has {len(value):,} characters",
                f"at most {MAX_CHARACTERS:,}",
            )
        return _text(value) or None
    elif isinstance(value, list | tuple | set | frozenset):
        return _several(value, strict)
    if strict:
        raise InputError(
            f"the property {strict!r} cannot be {type(value).__name__}",
            "a string, a number, true or false, or strings",
        )
    return None


def _several(values: Any, strict: str) -> tuple[str, ...] | None:
    texts: dict[str, None] = {}
    size = 0
    for each in sorted(values, key=str) if isinstance(values, set | frozenset) else values:
        if isinstance(each, bool | int | float) and not strict:
            each = str(each)
        if not isinstance(each, str):
            if strict:
                raise InputError(f"the property {strict!r} has several values", "only strings")
            continue
        text = _text(each)
        size += len(text)
        if size > MAX_CHARACTERS:  # of all together, so that no list is longer than a string
            if strict:
                raise InputError(
                    f"the property {strict!r} has more than {MAX_CHARACTERS:,} characters",
                    f"at most {MAX_CHARACTERS:,} in all",
                )
            break
        if text:
            texts[text] = None
    return tuple(texts) or None


def _text(text: str) -> str:
    """One line in NFC, without control characters, of bounded length."""
    plain = " ".join(CONTROL.sub(" ", text[: 4 * MAX_CHARACTERS]).split())
    return unicodedata.normalize("NFC", plain)[:MAX_CHARACTERS].rstrip()


def _fitting(key: str, value: Value) -> Value:
    """The value as filters compare it: a title may be a number, a date has one form if known."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in _TEXTS and is_number:
        return str(value) if isinstance(value, int) else f"{value:.15g}"
    if key != "date":
        return value
    if is_number and value in range(1000, 10_000):
        return f"{value:.0f}"
    return (iso_date(value) or value) if isinstance(value, str) else value
