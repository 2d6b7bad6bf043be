"""Refusing to mix runs of other settings with new ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from milepost.errors import InputError


def check_same(
    place: Path | None, known: Mapping[str, str], settings: Mapping[str, str], another: str
) -> None:
    """Compare the settings of kept runs with those of new ones.

    Args:
        place: the file or folder of the kept runs.
        known: their settings, name → how to ask for it; a name that is missing is not compared.
        settings: of the new runs.
        another: the option that takes another place.

    Raises:
        InputError: one differs; the kept runs stay as they are.
    """
    for name, value in settings.items():
        before = known.get(name, value)
        if before != value:
            raise InputError(
                f"{place} holds runs with {before}, not {value}", f"{before}, or another {another}"
            )
