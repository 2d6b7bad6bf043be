"""Rows of the comparison: an operator with its settings, and the network whose states it pools.

    mean                        the operator as it is
    attention:temperature=0.2   with settings
    mean@random                 over a network with random weights: a control

A row has this name on the command line, in records and in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.controls.kinds import KINDS, parted
from milepost_lab.pooling import Operator
from milepost_lab.pooling.registry import others
from milepost_lab.pooling.table import operator

CORE = ("mean", "max", "cls", "last", "lmk", "attention", "gem", "layer-mix", "xpool")
"""What a pooling of others is compared with unless more is asked for."""

TRAINED = ""
"""The network of a row that names none: the requested model."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One line of the table.

    Attributes:
        operator: its name.
        settings: those that were given, by name, in the order of their names.
        network: ``TRAINED`` or one of ``KINDS``.
    """

    operator: str
    settings: tuple[tuple[str, Any], ...] = ()
    network: str = TRAINED

    @property
    def name(self) -> str:
        """As ``read_row`` reads it."""
        given = "".join(f":{key}={_written(value)}" for key, value in self.settings)
        return f"{self.operator}{given}" + (f"@{self.network}" if self.network else "")

    @property
    def known(self) -> Operator:
        """The operator's row of the table."""
        return operator(self.operator)


def _written(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def read_row(text: str) -> CompareRow:
    """A row by its name, see above; numbers of a tuple are joined by ``+``.

    Raises:
        InputError: an unknown operator, setting or network, or a value out of its bounds.
    """
    rest, network = parted(text.strip())
    name, *given = rest.split(":")
    row = pooling.get(name).operator
    settings: dict[str, Any] = {}
    for part in given:
        key, sign, value = part.partition("=")
        if not sign:
            raise InputError(f"{text}: {part!r} is not a setting", "NAME:setting=value")
        default = row.parameters[key].default if key in row.parameters else value
        settings[key] = _value(text, key, value, default)
    row.settings(settings)
    return CompareRow(name, tuple(sorted(settings.items())), network or TRAINED)


def _value(text: str, key: str, value: str, default: Any) -> Any:
    """The value as a setting of the default's type."""
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[value.lower()]
        if isinstance(default, tuple):
            return tuple(int(number) for number in value.split("+"))
        return type(default)(value)
    except (KeyError, ValueError):
        raise InputError(
            f"{text}: {key} is {value!r}", f"its default, {_written(default)}"
        ) from None


def rows_of(
    text: str | None, *, controls: bool = True, kinds: Sequence[str] = KINDS
) -> list[CompareRow]:
    """The rows of a comma-separated list, each once.

    Args:
        text: names; ``all`` stands for every operator; None for ``CORE`` and those of others.
        controls: add the mean over each control.
        kinds: the controls.

    Raises:
        InputError: see ``read_row``; or the list is empty.
    """
    listed = ",".join((*CORE, *others())) if text is None else text
    named: list[str] = []
    for name in filter(None, (each.strip() for each in listed.split(","))):
        named += pooling.names() if name == "all" else [name]
    if not named:
        raise InputError("no pooling is named", f"all, or of {', '.join(pooling.names())}")
    rows = [read_row(name) for name in named]
    if controls:
        rows += [CompareRow("mean", (), network) for network in kinds]
    return list(dict.fromkeys(rows))
