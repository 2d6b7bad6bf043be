"""Which installed model reads the language of some files.

The default model reads English. Where the package with the multilingual model is installed, the
beginnings of some files decide, drawn from the whole list; without it nothing is read here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from milepost._paths import expanded
from milepost.encoder.engine.folder import DEFAULT, MULTILINGUAL, packaged
from milepost.encoder.engine.languages import SCRIPTS
from milepost.errors import MilepostError
from milepost.language.detection import judge
from milepost.objects import is_address

_FILES = 12
_CHARACTERS = 4000
_LARGE = 2_000_000
"""Bytes of a file that is read whole to see its beginning, at most; plain text may be larger."""
_PLAIN = frozenset((".txt", ".md", ".rst", ".text"))
_MINORITY = 0.2  # the share of what was looked at that is worth a message


@dataclass(frozen=True, slots=True)
class Choice:
    """The model for some files, None for the default; a line for users, "" where they expect it."""

    model: str | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Files at even distances in a list; the digest changes with the list or one of them."""

    files: tuple[Path, ...]
    digest: str


def sample(paths: Sequence[str]) -> Sample:
    """Draw files from a list of files and folders; the same list gives the same ones.

    Addresses and ``-``, a pipe, are not looked at.
    """
    from milepost.documents.folders import files

    local = [expanded(path) for path in paths if path != "-" and not is_address(path)]
    listed: list[Path] = []
    with suppress(MilepostError):  # whoever reads the files says what is wrong
        listed.extend(files(local))
    last = len(listed) - 1
    places = (
        range(len(listed)) if last < _FILES else (i * last // (_FILES - 1) for i in range(_FILES))
    )
    drawn = tuple(listed[place] for place in places)
    digest = hashlib.sha256()
    for path in listed:
        digest.update(os.fsencode(path) + b"\0")
    for path in drawn:
        with suppress(OSError):
            state = path.stat()
            digest.update(f"{state.st_size} {state.st_mtime_ns}\0".encode())
    return Sample(drawn, digest.hexdigest())


def choice_for(files: Sequence[Path], piped: Sequence[str] = ()) -> Choice:
    """The model that reads most of some files, by their beginnings, and of texts from a pipe."""
    if packaged(MULTILINGUAL) is None:
        return Choice(None)
    foreign = english = count = 0
    texts = [*_beginnings(files), *(text[:_CHARACTERS] for text in piped)]
    for text in texts:
        written = judge(text)
        if written.english:
            english += len(text)
        elif written.script in SCRIPTS:
            foreign += len(text)
            count += 1
    if foreign > english:
        return Choice(MULTILINGUAL)
    if foreign < _MINORITY * (foreign + english) or not foreign:
        return Choice(None)
    return Choice(
        None,
        f"{count} of {len(texts)} files looked at {'is' if count == 1 else 'are'} not English, "
        f"which {DEFAULT} reads; try: --model {MULTILINGUAL}",
    )


def _beginnings(files: Sequence[Path]) -> list[str]:
    from milepost.documents import read
    from milepost.documents.encoding import decode

    found: list[str] = []
    for path in files:
        try:
            if path.suffix.lower() in _PLAIN:
                with path.open("rb") as file:
                    found.append(decode(file.read(4 * _CHARACTERS), str(path))[0])
            elif path.stat().st_size <= _LARGE:
                found.append(read(path).text)
        except (OSError, MilepostError):
            continue
    return [text[:_CHARACTERS] for text in found]
