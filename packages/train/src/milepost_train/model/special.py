"""Find the files of a checkpoint, in a folder or on the hub, and the landmark among its tokens.

The landmark is a named token, which is created if the vocabulary lacks it, else the tokenizer's
separator, else its end of text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer

from milepost.encoder.engine import hub
from milepost.encoder.engine.manifest import MANIFEST
from milepost.errors import ModelError, first_line, nearest
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


TOKENIZER = "tokenizer.json"
_SAID_IN = ("special_tokens_map.json", "tokenizer_config.json")
# Common names of special tokens, for folders that hold only tokenizer.json.
_USUAL = {
    "cls_token": ("[CLS]", "<s>"),
    "bos_token": ("<s>", "<|begin_of_text|>", "<bos>"),
    "sep_token": ("[SEP]", "</s>"),
    "eos_token": ("</s>", "<|endoftext|>", "<|end_of_text|>", "<eos>"),
    "pad_token": ("[PAD]", "<pad>"),
}


def load_tokenizer(folder: Path) -> Tokenizer:
    """Load ``tokenizer.json``, or convert older files with ``transformers``."""
    path = folder / TOKENIZER
    try:
        if path.is_file():
            return Tokenizer.from_file(str(path))
        from transformers import AutoTokenizer

        made: Tokenizer = AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer
    except Exception as error:  # both raise bare and private exceptions
        first = first_line(error)
        raise ModelError(f"{folder} has no tokenizer that can be read: {first}", HINT) from error
    return made


def special_tokens(folder: Path, tokenizer: Tokenizer) -> dict[str, str]:
    """``cls_token``, ``sep_token`` … in the vocabulary: those the folder names, else usual ones."""
    said: dict[str, str] = {}
    for path in (folder / name for name in _SAID_IN):
        fields = read_object(path) if path.is_file() else {}
        for kind in _USUAL.keys() & fields.keys():
            token = fields[kind].get("content") if isinstance(fields[kind], dict) else fields[kind]
            if isinstance(token, str) and tokenizer.token_to_id(token) is not None:
                said[kind] = token
    for kind, usual in _USUAL.items() if not said else ():
        known = [token for token in usual if tokenizer.token_to_id(token) is not None]
        said |= {kind: known[0]} if known else {}
    return said


def write_special_tokens(folder: Path, special: Mapping[str, str]) -> None:
    """Write ``special_tokens_map.json``, which ``transformers`` reads as well."""
    text = json.dumps(dict(special), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    (folder / _SAID_IN[0]).write_text(text, encoding="utf-8")


def choose_landmark(special: Mapping[str, str], named: str | None) -> str:
    """Choose the token that closes a sentence: the one named, else separator, else end of text."""
    token = named or special.get("sep_token") or special.get("eos_token")
    if not token:
        raise ModelError(
            "the tokenizer has neither a separator nor an end of text to be the landmark",
            "name one: landmark = '<lmk>' to train (created if the vocabulary lacks it), "
            "--landmark TOKEN to export what was trained with it",
        )
    return token


def add_token(tokenizer: Tokenizer, token: str) -> int:
    """Make a token special, create it if it is missing, and return its id."""
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)])
    number: int | None = tokenizer.token_to_id(token)
    if number is None:
        raise ModelError(f"the tokenizer refuses the token {token!r}", "another landmark")
    return number
