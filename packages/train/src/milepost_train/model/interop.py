"""Read and write folders of other programs: sentence-transformers and every known LMK layout.

``read_folder`` returns an ``LmkModel`` for a folder trained with LMK pooling: Milepost's own, the
three layouts of sentence-transformers PR 3642, or the authors' (only weights; settings come from
the caller or the folder's name). ``starting_weights`` describes a plain encoder folder to train
from. ``write_folder`` writes a folder that sentence-transformers opens. No code from a folder is
run and nothing is unpickled. ``docs/export.md`` has a table of the layouts.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from milepost._optional import require
from milepost.engine.manifest import Granularity
from milepost.errors import ModelError, first_line
from milepost_train.model.fetch import ADAPTER, read_object
from milepost_train.model.landmark_transformer import LandmarkTransformer
from milepost_train.model.layouts import (
    LANDMARK_MODULE,
    MODULES,
    PROMPTS,
    InteropWarning,
    kind_of,
    modules_of,
    network_of,
    poolings_of,
    prompts_of,
    settings_of,
    template_of,
)
from milepost_train.model.lmk import Rule
from milepost_train.model.lmk_model import LmkModel, max_tokens

__all__ = ["InteropWarning", "StartingWeights", "read_folder", "starting_weights", "write_folder"]


@dataclass(frozen=True, slots=True)
class StartingWeights:
    """A plain encoder folder from which landmark training can start.

    Attributes:
        folder: the folder with ``config.json``, weights and tokenizer.
        model_type: the backbone's name in transformers.
        max_tokens: longest row it was used with; None if unknown.
        pooling: its pooling modes (``mean``, ``cls`` …); the vectors of several are concatenated.
        normalized: whether its vectors have unit length.
        lower_case: whether texts are lower-cased first.
        query_prompt, document_prompt: prefixes of queries and documents.
        left_out: modules that landmark training does not use (a dense layer …).
    """

    folder: Path
    model_type: str
    max_tokens: int | None
    pooling: tuple[str, ...]
    normalized: bool
    lower_case: bool
    query_prompt: str
    document_prompt: str
    left_out: tuple[str, ...]


def starting_weights(folder: Path) -> StartingWeights:
    """Read the layout of a sentence-transformers folder, or of a plain Hugging Face one.

    Raises:
        ModelError: the folder is neither, or was trained with LMK pooling.
    """
    root, modules = network_of(folder), modules_of(folder)
    if modules and kind_of(modules[0]) == LANDMARK_MODULE:
        raise ModelError(
            f"{folder} starts with a {LANDMARK_MODULE}: it was trained with LMK pooling",
            "read_folder(), or milepost train --init",
        )
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
    pooling = [m for m in modules if kind_of(m) == "Pooling"]
    return StartingWeights(
        folder=root,
        model_type=config.get("model_type", ""),
        max_tokens=min(known, default=None),
        pooling=poolings_of(read_object(folder / pooling[0]["path"] / "config.json"))
        if pooling
        else (),
        normalized=any(kind_of(m) == "Normalize" for m in modules),
        lower_case=bool(settings.get("do_lower_case", False)),
        query_prompt=query,
        document_prompt=document,
        left_out=tuple(
            kind_of(m) for m in modules[1:] if kind_of(m) not in ("Pooling", "Normalize", "Dropout")
        ),
    )


def read_folder(
    folder: Path,
    *,
    granularity: Granularity | None = None,
    limit: int | None = None,
    rule: Rule | None = None,
    by_id: bool = False,
) -> LmkModel:
    """Load a folder trained with LMK pooling.

    Args:
        folder: path of the folder.
        granularity: tokens per landmark, or ``"sentences"``; default: the folder's.
        limit: longest row in tokens; default: the folder's, else the model's maximum.
        rule: how rows end; default: the rule of its training.
        by_id: also pool landmark tokens that occur in the text, as the published code does.

    Raises:
        ModelError: the folder is damaged, of another kind, or lacks a required setting.

    Warns:
        InteropWarning: settings were guessed, or other programs read the folder differently.
    """
    transformers = require("transformers", extra="train")
    if (folder / ADAPTER).is_file():
        raise ModelError(
            f"{folder} is an adapter of a decoder, whose landmarks precede each chunk",
            "only encoders with landmarks behind each chunk are read",
        )
    modules = modules_of(folder)
    root = folder / modules[0]["path"] if modules else folder
    if not (root / "config.json").is_file():
        raise ModelError(f"{folder} holds no model", "a folder with a config.json")
    plain = bool(modules) and kind_of(modules[0]) != LANDMARK_MODULE
    if plain and granularity is None:
        raise ModelError(
            f"{folder} was not trained with LMK pooling",
            "train it first (starting_weights() reads it), or pass granularity to use it as it is",
        )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(root, local_files_only=True)
        backbone, loaded = transformers.AutoModel.from_pretrained(
            root, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # the library raises all kinds
        first = first_line(error)
        raise ModelError(f"{folder} cannot be loaded: {first}", "fetch the folder again") from error
    # The library initialises missing weights at random. Poolers are not used.
    missing = sorted(name for name in loaded["missing_keys"] if not name.startswith("pooler."))
    if missing:
        raise ModelError(f"the weights of {folder} lack {missing[0]}", "fetch the folder again")
    backbone = backbone.float()
    room = max_tokens(backbone.config) if limit is None else limit
    settings = settings_of(folder, tokenizer, granularity, room)
    if rule is Rule.DOUBLE_SUFFIX:
        bos_ids, closing = template_of(tokenizer)
        settings = replace(settings, bos_ids=bos_ids, closing=closing)
    settings = replace(
        settings,
        granularity=settings.granularity if granularity is None else granularity,
        limit=settings.limit if limit is None else limit,
        rule=rule or settings.rule,
        by_id=by_id or settings.by_id,
    )
    return LmkModel(backbone, tokenizer, settings)


def write_folder(lmk: LmkModel, folder: Path) -> None:
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
    module = LandmarkTransformer(lmk)
    module.save(str(part))
    kinds = [("", f"{LandmarkTransformer.__module__}.{LandmarkTransformer.__name__}")]
    if lmk.settings.normalized:
        # The old short path, which every release of sentence-transformers resolves.
        kinds.append(("1_Normalize", "sentence_transformers.models.Normalize"))
        (part / "1_Normalize").mkdir()
    _write(
        part / MODULES,
        [
            {"idx": n, "name": str(n), "path": path, "type": kind}
            for n, (path, kind) in enumerate(kinds)
        ],
    )
    prompts = {"query": lmk.settings.query_prompt, "document": lmk.settings.document_prompt}
    _write(
        part / PROMPTS,
        {
            "model_type": "SentenceTransformer",
            "prompts": prompts,
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    )
    part.rename(folder)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
