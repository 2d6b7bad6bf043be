"""Folders trained with LMK pooling as checkpoints: what ``train`` and ``export`` take of them.

The weights, the tokenizer, its BOS token, the landmark and its interval are used; stages of a
training set another interval. A model folder must be able to express every setting of such a folder
to give its vectors, or the folder is refused. One setting is excepted: a model folder averages the
directions of landmarks, whatever their lengths. A network's last norm makes lengths much alike, so
that document vectors hardly differ (``docs/decisions/0045-landmarks-on-a-grid.md``).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.engine.manifest import Granularity
from milepost.errors import ModelError, first_line
from milepost.model.fetch import ADAPTER
from milepost.model.layouts import InteropWarning, network_of, settings_of, trained_for_lmk
from milepost.model.lmk import Rule
from milepost.model.lmk_model import LmkSettings
from milepost.model.reading import READING, Reading

_READ = "read it by milepost.model.interop.read_folder"
_TRAIN = "train it first (milepost train CONFIG --init FOLDER)"
_HINT = "fetch the folder again"
_ANY = 1 << 30  # tokens of a row, where a folder does not say how many and it does not matter


def reading_of(folder: Path) -> Reading | None:
    """How a folder trained with LMK pooling is read at landmarks; None for any other folder.

    Its network attends to the whole row everywhere, so no landmark keeps to its own sentence.

    Raises:
        ModelError: it is damaged, or opens its rows with more than one token.
    """
    if not trained_for_lmk(folder):
        return None
    settings, tokenizer, _ = _said(folder)
    ids = [*settings.bos_ids, settings.landmark]
    names = tokenizer.convert_ids_to_tokens(ids)
    if None in names:
        raise ModelError(
            f"the tokenizer of {folder} has no token {ids[names.index(None)]}",
            "fetch the folder again",
        )
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
    """Refuse a folder whose vectors a model folder would not give.

    Args:
        folder: what is to be exported.
        named: the user says which token closed sentences in training.
        granularity: what the user says that landmarks close.

    Returns:
        What was guessed, and what a model folder does otherwise, in sentences for people.

    Raises:
        ModelError: it was trained with LMK pooling under settings that a model folder does not
            have, or it is an adapter that does not say where its landmarks are.
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
    """Settings, tokenizer, and what was guessed of the settings."""
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
    """What of the settings a model folder does not have."""
    differs = {
        "closes a row by the tokenizer's own tokens": settings.rule is Rule.DOUBLE_SUFFIX,
        "pools separators of the text": settings.by_id,
        "turns text to lower case": settings.lower_case,
        "puts prompts in front": bool(settings.query_prompt or settings.document_prompt),
    }
    return [what for what, so in differs.items() if so]
