"""TOML tables into frozen dataclasses: every mistake is named with its file, table and key."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from milepost.errors import InputError, nearest

Settings = TypeVar("Settings")

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_MANY = (tuple, list, Sequence)
_NAMED = (dict, Mapping)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table stands.

    Attributes:
        file: the TOML file; relative paths in it start from its folder.
        table: as people write it, ``[check]``; empty for the top of the file.
    """

    file: Path
    table: str = ""

    def inside(self, name: str) -> Place:
        """The place of a table under ``name`` of this one."""
        outer = self.table.strip("[]")
        return Place(self.file, f"[{outer}.{name}]" if outer else f"[{name}]")

    def wrong(self, problem: str, hint: str) -> InputError:
        """The error to raise, with file and table before the problem."""
        where = f"{self.file}, {self.table}" if self.table else str(self.file)
        return InputError(f"{where}: {problem}", hint)


class _Misfit(Exception):
    """A value is of another type than its field."""


def fill(kind: type[Settings], table: Mapping[str, Any], place: Place, /, **made: Any) -> Settings:
    """A dataclass from a table; what the table leaves out has its default.

    Fields may be ``bool``, ``int``, ``float``, ``str``, ``Path``, a ``Literal``, a tuple, a
    mapping from strings, another dataclass, or a choice of these. What a dataclass refuses it says
    by an ``InputError``, which gets the place in front. A field that means nothing without another
    says so: ``field(metadata={"needs": "other"})``.

    Args:
        kind: the dataclass.
        table: its fields by name.
        place: where the table stands.
        made: fields that are made already; the table may not name them.

    Raises:
        InputError: a key that is not known (with the nearest that is), one that is missing, a
            value of another type, one without the key that it needs, or one that the dataclass
            refuses.
    """
    hints = get_type_hints(kind)
    every = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    fields = {name: field for name, field in every.items() if name not in made}
    check_keys(table, fields, place)
    for name in table:
        other = fields[name].metadata.get("needs", name)
        if other not in table:
            raise place.wrong(
                f"{name} means nothing without {other}", f"add {other}, or leave {name} out"
            )
    values = made
    for name, field in fields.items():
        if name in table:
            try:
                values[name] = _read(table[name], hints[name], place.inside(name))
            except _Misfit:
                raise place.wrong(
                    f"{name} is {_shown(table[name])}, not {_words(hints[name])}",
                    _near(table[name], hints[name]).removesuffix(", or "),
                ) from None
        elif field.default is MISSING and field.default_factory is MISSING:
            raise place.wrong(f"no {name!r}", f"add it, {_words(hints[name])}")
    try:
        return kind(**values)
    except InputError as error:
        raise place.wrong(error.problem, error.hint) from error


def check_keys(table: Collection[str], known: Collection[str], place: Place) -> None:
    """Refuse keys that are not known.

    Raises:
        InputError: names the first of them and the nearest known one.
    """
    for name in table:
        if name not in known:
            raise place.wrong(
                f"there is no key {name!r}",
                f"{nearest(name, known)}one of {', '.join(sorted(known))}",
            )


def _read(value: Any, hint: Any, place: Place) -> Any:
    """The value as a field of that type holds it; ``_Misfit`` where it cannot."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _first_fit(value, inner, place)
    if origin is Literal:
        fits = any(value == each and type(value) is type(each) for each in inner)
        return _checked(value, fits)
    if origin in _MANY:
        _checked(value, isinstance(value, list))
        if inner[-1] is Ellipsis or origin is not tuple:
            return tuple(_read(each, inner[0], place) for each in value)
        _checked(value, len(value) == len(inner))
        return tuple(_read(each, part, place) for each, part in zip(value, inner, strict=True))
    if origin in _NAMED:
        _checked(value, isinstance(value, dict))
        return {key: _read(each, inner[1], place) for key, each in value.items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return fill(hint, _checked(value, isinstance(value, dict)), place)
    if hint is Path:
        named = Path(_checked(value, type(value) is str and value)).expanduser()
        return Path(os.path.normpath(place.file.parent / named))
    if hint is float:
        return float(_checked(value, type(value) in (int, float) and math.isfinite(value)))
    return _checked(value, type(value) is hint)


def _first_fit(value: Any, hints: Sequence[Any], place: Place) -> Any:
    for hint in hints:
        try:
            return _read(value, hint, place)
        except _Misfit:
            continue
    raise _Misfit


def _checked(value: Any, fits: Any) -> Any:
    if not fits:
        raise _Misfit
    return value


def _words(hint: Any) -> str:
    """A type in words: ``a list of numbers``."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_words(each) for each in inner if each is not types.NoneType)
    if origin is Literal:
        return " or ".join(map(_shown, inner))
    if origin in _MANY:
        return f"a list, each {_words(inner[0])}"
    if origin in _NAMED:
        return f"a table, each {_words(inner[1])}"
    if hint is Path:
        return "a path in quotes"
    return _WORDS.get(hint, "a table")


def _near(value: Any, hint: Any) -> str:
    """The nearest word, to start a hint, where the field takes certain words."""
    known = [each for each in _literals(hint) if isinstance(each, str)]
    return nearest(value, known) if isinstance(value, str) else ""


def _literals(hint: Any) -> list[Any]:
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [each for part in get_args(hint) for each in _literals(part)]


def _shown(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else words[:59] + "…"
