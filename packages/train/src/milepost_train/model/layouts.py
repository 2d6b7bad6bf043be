"""Folders of sentence-transformers: where their network is, and what their settings say.

Folders with LMK pooling begin with a ``LandmarkTransformer``. See ``docs/export.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milepost.encoder.engine.manifest import SENTENCES, Granularity
from milepost.encoder.engine.schema import check_schema
from milepost.errors import ModelError
from milepost_train.model.landmark_encoder import READING, Reading
from milepost_train.model.special import ADAPTER, AGAIN, load_tokenizer, parsed, read_object

LANDMARK_MODULE = "LandmarkTransformer"
"""First module of a folder with LMK pooling."""
CONFIG = "sentence_bert_config.json"
SCHEMA = 3

_TRAIN = "train it first (milepost train CONFIG --init FOLDER)"
_RENEW = "milepost_train.model.interop.write_folder(MODEL, FOLDER), with the weights it came from"


@dataclass(frozen=True, slots=True)
class LmkSettings:
    """The settings that determine a document's vector, besides weights and tokenizer.

    Attributes:
        bos_ids: ids that begin a row, usually ``[CLS]``.
        granularity: tokens per landmark, or ``"sentences"``.
        limit: longest row in tokens.
        longest: with ``"sentences"``, maximum tokens per landmark: longer sentences are cut and get
            several; 0 for no maximum.
        unit_landmarks: scale each landmark to unit length before the mean, as Milepost's own
            training and index do; the paper does not.
        normalized: scale the mean to unit length, as in the paper.
    """

    bos_ids: tuple[int, ...]
    landmark: int
    granularity: Granularity
    limit: int
    longest: int = 0
    unit_landmarks: bool = False
    normalized: bool = True
    query_prompt: str = ""
    document_prompt: str = ""

    def __post_init__(self) -> None:
        whole = isinstance(self.granularity, int) and not isinstance(self.granularity, bool)
        if self.granularity != SENTENCES and not (whole and int(self.granularity) > 0):
            raise ModelError(
                f"{self.granularity!r} is not a granularity", 'use a positive number or "sentences"'
            )
        if not isinstance(self.limit, int) or self.limit < len(self.bos_ids) + 1:
            raise ModelError(f"a limit of {self.limit!r} tokens has no room for a landmark")


def from_json(config: dict[str, Any], source: str) -> LmkSettings:
    """Read the settings that ``LandmarkTransformer.save`` wrote."""
    fields = dict(config)
    check_schema(source, fields.pop("milepost_schema", None), SCHEMA, _RENEW)
    try:
        limit, bos_ids = fields.pop("max_seq_length"), tuple(fields.pop("bos_ids"))
        return LmkSettings(bos_ids=bos_ids, limit=limit, **fields)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{source} is damaged: {error}", "write the folder again") from error


def network_of(folder: Path) -> Path:
    """Return the folder with ``config.json``, weights and tokenizer: itself, or a subfolder."""
    modules = _modules(folder)
    if not modules:
        return folder
    if _kind(modules[0]) not in ("Transformer", LANDMARK_MODULE):
        raise ModelError(f"{folder} starts with a {_kind(modules[0])}", "give an encoder's folder")
    return Path(folder, modules[0]["path"])


def lmk_settings(folder: Path) -> LmkSettings | None:
    """The settings of a folder with LMK pooling; None for any other folder."""
    modules = _modules(folder)
    if not modules or _kind(modules[0]) != LANDMARK_MODULE:
        return None
    path = folder / modules[0]["path"] / CONFIG
    model = folder / "config_sentence_transformers.json"
    prompts = (read_object(model).get("prompts") or {}) if model.is_file() else {}
    return replace(
        from_json(read_object(path), str(path)),
        normalized=any(_kind(module) == "Normalize" for module in modules),
        query_prompt=prompts.get("query") or "",
        document_prompt=prompts.get("document") or "",
    )


def reading_of(folder: Path) -> Reading | None:
    """How training and export read a folder with LMK pooling; None for any other folder.

    Every layer of its network attends to the whole row, so ``own_sentence`` is False.
    """
    settings = lmk_settings(folder)
    if settings is None:
        return None
    if len(settings.bos_ids) > 1:
        raise ModelError(
            f"{folder} starts rows with {len(settings.bos_ids)} tokens, a window with one",
            "read it by milepost_train.model.interop.read_folder",
        )
    tokenizer = load_tokenizer(network_of(folder))
    names = [tokenizer.id_to_token(number) for number in (*settings.bos_ids, settings.landmark)]
    *opens, landmark = [name for name in names if name is not None]
    if None in names:
        raise ModelError(f"the tokenizer of {folder} lacks a special token", AGAIN)
    return Reading(
        "".join(opens), landmark, granularity=settings.granularity, longest=settings.longest or None
    )


def check_exportable(folder: Path, *, named: bool = False) -> tuple[str, ...]:
    """Reject a folder whose vectors a model folder cannot reproduce; what else will differ.

    ``named``: whether the user named the token that closed sentences in training. Differences of
    the model folder are sentences for users.
    """
    if (folder / READING).is_file():
        return ()
    if (folder / ADAPTER).is_file() and not named:
        raise ModelError(
            f"{folder} is an adapter without {READING}, and may have its landmarks anywhere (the "
            "LMK authors' precede each chunk)",
            f"{_TRAIN}, or name the token that closed its sentences in training: --landmark TOKEN",
        )
    settings = lmk_settings(folder)
    if settings is not None and (settings.query_prompt or settings.document_prompt):
        raise ModelError(
            f"{folder} puts prompts in front of texts, and a model folder does not", _TRAIN
        )
    if settings is None or settings.unit_landmarks:
        return ()
    return (
        f"{folder} averages landmarks of any length, the model folder their directions, so "
        "document vectors differ slightly",
    )


def _modules(folder: Path) -> list[dict[str, Any]]:
    path = folder / "modules.json"
    modules = parsed(path) if path.is_file() else []
    well = isinstance(modules, list) and all(
        isinstance(m, dict) and isinstance(m.get("type"), str) and isinstance(m.get("path"), str)
        for m in modules
    )
    if not well:
        raise ModelError(f"{path} is not a list of modules", AGAIN)
    return list(modules)


def _kind(module: dict[str, Any]) -> str:
    return str(module["type"]).rpartition(".")[2]
