"""TOML tables into frozen dataclasses; every fault of a file is collected, none hides another."""

from __future__ import annotations

import json
import math
import os
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from milepost.errors import InputError, nearest
from milepost_train.validation import Fault, WrongSettings

Settings = TypeVar("Settings")

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_MANY = (tuple, list, Sequence)
_NAMED = (dict, Mapping)


@dataclass(frozen=True, slots=True)
class Place:
    """A table of a file, and the faults of that file so far.

    Attributes:
        file: the TOML file; relative paths in it start from its folder.
        table: the table's name as in the file, ``[check]``; empty for the top of the file.
        faults: of the whole file, shared by the places of all its tables.
    """

    file: Path
    table: str = ""
    faults: list[Fault] = field(default_factory=list, compare=False)

    def at(self, table: str) -> Place:
        """The place of another table of the same file."""
        return Place(self.file, table, self.faults)

    def inside(self, name: str) -> Place:
        """The place of a table under ``name`` of this one."""
        outer = self.table.strip("[]")
        return self.at(f"[{outer}.{name}]" if outer else f"[{name}]")

    def report(self, problem: str, hint: str) -> None:
        """Add a fault, with file and table before the problem."""
        where = f"{self.file}: {self.table}" if self.table else str(self.file)
        self.faults.append(Fault(f"{where}: {problem}", hint))

    def check(self) -> None:
        """Refuse the file if it has faults.

        Raises:
            WrongSettings: names all of them, one a line.
        """
        if self.faults:
            raise WrongSettings(self.faults)


class _Misfit(Exception):
    """A value is of another type than its field."""


def fill(
    kind: type[Settings], table: Mapping[str, Any], place: Place, /, **made: Any
) -> Settings | None:
    """A dataclass from a table; what the table leaves out has its default.

    Fields may be ``bool``, ``int``, ``float``, ``str``, ``Path``, a ``Literal``, a tuple, a
    mapping from strings, another dataclass, or a choice of these. A dataclass refuses values by an
    ``InputError``. A field that has no effect without another says so:
    ``field(metadata={"needs": "other"})``.

    Faults go to ``place``: unknown keys (with the nearest known one), missing ones, values of
    another type, keys without the key that they need, and what the dataclass refuses. For the
    last, missing keys are None and wrong values are replaced by the default.

    Args:
        kind: the dataclass.
        table: its fields by name.
        place: the table's place.
        made: values of fields that the table may not name.

    Returns:
        None where the table, or one inside it, has a fault.
    """
    before = len(place.faults)
    hints = get_type_hints(kind)
    every: Sequence[Field[Any]] = fields(kind)  # type: ignore[arg-type]
    known = {each.name: each for each in every if each.name not in made}
    check_keys(table, known, place)
    for name in table:
        other = known[name].metadata.get("needs", name) if name in known else name
        if other not in table:
            place.report(f"{name} has no effect without {other}", f"add {other}, or remove {name}")
    values: dict[str, Any] = dict(made)
    unread: set[str] = set()
    for name, each in known.items():
        required = each.default is MISSING and each.default_factory is MISSING
        if name in table:
            try:
                values[name] = _read(table[name], hints[name], place.inside(name))
                continue
            except _Misfit:
                hint = f"{_near(table[name], hints[name])}{_words(hints[name])}"
                place.report(f"{name} is {_quoted(table[name])}", hint)
        elif required:
            place.report(f"missing key {name!r}", f"{name} = {_words(hints[name])}")
        else:
            continue
        unread.add(name)
        if required:
            values[name] = None
    try:
        settings = kind(**values)
    except InputError as error:
        refused = getattr(error, "faults", None) or (Fault(error.problem, error.hint),)
        for fault in refused:
            # What follows from a value that was replaced is not a fault of the file.
            if not unread.intersection(fault.settings):
                place.report(fault.problem, fault.hint)
        return None
    return settings if len(place.faults) == before else None


def check_keys(table: Collection[str], known: Collection[str], place: Place) -> None:
    """Report keys that are not known, each with the nearest known one."""
    for name in table:
        if name not in known:
            hint = f"{nearest(name, known)}one of {', '.join(sorted(known))}"
            place.report(f"unknown key {name!r}", hint)


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
    if is_dataclass(hint) and isinstance(hint, type):
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
        return f"one of {', '.join(map(_quoted, inner))}" if len(inner) > 1 else _quoted(inner[0])
    if origin in _MANY:
        return f"a list, each {_words(inner[0])}"
    if origin in _NAMED:
        return f"a table, each {_words(inner[1])}"
    if hint is Path:
        return "a path in quotes"
    return _WORDS.get(hint, "a table")


def _near(value: Any, hint: Any) -> str:
    """The beginning of a hint, where the field takes certain words."""
    known = [each for each in _literals(hint) if isinstance(each, str)]
    return nearest(value, known) if isinstance(value, str) else ""


def _literals(hint: Any) -> list[Any]:
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [each for part in get_args(hint) for each in _literals(part)]


def _quoted(value: Any) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else words[:59] + "…"
