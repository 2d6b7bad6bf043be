"""Find the files of a checkpoint in a local folder or on the Hugging Face hub."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from milepost.encoder.engine import hub
from milepost.encoder.engine.manifest import MANIFEST
from milepost.errors import ModelError, nearest
from milepost_train.model.landmark_encoder import BACKBONES

ADAPTER = "adapter_config.json"
_WEIGHTS = "**/*.safetensors"
_FILES = ("*.json", "*.safetensors", "*.model", "*.txt")
HINT = "a checkpoint with config.json, model.safetensors and tokenizer.json"
AGAIN = "fetch the folder again"


def local(source: str | Path) -> Path:
    """Return the folder itself, or the cached folder of a hub model, fetched if needed."""
    folder = hub.local(source, "give a folder with a checkpoint", needed=_WEIGHTS, only=_FILES)
    if folder is None:
        raise ModelError(f"{os.fspath(source)!r} is not a folder", HINT)
    return folder


def base_of(folder: Path) -> Path:
    """Return the folder of an adapter's base; for a complete checkpoint, the folder itself."""
    path = folder / ADAPTER
    if not path.is_file():
        return folder
    base = read_object(path).get("base_model_name_or_path")
    if not base:
        raise ModelError(f"{path} names no base model", "merge the adapter where it was trained")
    return local(base)


def read_config(folder: Path) -> dict[str, Any]:
    """Read ``config.json`` of an architecture that Milepost or ``transformers`` supports.

    Raises:
        ModelError: the file is missing or damaged, or its architecture is unknown.
    """
    path = folder / "config.json"
    if not path.is_file():
        if (folder / MANIFEST).is_file():
            raise ModelError(
                f"{folder} is a model folder already: it has no config.json",
                f"use it by --model {folder}, or give the checkpoint that it was made from",
            )
        raise ModelError(f"{folder} is not a checkpoint: it has no config.json", HINT)
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
    """Read the JSON object in a file."""
    fields = parsed(path)
    if not isinstance(fields, dict):
        raise ModelError(f"{path} is not a JSON object", AGAIN)
    return fields


def parsed(path: Path) -> Any:
    """Read the JSON value in a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}", AGAIN) from error
