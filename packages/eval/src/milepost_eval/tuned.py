"""The settings of each rival, chosen on development questions: the fixed part of the protocol.

``milepost eval tune FILE`` writes such a file, and the package contains one. It identifies its
questions by their hash, so that a file tuned on other questions is recognised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from milepost.errors import InputError, UnreadableFile
from milepost.writing import write_text

SCHEMA = "milepost-tuned/1"
SHIPPED = Path(__file__).parent / "tuned.json"


@dataclass(frozen=True, slots=True)
class Tuned:
    """Choices.

    Attributes:
        choices: name with ``tuned`` → the name that did best.
        grids: name with ``tuned`` → every candidate with its figure: recall of evidence, mean of
            the budgets, then of the tasks.
        tasks: the tasks that were asked, each with its questions and documents.
        questions: sha256 of the questions' names.
        date: when, UTC.
        commit: of the checkout.
    """

    choices: Mapping[str, str]
    grids: Mapping[str, Mapping[str, float]]
    tasks: Mapping[str, tuple[int, int]]
    questions: str
    date: str
    commit: str

    def name(self, name: str) -> str:
        """The name that replaces one with ``tuned``.

        Raises:
            InputError: the name was not tuned.
        """
        if name not in self.choices:
            raise InputError(f"{name} was not tuned", f"one of {', '.join(self.choices) or 'none'}")
        return self.choices[name]


def read_tuned(path: Path = SHIPPED) -> Tuned:
    """Read a file that ``write_tuned`` made.

    Raises:
        UnreadableFile: the file is missing.
        InputError: another kind of file.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnreadableFile(
            f"{path} cannot be read: {reason}", "milepost eval tune FILE"
        ) from error
    if not isinstance(fields, dict) or fields.pop("schema", None) != SCHEMA:
        raise InputError(
            f"{path}: not a file of tuned systems of this version",
            "milepost eval tune FILE",
        )
    try:
        tasks = {name: (int(asked), int(held)) for name, (asked, held) in fields["tasks"].items()}
        return Tuned(**(fields | {"tasks": tasks}))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {error}", "milepost eval tune FILE") from error


def write_tuned(path: Path, tuned: Tuned) -> None:
    """Write the choices as JSON.

    Raises:
        InputError: the file cannot be written.
    """
    write_text(path, json.dumps({"schema": SCHEMA, **asdict(tuned)}, indent=1) + "\n")
