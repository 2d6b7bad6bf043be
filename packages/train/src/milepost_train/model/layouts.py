"""Read the LMK pooling settings in folders of other programs, layout by layout.

The layouts are three of sentence-transformers PR 3642, and the authors' folders, which have no
settings but their names. No code from a folder is run. ``docs/export.md`` has a table of layouts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from milepost.engine.manifest import SENTENCES, Granularity
from milepost.errors import ModelError
from milepost_train.model.fetch import parsed, read_object
from milepost_train.model.landmark_transformer import CONFIG, from_json
from milepost_train.model.lmk import Rule
from milepost_train.model.lmk_model import LmkSettings

MODULES = "modules.json"
PROMPTS = "config_sentence_transformers.json"
LANDMARK_MODULE = "LandmarkTransformer"
"""First module of a folder trained with LMK pooling, in Milepost and in PR 3642."""
_NAMED = re.compile(
    r"_(?P<method>lmk_fixed|lmk_var|lmk_en|lmk_multi|cls|mean|latent_attn|every_64)"
    r"_gran_(?P<sizes>\d+(?:_\d+)*)$"
)
_POOLING_SWITCHES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
    "pooling_mode_lmk": "lmk",
}


class InteropWarning(UserWarning):
    """Settings of a folder were guessed, or other programs read the folder differently."""


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


def trained_for_lmk(folder: Path) -> bool:
    """Whether the folder was trained with LMK pooling, by its modules or its name."""
    modules = modules_of(folder)
    if modules:
        return kind_of(modules[0]) == LANDMARK_MODULE
    hint = _hint(folder)
    return hint is not None and hint["method"].startswith("lmk_")


def settings_of(
    folder: Path, tokenizer: Any, granularity: Granularity | None = None, limit: int | None = None
) -> LmkSettings:
    """Read a folder's settings of rows, landmarks and prompts, in any layout.

    Args:
        folder: a folder of Milepost, of PR 3642, or of the authors.
        tokenizer: its tokenizer, from ``transformers.AutoTokenizer``.
        granularity: used if the folder does not give one.
        limit: longest row, used if the folder does not give it.

    Raises:
        ModelError: the folder is damaged, or lacks a required setting.
    """
    modules = modules_of(folder)
    if modules and modules[0]["type"].startswith("milepost."):
        path = folder / modules[0]["path"] / CONFIG
        settings = from_json(read_object(path), str(path))
    elif modules and kind_of(modules[0]) == LANDMARK_MODULE:
        settings = of_pull_request(folder, modules, tokenizer, granularity, limit)
    else:
        settings = of_name(folder, tokenizer, granularity, limit)
    query, document = prompts_of(folder)
    return replace(
        settings,
        normalized=not modules or any(kind_of(m) == "Normalize" for m in modules),
        query_prompt=query,
        document_prompt=document,
    )


def of_pull_request(
    folder: Path,
    modules: Sequence[dict[str, Any]],
    tokenizer: Any,
    granularity: Granularity | None,
    limit: int | None,
) -> LmkSettings:
    """Read settings of sentence-transformers PR 3642, whose three layouts differ in their keys."""
    other = [kind_of(m) for m in modules[1:] if kind_of(m) not in ("Pooling", "Normalize")]
    pooling = [m for m in modules if kind_of(m) == "Pooling"]
    if other or len(pooling) != 1:
        raise ModelError(
            f"{folder / MODULES} lists {other or 'no pooling'}", "a folder with LMK pooling"
        )
    config = read_object(folder / modules[0]["path"] / CONFIG)
    head = read_object(folder / pooling[0]["path"] / "config.json")
    if poolings_of(head) != ("lmk",):
        raise ModelError(f"{folder} pools {poolings_of(head)}", "a folder with only LMK pooling")
    if head.get("include_prompt") is False and any(prompts_of(folder)):
        raise ModelError(f"{folder} leaves its prompts out of pooling", "not supported with LMK")
    bos_ids, closing = _bos_ids(tokenizer), tuple[int, ...]()
    rule, usual, training = Rule.OFFICIAL, config.get("landmark_interval"), None
    if "landmark_interval" in config:
        rule = Rule.DOUBLE_SUFFIX
        bos_ids, closing = template_of(tokenizer)
        training = config.get("train_landmark_interval")
    elif "eval_splitter_granularity" in config:
        usual = config["eval_splitter_granularity"]
        training = config.get("train_splitter_granularity")
    elif "splitter_granularity" in config:
        usual = config["splitter_granularity"]
        training = usual if isinstance(usual, list) else None
        if config.get("splitter_type") == "variable" or usual != 128 or config.get("do_lower_case"):
            _warn(
                "the revisions of sentence-transformers that wrote this folder reload it with a "
                f"landmark every 128 tokens and without lower case; it says {usual}"
            )
        if isinstance(usual, list):
            usual = 128 if granularity is None else granularity
            if granularity is None:
                _warn("this folder names no granularity for evaluation; 128 is taken")
    if usual is None:
        usual = 32 if granularity is None else granularity
        if granularity is None:
            _warn(f"{folder} names no granularity; 32 is taken")
    if not isinstance(training, list):
        training = [] if training is None else [training]
    length = config.get("max_seq_length") or limit
    return LmkSettings(
        bos_ids=bos_ids,
        closing=closing,
        landmark=_landmark(config.get("lmk_token_id"), head.get("lmk_token_id"), tokenizer),
        granularity=usual,
        limit=_known(length, folder),
        rule=rule,
        training=tuple(training),
        lower_case=bool(config.get("do_lower_case", False)),
    )


def of_name(
    folder: Path, tokenizer: Any, granularity: Granularity | None, limit: int | None
) -> LmkSettings:
    """Get an authors' checkpoint's settings: the caller's, else by ``…_<method>_gran_<sizes>``."""
    hint = _hint(folder)
    training: tuple[Granularity, ...] = ()
    if hint is not None:
        method, sizes = hint["method"], tuple(int(size) for size in hint["sizes"].split("_"))
        if method in ("lmk_en", "lmk_multi"):
            training = (SENTENCES,)
        elif method in ("lmk_fixed", "lmk_var"):
            training = sizes
        elif granularity is None:
            raise ModelError(
                f"{folder} was trained for {method} pooling", "a model trained for LMK pooling"
            )
    if granularity is None:
        if not training:
            raise ModelError(
                f"{folder} does not say how far apart landmarks are", "granularity=32, as usual"
            )
        granularity = 32 if 32 in training else training[0]
        if granularity == SENTENCES:
            _warn(f"{folder} was trained with another program's sentences than Milepost's")
        elif len(training) > 1:
            _warn(f"{folder} was trained with {training}; {granularity} is taken")
    return LmkSettings(
        bos_ids=_bos_ids(tokenizer),
        landmark=_landmark(None, None, tokenizer),
        granularity=granularity,
        limit=_known(limit, folder),
        rule=Rule.OFFICIAL,
        training=training,
    )


