"""Finished pieces of a study in a folder, so that a run that was stopped goes on where it was.

``study.json`` says in words what all pieces were made with. A run with other settings is refused:
what took hours is never written over.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.errors import InputError
from milepost.writing import write_text
from milepost_lab.same_settings import check_same

SETTINGS = "study.json"
"""Part of the study → name → how to ask for it."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Results of the parts of a study, a JSON file each.

    Attributes:
        folder: of the files; None keeps nothing.
        key: a digest of what all parts depend on: data, settings.
        settings: the same to be read: name → how to ask for it.
        part: of the study; parts in one folder may differ in their settings.
    """

    folder: Path | None
    key: str
    settings: Mapping[str, str]
    part: str = "all"

    def kept(self, name: str, depends: Any, make: Callable[[], Any]) -> Any:
        """What a file of the folder holds; without a file that can be read, make and keep it.

        Args:
            name: of the file, without its ending.
            depends: what this part depends on besides ``key``; by its text.
            make: gives the result, which JSON must be able to hold.

        Raises:
            InputError: the folder or the file was made with other settings, or it cannot be
                written. What is there stays as it is.
        """
        if self.folder is None:
            return make()
        self.check()
        path = self.folder / f"{name}.json"
        key = hashlib.sha256(f"{self.key} {depends}".encode()).hexdigest()
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            known, made = found["key"], found["made"]
        except (OSError, TypeError, ValueError, KeyError):
            # Pieces without settings beside them may have been made with others.
            noted = self._noted()
            certain = bool(noted) or not any(self.folder.glob("*.json"))
            made = make()
            write_text(path, json.dumps({"key": key, "made": made}))
        else:
            if known != key:
                raise made_otherwise(path)
            certain = True
        if certain:
            self._note()
        return made

    def check(self) -> None:
        """Compare the settings with those of the folder.

        Raises:
            InputError: one differs.
        """
        if self.folder is not None:
            known = self._noted().get(self.part, {})
            check_same(self.folder, known, self.settings, "--out FOLDER")

    def _noted(self) -> dict[str, dict[str, str]]:
        try:
            found = json.loads(((self.folder or Path()) / SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _note(self) -> None:
        noted = self._noted()
        known = noted.get(self.part, {})
        if self.folder is not None and not known.keys() >= self.settings.keys():
            noted[self.part] = {**known, **self.settings}
            write_text(self.folder / SETTINGS, json.dumps(noted, indent=1) + "\n")


def made_otherwise(path: Path) -> InputError:
    """What is said of a file that was made of something else."""
    return InputError(
        f"{path} was made with other settings or data, and is kept",
        "the settings and data as they were, or another --out FOLDER",
    )


def fingerprint(*told: Any) -> str:
    """Eight digits that stand for data in ``Pieces.settings``; by their text."""
    return hashlib.sha256(repr(told).encode()).hexdigest()[:8]
