"""Folders with LMK pooling that sentence-transformers opens: read and write.

No code from a folder is run and nothing is unpickled. See ``docs/export.md``.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.encoder.engine.manifest import Granularity
from milepost.errors import ModelError
from milepost_train.model.huggingface import max_tokens
from milepost_train.model.landmark_encoder import read_reading
from milepost_train.model.landmark_transformer import LandmarkTransformer, open_network
from milepost_train.model.layouts import LmkSettings, lmk_settings, network_of
from milepost_train.model.special import ADAPTER


def read_folder(
    folder: Path, *, granularity: Granularity | None = None, limit: int | None = None
) -> LandmarkTransformer:
    """Load a folder that ``write_folder`` wrote, or a plain encoder folder.

    ``granularity`` (tokens per landmark, or ``"sentences"``) and ``limit`` (longest row in tokens)
    default to the folder's. A plain folder names no granularity, and its limit is the model's.

    Raises:
        ModelError: the folder is damaged, of another kind, lacks a required setting, or its
            landmarks see their own sentence alone.
    """
    if (folder / ADAPTER).is_file():
        raise ModelError(f"{folder} is an adapter", "only encoders with all their weights are read")
    root, ours = network_of(folder), read_reading(folder)
    if ours is not None and (ours.own_sentence or ours.context or ours.others):
        raise ModelError(
            f"in {folder} a landmark sees its own sentence alone in the last layer, and with LMK "
            "pooling it sees the whole row",
            "train it with own_sentence = false, or use it as it is: milepost export",
        )
    if not (root / "config.json").is_file():
        raise ModelError(f"{folder} holds no model", "a folder with a config.json")
    settings = lmk_settings(folder)
    if granularity is None and settings is None:
        raise ModelError(
            f"{folder} does not say how far apart landmarks are",
            "pass granularity=32 to use it as it is, or train it for LMK pooling",
        )
    backbone, tokenizer = open_network(root)
    if settings is None:
        assert granularity is not None
        settings = _plain(folder, tokenizer, granularity, limit or max_tokens(backbone))
    settings = replace(
        settings, granularity=granularity or settings.granularity, limit=limit or settings.limit
    )
    return LandmarkTransformer(backbone, tokenizer, settings)


def write_folder(lmk: LandmarkTransformer, folder: Path) -> None:
    """Write a folder that ``read_folder`` and sentence-transformers (with milepost) open.

    The folder is renamed into place when it is complete.

    Raises:
        ModelError: the path exists.
    """
    if folder.exists():
        raise ModelError(f"{folder} exists", "give a new name")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)  # left by a write that was killed
    lmk.model().save(str(part), create_model_card=False)
    part.rename(folder)


def _plain(
    folder: Path, tokenizer: Any, granularity: Granularity, limit: int | None
) -> LmkSettings:
    if limit is None:
        raise ModelError(f"{folder} does not give the maximum length of a text", "limit=TOKENS")
    first, second, landmark, end = (
        getattr(tokenizer, f"{kind}_token_id") for kind in ("cls", "bos", "sep", "eos")
    )
    landmark = end if landmark is None else landmark
    if landmark is None:
        raise ModelError(
            "the tokenizer has no [SEP] and no end of text", "a tokenizer that has one"
        )
    opens = second if first is None else first
    return LmkSettings(() if opens is None else (opens,), landmark, granularity, limit)
