"""Settings as frozen dataclasses: what each field may hold, and TOML tables that fill them.

Every fault of a file is collected, none hides another. Needs no torch.
"""

from __future__ import annotations

import json
import math
import os
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from milepost.errors import InputError, nearest

Kind = TypeVar("Kind")

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a string"}
_MANY = (tuple, list, Sequence)
_NAMED = (dict, Mapping)


@dataclass(frozen=True, slots=True)
class Fault:
    """One setting that cannot be used; ``problem`` and ``hint`` as in ``MilepostError``."""

    problem: str
    hint: str


class WrongSettings(InputError):
    """Settings that cannot be used; the text has one line for each of ``faults``, at least one."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        if len(self.faults) == 1:
            super().__init__(self.faults[0].problem, self.faults[0].hint)
        else:
            super().__init__("\n".join(self.lines()))

    def lines(self) -> list[str]:
        """The text of each fault."""
        return [str(InputError(fault.problem, fault.hint)) for fault in self.faults]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value must be besides its type: ``Annotated[int, Rule(…)]``; None passes."""

    holds: Callable[[Any], bool]
    hint: str


NOT_NEGATIVE = Rule(lambda value: value >= 0, "0 or more")
POSITIVE = Rule(lambda value: value > 0, "a number above 0")
UP_TO_ONE = Rule(lambda value: 0 <= value <= 1, "a number from 0 to 1")
Fraction = Annotated[float, Rule(lambda value: 0 <= value < 1, "0 or more, below 1")]
Count = Annotated[int, Rule(lambda value: value >= 1, "1 or more")]


@dataclass(frozen=True, slots=True)
class Settings:
    """Base of settings, which check themselves by the rules of their fields.

    >>> @dataclass(frozen=True, slots=True)
    ... class Run(Settings):
    ...     steps: Count
    ...     floor: Fraction = 0.0
    >>> try:
    ...     Run(steps=0, floor=2.0)
    ... except WrongSettings as error:
    ...     [fault.problem for fault in error.faults]
    ['steps is 0', 'floor is 2']
    """

    def __post_init__(self) -> None:
        faults = [
            fault
            for name, hint in _hints(type(self)).items()
            for fault in _faults_of(name, getattr(self, name), hint)
        ]
        faults += self.conflicts()
        if faults:
            raise WrongSettings(faults)

    def conflicts(self) -> Iterable[Fault]:
        """Faults of several fields together."""
        return ()


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
        """Raise ``WrongSettings`` if the file has faults."""
        if self.faults:
            raise WrongSettings(self.faults)


class _Misfit(Exception):
    """A value is of another type than its field."""


def fill(kind: type[Kind], table: Mapping[str, Any], place: Place, /, **made: Any) -> Kind | None:
    """A dataclass from a table; what the table leaves out has its default.

    Fields may be ``bool``, ``int``, ``float``, ``str``, ``Path``, a ``Literal``, a tuple, a
    mapping from strings, another dataclass, a choice of these, or any of them with a ``Rule``. A
    field that has no effect without another says so: ``field(metadata={"needs": "other"})``.

    Args:
        kind: the dataclass.
        table: its fields by name.
        place: the table's place, which gets the faults: unknown keys (with the nearest known one),
            missing ones, values that do not fit, keys without the key that they need.
        made: values of fields that the table may not name.

    Returns:
        None where the table, or one inside it, has a fault.
    """
    before = len(place.faults)
    every: Sequence[Field[Any]] = fields(kind)  # type: ignore[arg-type]
    known = {each.name: each for each in every if each.name not in made}
    check_keys(table, known, place)
    for name in table:
        other = known[name].metadata.get("needs", name) if name in known else name
        if other not in table:
            place.report(f"{name} has no effect without {other}", f"add {other}, or remove {name}")
    values: dict[str, Any] = dict(made)
    hints = _hints(kind)
    for name, each in known.items():
        hint = hints[name]
        if name in table:
            try:
                values[name] = _read(table[name], hint, place.inside(name))
            except _Misfit:
                words = f"{_near(table[name], hint)}{_words(hint)}"
                place.report(f"{name} is {_shown(table[name])}", words)
            else:
                for fault in _faults_of(name, values[name], hint):
                    place.report(fault.problem, fault.hint)
        elif each.default is MISSING and each.default_factory is MISSING:
            place.report(f"missing key {name!r}", f"{name} = {_words(hint)}")
    if len(place.faults) > before:
        return None
    try:
        return kind(**values)
    except WrongSettings as error:
        for fault in error.faults:
            place.report(fault.problem, fault.hint)
        return None


def check_keys(table: Collection[str], known: Collection[str], place: Place) -> None:
    """Report keys that are not known, each with the nearest known one."""
    for name in table:
        if name not in known:
            hint = f"{nearest(name, known)}one of {', '.join(sorted(known))}"
            place.report(f"unknown key {name!r}", hint)


def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _faults_of(name: str, value: Any, hint: Any) -> Iterator[Fault]:
    """Where a value breaks the rules of its field, or a word is not among the field's."""
    origin, inner = get_origin(hint), get_args(hint)
    if value is None:
        return
    if origin is Annotated:
        yield from _faults_of(name, value, inner[0])
        for rule in inner[1:]:
            if not rule.holds(value):
                yield Fault(f"{name} is {_shown(value)}", rule.hint)
    elif origin is Literal and value not in inner:
        yield Fault(f"{name} is {_shown(value)}", f"{_near(value, hint)}{_words(hint)}")
    elif origin in (Union, types.UnionType) and inner[1:] == (types.NoneType,):
        yield from _faults_of(name, value, inner[0])
    elif origin in _MANY:
        for each in value:
            yield from _faults_of(name, each, inner[0])
    elif origin in _NAMED:
        for key, each in value.items():
            yield from _faults_of(name, key, inner[0])
            yield from _faults_of(f"{name}.{key}", each, inner[1])


def _read(value: Any, hint: Any, place: Place) -> Any:
    """The value as a field of that type holds it; ``_Misfit`` where it cannot."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _read(value, inner[0], place)
    if origin in (Union, types.UnionType):
        for each in inner:
            try:
                return _read(value, each, place)
            except _Misfit:
                continue
        raise _Misfit
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


def _checked(value: Any, fits: Any) -> Any:
    if not fits:
        raise _Misfit
    return value


def _words(hint: Any) -> str:
    """A type in words: ``a list of numbers``."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _words(inner[0])
    if origin in (Union, types.UnionType):
        return " or ".join(_words(each) for each in inner if each is not types.NoneType)
    if origin is Literal:
        return f"one of {', '.join(map(_shown, inner))}" if len(inner) > 1 else _shown(inner[0])
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


def _shown(value: Any) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:g}"
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else words[:59] + "…"
