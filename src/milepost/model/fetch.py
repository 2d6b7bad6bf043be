"""The files of a checkpoint: a folder of the user's, or one of the Hugging Face hub."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from milepost.engine import hub
from milepost.engine.manifest import MANIFEST
from milepost.errors import ModelError, nearest
from milepost.model.landmark_encoder import BACKBONES

ADAPTER = "adapter_config.json"
_FILES = ("*.json", "*.safetensors", "*.model", "*.txt")
_HINT = "a checkpoint with config.json, model.safetensors and tokenizer.json"


def local(source: str | Path) -> Path:
    """The folder itself, or the hub's model of that name in its cache, fetched where needed.

    Raises:
        ModelError: the folder does not exist and the hub has no such model.
    """
    folder = hub.local(source, "give a folder with a checkpoint", only=_FILES)
    if folder is None:
        raise ModelError(f"{os.fspath(source)!r} is not a folder", _HINT)
    return folder


def base_of(folder: Path) -> Path:
    """The folder that an adapter was trained on; of a whole checkpoint the folder itself.

    Raises:
        ModelError: the adapter does not say, or its base is not there.
    """
    path = folder / ADAPTER
    if not path.is_file():
        return folder
    base = read_object(path).get("base_model_name_or_path")
    if not base:
        raise ModelError(f"{path} names no base model", "merge the adapter where it was trained")
    return local(base)


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json``, of an architecture of ours or that ``transformers`` knows.

    Raises:
        ModelError: it is missing, damaged or of no known architecture.
    """
    path = folder / "config.json"
    if not path.is_file():
        if (folder / MANIFEST).is_file():
            raise ModelError(
                f"{folder} is a model folder already: it has no config.json",
                f"use it by --model {folder}, or give the checkpoint that it was made from",
            )
        raise ModelError(f"{folder} is not a checkpoint: it has no config.json", _HINT)
    config = read_object(path)
    kind = config.get("model_type")
    if kind in BACKBONES:
        return config
    from transformers import CONFIG_MAPPING

    if kind not in CONFIG_MAPPING:
        raise ModelError(
            f"{path}: unknown architecture {kind!r}",
            f"{nearest(str(kind), CONFIG_MAPPING)}one of bert, modernbert, llama, qwen2 …",
        )
    return config


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        ModelError: it cannot be read, or holds something else.
    """
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}", _HINT) from error
    if not isinstance(fields, dict):
        raise ModelError(f"{path} is not a JSON object", _HINT)
    return fields
