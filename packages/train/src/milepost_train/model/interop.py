"""Folders with LMK pooling that sentence-transformers opens: read, write, train from, export.

``write_folder`` writes one layout, and ``read_folder`` reads it, or a plain encoder folder as LMK
pooling where the caller says how far apart landmarks are. No code from a folder is run and nothing
is unpickled. See ``docs/export.md``.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.encoder.engine.manifest import Granularity
from milepost.errors import ModelError, first_line
from milepost_train.model.fetch import ADAPTER, read_object
from milepost_train.model.landmark_transformer import (
    CONFIG,
    LandmarkTransformer,
    LmkSettings,
    from_json,
    max_tokens,
)
from milepost_train.model.layouts import (
    MODULES,
    PROMPTS,
    has_landmarks,
    kind_of,
    modules_of,
    network_of,
    prompts_of,
)
from milepost_train.model.reading import READING, Reading, read_reading

_TRAIN = "train it first (milepost train CONFIG --init FOLDER)"
_AGAIN = "fetch the folder again"


def read_folder(
    folder: Path, *, granularity: Granularity | None = None, limit: int | None = None
) -> LandmarkTransformer:
    """Load a folder that ``write_folder`` wrote, or a plain encoder folder.

    Args:
        folder: path of the folder.
        granularity: tokens per landmark, or ``"sentences"``; default: the folder's. A plain folder
            names none.
        limit: longest row in tokens; default: the folder's, else the model's maximum.

    Raises:
        ModelError: the folder is damaged, of another kind, lacks a required setting, or its
            landmarks see their own sentence alone.
    """
    transformers = require("transformers", extra="train")
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
    if granularity is None and not has_landmarks(folder):
        raise ModelError(
            f"{folder} does not say how far apart landmarks are",
            "pass granularity=32 to use it as it is, or train it for LMK pooling",
        )
    tokenizer = _tokenizer(root)
    try:
        backbone, loaded = transformers.AutoModel.from_pretrained(
            root, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # the library raises all kinds
        raise ModelError(f"{folder} cannot be loaded: {first_line(error)}", _AGAIN) from error
    # The library initialises missing weights at random. Poolers are not used.
    missing = sorted(name for name in loaded["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise ModelError(f"the weights of {folder} lack {missing[0]}", _AGAIN)
    if has_landmarks(folder):
        settings = _settings(folder)
        changes: dict[str, Any] = {"granularity": granularity, "limit": limit}
        given = {name: value for name, value in changes.items() if value is not None}
        settings = replace(settings, **given)
    else:
        assert granularity is not None
        settings = _plain(folder, tokenizer, granularity, limit or max_tokens(backbone.config))
    return LandmarkTransformer(backbone.float(), tokenizer, settings)


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
    part.mkdir(parents=True)
    lmk.save(str(part))
    kinds = [("", f"{LandmarkTransformer.__module__}.{LandmarkTransformer.__name__}")]
    if lmk.settings.normalized:
        # The old short path, which every release of sentence-transformers resolves.
        kinds.append(("1_Normalize", "sentence_transformers.models.Normalize"))
        (part / "1_Normalize").mkdir()
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": kind}
        for n, (path, kind) in enumerate(kinds)
    ]
    prompts = {"query": lmk.settings.query_prompt, "document": lmk.settings.document_prompt}
    model = {
        "model_type": "SentenceTransformer",
        "prompts": prompts,
        "default_prompt_name": None,
        "similarity_fn_name": "cosine",
    }
    for name, value in ((MODULES, modules), (PROMPTS, model)):
        (part / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    part.rename(folder)


def reading_of(folder: Path) -> Reading | None:
    """How training and export read a folder with LMK pooling; None for any other folder.

    Every layer of its network attends to the whole row, so ``own_sentence`` is False.

    Raises:
        ModelError: the folder is damaged, or its rows begin with more than one token.
    """
    if not has_landmarks(folder):
        return None
    settings = _settings(folder)
    tokenizer = _tokenizer(network_of(folder))
    names = tokenizer.convert_ids_to_tokens([*settings.bos_ids, settings.landmark])
    if None in names:
        raise ModelError(f"the tokenizer of {folder} lacks a special token", _AGAIN)
    if len(settings.bos_ids) > 1:
        raise ModelError(
            f"{folder} starts rows with {len(settings.bos_ids)} tokens, a window with one",
            "read it by milepost_train.model.interop.read_folder",
        )
    return Reading(
        "".join(names[:-1]),
        names[-1],
        granularity=settings.granularity,
        longest=settings.longest or None,
    )


def check_exportable(folder: Path, *, named: bool = False) -> tuple[str, ...]:
    """Reject a folder whose vectors a model folder cannot reproduce.

    Args:
        folder: the folder to export.
        named: whether the user named the token that closed sentences in training.

    Returns:
        Differences of the model folder, as sentences for users.

    Raises:
        ModelError: the folder puts prompts in front of texts, or it is an adapter that does not
            say where its landmarks are.
    """
    if (folder / READING).is_file():
        return ()
    if (folder / ADAPTER).is_file() and not named:
        raise ModelError(
            f"{folder} is an adapter without {READING}, and may have its landmarks anywhere (the "
            "LMK authors' precede each chunk)",
            f"{_TRAIN}, or name the token that closed its sentences in training: --landmark TOKEN",
        )
    if not has_landmarks(folder):
        return ()
    settings = _settings(folder)
    if settings.query_prompt or settings.document_prompt:
        raise ModelError(
            f"{folder} puts prompts in front of texts, and a model folder does not", _TRAIN
        )
    if settings.unit_landmarks:
        return ()
    return (
        f"{folder} averages landmarks of any length, the model folder their directions, so "
        "document vectors differ slightly",
    )


def _settings(folder: Path) -> LmkSettings:
    modules = modules_of(folder)
    path = folder / modules[0]["path"] / CONFIG
    query, document = prompts_of(folder)
    return replace(
        from_json(read_object(path), str(path)),
        normalized=any(kind_of(module) == "Normalize" for module in modules),
        query_prompt=query,
        document_prompt=document,
    )


def _plain(
    folder: Path, tokenizer: Any, granularity: Granularity, limit: int | None
) -> LmkSettings:
    if limit is None:
        raise ModelError(f"{folder} does not give the maximum length of a text", "limit=TOKENS")
    opens, closes = (
        [number for number in ids if number is not None]
        for ids in (
            (tokenizer.cls_token_id, tokenizer.bos_token_id),
            (tokenizer.sep_token_id, tokenizer.eos_token_id),
        )
    )
    if not closes:
        raise ModelError(
            "the tokenizer has no [SEP] and no end of text", "a tokenizer that has one"
        )
    return LmkSettings(tuple(opens[:1]), closes[0], granularity, limit)


def _tokenizer(folder: Path) -> Any:
    transformers = require("transformers", extra="train")
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # the library raises all kinds
        raise ModelError(
            f"{folder} has no tokenizer that can be read: {first_line(error)}", _AGAIN
        ) from error
