"""Finished pieces of a study in a folder, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.evaluate.writing import write_text


@dataclass(frozen=True, slots=True)
class Pieces:
    """Results of the parts of a study, a JSON file each.

    Attributes:
        folder: of the files; None keeps nothing.
        key: a digest of what all parts depend on: data, settings.
    """

    folder: Path | None
    key: str

    def kept(self, name: str, depends: Any, make: Callable[[], Any]) -> Any:
        """What a file of the folder holds, if it was made of the same; else make and keep it.

        Args:
            name: of the file, without its ending.
            depends: what this part depends on besides ``key``; by its text.
            make: gives the result, which JSON must be able to hold.

        Raises:
            InputError: the file cannot be written.
        """
        if self.folder is None:
            return make()
        path = self.folder / f"{name}.json"
        key = hashlib.sha256(f"{self.key} {depends}".encode()).hexdigest()
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["key"] == key:
                return kept["made"]
        except (OSError, TypeError, ValueError, KeyError):
            pass  # none that can be read: it is made
        made = make()
        write_text(path, json.dumps({"key": key, "made": made}))
        return made
