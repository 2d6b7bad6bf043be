"""Folders trained with LMK pooling as checkpoints: what ``train`` and ``export`` take of them.

The weights, the tokenizer, its BOS token and the landmark are used. The interval between landmarks
is not: in Milepost one closes each sentence. Training may start so; a model folder must be able to
express every setting of such a folder to give its vectors, or the folder is refused.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.errors import ModelError, first_line
from milepost.model.fetch import ADAPTER
from milepost.model.layouts import InteropWarning, network_of, settings_of, trained_for_lmk
from milepost.model.lmk import Rule
from milepost.model.lmk_model import SENTENCES, LmkSettings
from milepost.model.reading import READING, Reading

_READ = "read it by milepost.model.interop.read_folder"
_TRAIN = "train it for sentences first (milepost train CONFIG --init FOLDER)"
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
    settings, tokenizer = _said(folder)
    ids = [*settings.bos_ids, settings.landmark]
    names = tokenizer.convert_ids_to_tokens(ids)
    if None in names:
        raise ModelError(
            f"the tokenizer of {folder} has no token {ids[names.index(None)]}",
            "fetch the folder again",
        )
    if len(settings.bos_ids) > 1:
        raise ModelError(
            f"{folder} opens its rows with {len(settings.bos_ids)} tokens, a window with one", _READ
        )
    return Reading("".join(names[:-1]), names[-1], longest=settings.longest or None)


def check_sayable(folder: Path, *, named: bool = False) -> None:
    """Refuse a folder whose vectors a model folder would not give.

    Args:
        folder: what is to be exported.
        named: the user says which token closed sentences in training.

    Raises:
        ModelError: it was trained with LMK pooling under settings that a model folder does not
            have, or it is an adapter that does not say where its landmarks are.
    """
    if (folder / READING).is_file():
        return
    if (folder / ADAPTER).is_file() and not named:
        raise ModelError(
            f"{folder} is an adapter without {READING}, and may have its landmarks anywhere (the "
            "LMK authors' precede each chunk)",
            f"{_TRAIN}, or name the token that closed its sentences in training: --landmark TOKEN",
        )
    beyond = _beyond(_said(folder)[0]) if trained_for_lmk(folder) else []
    if beyond:
        raise ModelError(
            f"{folder} {', '.join(beyond)}, and a model folder does not", f"{_TRAIN}, or {_READ}"
        )


def _said(folder: Path) -> tuple[LmkSettings, Any]:
    """Settings and tokenizer. Other settings of the folder are ignored."""
    transformers = require("transformers", extra="train")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            network_of(folder), local_files_only=True
        )
    except Exception as error:  # the library raises all kinds
        first = first_line(error)
        raise ModelError(f"{folder} has no tokenizer that can be read: {first}", _HINT) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InteropWarning)
        return settings_of(folder, tokenizer, limit=_ANY), tokenizer


def _beyond(settings: LmkSettings) -> list[str]:
    """What of the settings a model folder does not have."""
    every = settings.granularity
    differs = {
        f"has a landmark every {every} tokens": every != SENTENCES,
        "closes a row by the tokenizer's own tokens": settings.rule is Rule.DOUBLE_SUFFIX,
        "pools separators of the text": settings.by_id,
        "averages landmarks of any length": not settings.unit_landmarks,
        "turns text to lower case": settings.lower_case,
        "puts prompts in front": bool(settings.query_prompt or settings.document_prompt),
    }
    return [what for what, so in differs.items() if so]
