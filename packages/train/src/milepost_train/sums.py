"""The sums of a model folder's files, which ``milepost doctor`` checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from milepost.cli.checks import sha256

SUMS = "SHA256SUMS"


def add_sums(folder: Path, names: Sequence[str]) -> None:
    """Add the sums of files to ``SHA256SUMS``, or renew them; of files that are gone none stays.

    The manifest is left out, because it may be edited (fusion weights).
    """
    path = folder / SUMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    lines = [line for line in lines if line.partition("  ")[2] not in names]
    there = [folder / name for name in names if (folder / name).is_file()]
    lines += [f"{sha256(each)}  {each.name}" for each in there]
    path.unlink(missing_ok=True)  # it may be a link to another folder's own
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
