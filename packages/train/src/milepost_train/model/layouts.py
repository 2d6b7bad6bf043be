"""Folders of sentence-transformers: where their network is, and what their settings say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from milepost.errors import ModelError
from milepost_train.model.fetch import parsed, read_object

MODULES = "modules.json"
PROMPTS = "config_sentence_transformers.json"
LANDMARK_MODULE = "LandmarkTransformer"
"""First module of a folder with LMK pooling."""
_POOLING_SWITCHES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def modules_of(folder: Path) -> list[dict[str, Any]]:
    """Read ``modules.json``; empty for a folder without it."""
    path = folder / MODULES
    modules = parsed(path) if path.is_file() else []
    well = isinstance(modules, list) and all(
        isinstance(m, dict) and isinstance(m.get("type"), str) and isinstance(m.get("path"), str)
        for m in modules
    )
    if not well:
        raise ModelError(f"{path} is not a list of modules", "fetch the folder again")
    return list(modules)


def kind_of(module: dict[str, Any]) -> str:
    """Return the class name of a module, without its import path."""
    return str(module["type"]).rpartition(".")[2]


def network_of(folder: Path) -> Path:
    """Return the folder with ``config.json``, weights and tokenizer: itself, or a subfolder.

    Raises:
        ModelError: the first module in ``modules.json`` is not an encoder.
    """
    modules = modules_of(folder)
    if not modules:
        return folder
    if kind_of(modules[0]) not in ("Transformer", LANDMARK_MODULE):
        raise ModelError(
            f"{folder} starts with a {kind_of(modules[0])}", "give an encoder's folder"
        )
    return Path(folder, modules[0]["path"])


def has_landmarks(folder: Path) -> bool:
    """Whether the folder has LMK pooling, by its modules."""
    modules = modules_of(folder)
    return bool(modules) and kind_of(modules[0]) == LANDMARK_MODULE


def prompts_of(folder: Path) -> tuple[str, str]:
    """Return the prompts of queries and documents; documents have three possible names."""
    path = folder / PROMPTS
    prompts = (read_object(path).get("prompts") or {}) if path.is_file() else {}
    documents = (prompts.get(name) for name in ("document", "passage", "corpus"))
    return prompts.get("query") or "", next((each for each in documents if each), "")


@dataclass(frozen=True, slots=True)
class StartingWeights:
    """A plain encoder folder from which landmark training can start.

    Attributes:
        folder: the folder with ``config.json``, weights and tokenizer.
        max_tokens: longest row it was used with; None if unknown.
        pooling: its pooling modes (``mean``, ``cls`` …); the vectors of several are concatenated.
        left_out: modules that landmark training does not use (a dense layer …).
    """

    folder: Path
    max_tokens: int | None
    pooling: tuple[str, ...]
    lower_case: bool
    query_prompt: str
    document_prompt: str
    left_out: tuple[str, ...]


def starting_weights(folder: Path) -> StartingWeights:
    """Read the settings of a sentence-transformers folder, or of a plain Hugging Face one.

    Raises:
        ModelError: the folder is neither, or has LMK pooling.
    """
    if has_landmarks(folder):
        raise ModelError(
            f"{folder} starts with a {LANDMARK_MODULE}: it has LMK pooling",
            "read_folder(), or milepost train --init",
        )
    root, modules = network_of(folder), modules_of(folder)
    config = read_object(root / "config.json")
    found = sorted(root.glob("sentence_*_config.json"))
    settings = read_object(found[0]) if found else {}
    tokenizer = root / "tokenizer_config.json"
    limits = (
        settings.get("max_seq_length"),
        read_object(tokenizer).get("model_max_length") if tokenizer.is_file() else None,
        config.get("max_position_embeddings"),
    )
    # Tokenizers without a limit write 10^30.
    known = [int(each) for each in limits if each is not None and 0 < each < 10**9]
    query, document = prompts_of(folder)
    kinds = [kind_of(module) for module in modules]
    pooling: tuple[str, ...] = ()
    if "Pooling" in kinds:
        path = modules[kinds.index("Pooling")]["path"]
        pooling = _poolings(read_object(folder / path / "config.json"))
    return StartingWeights(
        folder=root,
        max_tokens=min(known, default=None),
        pooling=pooling,
        lower_case=bool(settings.get("do_lower_case", False)),
        query_prompt=query,
        document_prompt=document,
        left_out=tuple(k for k in kinds[1:] if k not in ("Pooling", "Normalize", "Dropout")),
    )


def _poolings(config: dict[str, Any]) -> tuple[str, ...]:
    """The enabled pooling modes, from either format of Pooling's ``config.json``."""
    named = config.get("pooling_mode")
    if named is not None:
        return (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for key, name in _POOLING_SWITCHES.items() if config.get(key)) or ("mean",)
