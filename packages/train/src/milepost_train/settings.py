"""Settings as frozen dataclasses that pydantic checks, and TOML tables that fill them.

Every fault of a file is collected, none hides another. Needs no torch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic import ValidationInfo as Info

from milepost.errors import InputError, nearest

Kind = TypeVar("Kind")

CHECKED = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Of every dataclass of settings: ``pydantic.dataclasses.dataclass(config=CHECKED)``."""


def _beside(path: Path, info: Info) -> Path:
    """A path from the folder of the file that names it."""
    if info.context is None:
        return path
    return Path(os.path.normpath(info.context / path.expanduser()))


File = Annotated[Path, AfterValidator(_beside)]
Fraction = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(gt=0, le=1)]
_MOST = 1e38  # what float32 holds: torch ends with an error of its own where one is larger
Positive = Annotated[float, Field(gt=0, le=_MOST)]
Weight = Annotated[float, Field(ge=0, le=_MOST)]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[int, Field(ge=0)]


class WrongSettings(InputError):
    """Settings that cannot be used; the text has one line for each of ``faults``, at least one."""

    def __init__(self, faults: Sequence[InputError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, faults)))


@dataclass(frozen=True, slots=True)
class Place:
    """A table of a file, ``[[stage]] 1`` or "" for its top, and the faults of the whole file."""

    file: Path
    table: str = ""
    faults: list[InputError] = field(default_factory=list, compare=False)

    def at(self, table: str) -> Place:
        """The place of another table of the same file."""
        return Place(self.file, table, self.faults)

    def report(self, problem: str, hint: str) -> None:
        """Add a fault, with file and table before the problem."""
        where = f"{self.file}: {self.table}" if self.table else str(self.file)
        self.faults.append(InputError(f"{where}: {problem}", hint))

    def check(self) -> None:
        """Raise ``WrongSettings`` if the file has faults."""
        if self.faults:
            raise WrongSettings(self.faults)


def fill(kind: type[Kind], table: Mapping[str, Any], place: Place, /, **made: Any) -> Kind | None:
    """A dataclass from a table; what the table leaves out has its default.

    ``place`` gets the faults: unknown keys (with the nearest known one), missing ones, values that
    do not fit; None where the table, or one inside it, has one. ``made`` are values of fields that
    the table may not name, and that have a default.
    """
    known = [each.name for each in fields(kind) if each.name not in made]  # type: ignore[arg-type]
    check_keys(table, known, place)
    usable = {name: value for name, value in table.items() if name in known}
    # As JSON: there a list may be a tuple and a string a path, but a string is never a number.
    text = json.dumps(usable, default=str)
    try:
        filled = TypeAdapter(kind).validate_json(text, context=place.file.parent)
    except ValidationError as error:
        for problem, hint in dict(_faults(error, kind)).items():
            place.report(problem, hint)
        return None
    return replace(filled, **made) if len(usable) == len(table) else None  # type: ignore[type-var]


def check_keys(table: Collection[str], known: Collection[str], place: Place) -> None:
    """Report keys that are not known, each with the nearest known one."""
    for name in table:
        if name not in known:
            hint = f"{nearest(name, known)}one of {', '.join(sorted(known))}"
            place.report(f"unknown key {name!r}", hint)


def _faults(error: ValidationError, kind: type) -> Iterable[tuple[str, str]]:
    """Problems of pydantic and what it wants, with the names of tables before their keys."""
    for each in error.errors(include_url=False):
        table, names = kind, list(each["loc"])
        path = [names.pop(0)] if names else []
        while names and (inner := _table(table, str(path[-1]))) is not None:
            table = inner
            path.append(names.pop(0))
        name = ".".join(map(str, path))
        if each["type"] in ("unexpected_keyword_argument", "missing"):
            known = [one.name for one in fields(table)]
            said = "missing" if each["type"] == "missing" else "unknown"
            hint = f"{nearest(str(path[-1]), known)}one of {', '.join(sorted(known))}"
            yield f"{said} key {name!r}", f"add {path[-1]}" if said == "missing" else hint
        else:
            words = json.dumps(each["input"], ensure_ascii=False, default=str)
            shown = words if len(words) <= 60 else words[:59] + "…"
            wanted = each["msg"].removeprefix("Input should be ")
            if each["type"] == "less_than_equal":  # the message writes 1e38 in 39 digits
                wanted = f"less than or equal to {each['ctx']['le']:g}"
            yield f"{name or 'the table'} is {shown}", wanted


def _table(kind: type, name: str) -> Any:
    """The dataclass of a field; None for any other field."""
    hint = get_type_hints(kind).get(name)
    return next((each for each in (hint, *get_args(hint)) if is_dataclass(each)), None)
