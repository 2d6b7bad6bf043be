"""``[data]`` of a run: which files are read, and which parts of them. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from milepost_train.validation import Checks


@dataclass(frozen=True, slots=True)
class DataSettings:
    """Files, and which parts of them are used.

    Attributes:
        tasks: folders or files of marked questions; see ``load_task``.
        pairs: files of queries and passages, or folders of them.
        negatives: files that ``milepost mine`` wrote.
        teacher: folder of a sentence-transformers model with mean pooling, of a Milepost model or
            of the checkpoint of a run; None for no teacher.
        allow_nc: use documents whose licence is non-commercial or not recognised; never for
            weights that ship.
        hold_out: fraction of the documents, by a hash of their names, that is not trained on.
        longest: maximum tokens of a sentence.
        passage: maximum tokens of a passage, cut at the end of a sentence.

    Raises:
        WrongSettings: there is no data, or a number or name cannot be used.
    """

    tasks: tuple[Path, ...] = ()
    pairs: tuple[Path, ...] = ()
    negatives: tuple[Path, ...] = ()
    teacher: Path | None = None
    allow_nc: bool = False
    hold_out: float = 0.0
    longest: int = 128
    passage: int = 160

    def __post_init__(self) -> None:
        with Checks() as check:
            check.need(
                bool(self.tasks or self.pairs),
                "[data] has no tasks or pairs",
                "name some files",
                *("tasks", "pairs"),
            )
            check.fractions(hold_out=self.hold_out)
            check.at_least(4, longest=self.longest, passage=self.passage)