def _hint(folder: Path) -> re.Match[str] | None:
    """Match the authors' naming scheme on the folder, or on its parent for a checkpoint."""
    return _NAMED.search(folder.name) or _NAMED.search(folder.parent.name)


def _landmark(transformer: int | None, pooling: int | None, tokenizer: Any) -> int:
    """Choose the landmark's id: the transformer module's, the pooling's, ``[SEP]``, end of text."""
    if transformer is not None and transformer >= 0:
        if pooling is not None and 0 <= pooling != transformer:
            _warn(f"landmark {transformer} is inserted but {pooling} pooled; the first is taken")
        elif pooling is not None and pooling < 0:
            _warn("Pooling names no landmark; read alone, it takes the mean of all tokens")
        return transformer
    for each in (pooling, tokenizer.sep_token_id, tokenizer.eos_token_id):
        if each is not None and each >= 0:
            return int(each)
    raise ModelError("the tokenizer has no [SEP] and no end of text", "a tokenizer that has one")


def _bos_ids(tokenizer: Any) -> tuple[int, ...]:
    """Return the id of ``[CLS]``, else of the beginning of text, else no id."""
    for each in (tokenizer.cls_token_id, tokenizer.bos_token_id):
        if each is not None:
            return (int(each),)
    return ()


def template_of(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids that the tokenizer adds before and after a text."""
    bare: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
    full: list[int] = tokenizer("a")["input_ids"]
    for at in range(len(full) - len(bare) + 1):
        if full[at : at + len(bare)] == bare:
            return tuple(full[:at]), tuple(full[at + len(bare) :])
    raise ModelError(
        "the tokenizer's special tokens change the text", "a tokenizer whose special tokens do not"
    )


def _known(limit: int | None, folder: Path) -> int:
    if limit is None:
        raise ModelError(f"{folder} does not give the maximum length of a text", "limit=TOKENS")
    return limit


def poolings_of(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the enabled pooling modes, from either format of Pooling's ``config.json``."""
    named = config.get("pooling_mode")
    if named is not None:
        return (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for key, name in _POOLING_SWITCHES.items() if config.get(key)) or ("mean",)


def prompts_of(folder: Path) -> tuple[str, str]:
    """Return the prompts of queries and documents; documents have three possible names."""
    path = folder / PROMPTS
    prompts = (read_object(path).get("prompts") or {}) if path.is_file() else {}
    documents = (prompts.get(name) for name in ("document", "passage", "corpus"))
    return prompts.get("query") or "", next((each for each in documents if each), "")


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


def _warn(message: str) -> None:
    warnings.warn(message, InteropWarning, stacklevel=5)
