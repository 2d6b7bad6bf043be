"""Which installed model reads the language of some files.

The default model reads English. Where the package with the multilingual model is installed, the
beginnings of some files decide; without it nothing is read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from milepost.engine.folder import MULTILINGUAL, packaged
from milepost.errors import MilepostError, MissingExtra
from milepost.objects import is_address

_FILES = 5
_CHARACTERS = 4000
_LARGE = 2_000_000
"""Bytes of a file that is read whole to see its beginning, at most; plain text may be larger."""
_PLAIN = frozenset((".txt", ".md", ".rst", ".text"))
_SURE = 0.7
_FEWEST = 40
"""Letters of which a language can be told."""


def model_for(paths: Sequence[str]) -> str | None:
    """The name of the model that reads most of some files; None for the default.

    Args:
        paths: files and folders, of which the first few files are looked at. Addresses and what
            comes through a pipe are not.
    """
    if packaged(MULTILINGUAL) is None:
        return None
    foreign = english = 0
    for text in _beginnings([path for path in paths if path != "-" and not is_address(path)]):
        language = language_of(text)
        if language == "en":
            english += len(text)
        elif language:
            foreign += len(text)
    return MULTILINGUAL if foreign > english else None


def language_of(text: str) -> str:
    """The language of a text, as ISO 639-1 has it; "" where it cannot be told.

    Raises:
        MissingExtra: py3langid is not installed, which comes with the package of the multilingual
            model.
    """
    if sum(map(str.isalpha, text)) < _FEWEST:
        return ""
    language, probability = _identifier().classify(text)
    return str(language) if probability > _SURE else ""


@cache
def _identifier() -> Any:
    try:
        from py3langid import langid
    except ImportError as error:
        raise MissingExtra(
            f"the language of a text is told by py3langid, which cannot be imported ({error})",
            "pip install py3langid",
        ) from error
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)


def _beginnings(paths: Sequence[str]) -> list[str]:
    from milepost.text import read
    from milepost.text.encoding import decode
    from milepost.text.folders import files

    found: list[str] = []
    with suppress(MilepostError):  # whoever reads the files says what is wrong
        for path in islice(files([Path(path).expanduser() for path in paths]), _FILES):
            try:
                if path.suffix.lower() in _PLAIN:
                    with path.open("rb") as file:
                        found.append(decode(file.read(4 * _CHARACTERS), str(path))[0])
                elif path.stat().st_size <= _LARGE:
                    found.append(read(path).text)
            except (OSError, MilepostError):
                continue
    return [text[:_CHARACTERS] for text in found]
