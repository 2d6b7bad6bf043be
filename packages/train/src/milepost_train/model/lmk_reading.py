"""Use folders trained with LMK pooling as checkpoints for ``train`` and ``export``.

The weights, the tokenizer, its BOS token, the landmark and its interval are used; training stages
may set another interval. Export rejects a folder with a setting that a model folder cannot express,
because its vectors would differ. The one exception: a model folder averages the directions of
landmarks, ignoring their lengths. A network's last norm makes these lengths similar, so document
vectors hardly differ (``docs/decisions/0045-landmarks-on-a-grid.md``).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.engine.manifest import Granularity
from milepost.errors import ModelError, first_line
from milepost_train.model.fetch import ADAPTER
from milepost_train.model.layouts import InteropWarning, network_of, settings_of, trained_for_lmk
from milepost_train.model.lmk import Rule
from milepost_train.model.lmk_model import LmkSettings
from milepost_train.model.reading import READING, Reading

_READ = "read it by milepost_train.model.interop.read_folder"
_TRAIN = "train it first (milepost train CONFIG --init FOLDER)"
_HINT = "fetch the folder again"
_ANY = 1 << 30  # row length if the folder gives none; it does not matter here


def reading_of(folder: Path) -> Reading | None:
    """Return how to read a folder trained with LMK pooling; None for any other folder.

    Every layer of its network attends to the whole row, so ``own_sentence`` is False.

    Raises:
        ModelError: the folder is damaged, or its rows begin with more than one token.
    """
    if not trained_for_lmk(folder):
        return None
    settings, tokenizer, _ = _said(folder)
    ids = [*settings.bos_ids, settings.landmark]
    names = tokenizer.convert_ids_to_tokens(ids)
    if None in names:
        raise ModelError(f"the tokenizer of {folder} has no token {ids[names.index(None)]}", _HINT)
    if len(settings.bos_ids) > 1:
        raise ModelError(
            f"{folder} starts rows with {len(settings.bos_ids)} tokens, a window with one", _READ
        )
    return Reading(
        "".join(names[:-1]),
        names[-1],
        granularity=settings.granularity,
        longest=settings.longest or None,
    )


def check_sayable(
    folder: Path, *, named: bool = False, granularity: Granularity | None = None
) -> tuple[str, ...]:
    """Reject a folder whose vectors a model folder cannot reproduce.

    Args:
        folder: the folder to export.
        named: whether the user named the token that closed sentences in training.
        granularity: the granularity that the user gave.

    Returns:
        Guessed settings, and differences of the model folder, as sentences for users.

    Raises:
        ModelError: the folder was trained with LMK pooling with settings that a model folder does
            not support, or it is an adapter that does not say where its landmarks are.
    """
    if (folder / READING).is_file():
        return ()
    if (folder / ADAPTER).is_file() and not named:
        raise ModelError(
            f"{folder} is an adapter without {READING}, and may have its landmarks anywhere (the "
            "LMK authors' precede each chunk)",
            f"{_TRAIN}, or name the token that closed its sentences in training: --landmark TOKEN",
        )
    if not trained_for_lmk(folder):
        return ()
    settings, _, notes = _said(folder, granularity)
    beyond = _beyond(settings)
    if beyond:
        raise ModelError(
            f"{folder} {', '.join(beyond)}, and a model folder does not", f"{_TRAIN}, or {_READ}"
        )
    if not settings.unit_landmarks:
        notes.append(
            f"{folder} averages landmarks of any length, the model folder their directions, so "
            "document vectors differ slightly"
        )
    return tuple(notes)


def _said(
    folder: Path, granularity: Granularity | None = None
) -> tuple[LmkSettings, Any, list[str]]:
    """Load settings and tokenizer; the third value lists guesses about the settings."""
    transformers = require("transformers", extra="train")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            network_of(folder), local_files_only=True
        )
    except Exception as error:  # the library raises all kinds
        first = first_line(error)
        raise ModelError(f"{folder} has no tokenizer that can be read: {first}", _HINT) from error
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", InteropWarning)
        settings = settings_of(folder, tokenizer, granularity, limit=_ANY)
    guessed = [str(each.message) for each in said if issubclass(each.category, InteropWarning)]
    return settings, tokenizer, guessed


def _beyond(settings: LmkSettings) -> list[str]:
    """List the settings that a model folder does not support."""
    differs = {
        "closes a row by the tokenizer's own tokens": settings.rule is Rule.DOUBLE_SUFFIX,
        "pools separators of the text": settings.by_id,
        "turns text to lower case": settings.lower_case,
        "puts prompts in front": bool(settings.query_prompt or settings.document_prompt),
    }
    return [what for what, so in differs.items() if so]
