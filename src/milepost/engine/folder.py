"""Where models are found and which files a model folder holds."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost._optional import folder_of
from milepost.engine.endpoint import Remote, endpoint_folder, is_endpoint, remote_of
from milepost.engine.hub import local
from milepost.engine.manifest import MANIFEST, Manifest, read_manifest
from milepost.errors import ModelError

Precision = Literal["int8", "f32", "bf16"]

DEFAULT = "landmark-minilm"
SHIPPED = Path(__file__).resolve().parent.parent / "models"

MULTILINGUAL = "landmark-multilingual"
PACKAGES = {MULTILINGUAL: "milepost_multilingual"}
"""Models in packages of their own: name → the module that holds a folder of that name."""

TOKENIZER = "tokenizer.json"
# bf16 is half of f32 on disk and no faster: it is for folders that hold nothing else.
GRAPHS: dict[Precision, str] = {
    "int8": "openvino_int8.xml",
    "f32": "openvino_f32.xml",
    "bf16": "openvino_bf16.xml",
}
POOLING_GRAPH, POOLING = "pooling.xml", "pooling.npz"
"""Of a model whose documents are pooled in another way than by the mean of landmarks: the OpenVINO
graph, and what ``milepost.pooling.load`` reads."""
RERANKER = "reranker"
"""A model in the model's folder, which reads the best places again with the question."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds ``milepost.json``, ``tokenizer.json`` and at least one graph."""

    path: Path
    manifest: Manifest

    @property
    def tokenizer(self) -> Path:
        """The ``tokenizers`` file."""
        return self._existing(self.path / TOKENIZER)

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Graphs that are there, the fastest first."""
        return tuple(name for name, file in GRAPHS.items() if (self.path / file).is_file())

    @property
    def remote(self) -> Remote | None:
        """The embedding endpoint that it stands for, or None.

        Raises:
            ModelError: the folder is damaged.
        """
        return remote_of(self.path, endpoint_folders())

    def pooling(self, file: str) -> Path:
        """``POOLING_GRAPH`` or ``POOLING`` of a model whose document pooling is its own.

        Raises:
            ModelError: it is missing.
        """
        return self._existing(self.path / file)

    def graph(self, precision: Precision | None = None) -> Path:
        """The OpenVINO graph of a precision, or the fastest there is.

        Raises:
            ModelError: the folder has no such graph.
        """
        if precision is None:
            if not self.precisions:
                raise ModelError(f"{self.path} holds no OpenVINO graph", _EXPORT)
            precision = self.precisions[0]
        if precision not in GRAPHS:
            raise ModelError(f"unknown precision {precision!r}", f"use one of {', '.join(GRAPHS)}")
        path = self._existing(self.path / GRAPHS[precision])
        self._existing(path.with_suffix(".bin"))
        return path

    @staticmethod
    def _existing(path: Path) -> Path:
        if not path.is_file():
            raise ModelError(f"{path} is missing from the model folder", _EXPORT)
        return path


_EXPORT = "export the model again (milepost.model.export) or reinstall milepost"


def shipped_models() -> list[ModelFolder]:
    """Models inside the package, by name, and those of other packages that are installed."""
    folders = sorted(path.parent for path in SHIPPED.glob(f"*/{MANIFEST}"))
    found = [ModelFolder(folder, read_manifest(folder)) for folder in folders]
    for folder in map(packaged, PACKAGES):
        if folder is not None:
            with suppress(ModelError):  # see ``mismatched_models``
                found.append(ModelFolder(folder, read_manifest(folder)))
    return found


def mismatched_models() -> dict[str, ModelError]:
    """Models of packages that do not match this version of Milepost: name → what is wrong."""
    wrong = {}
    for name in PACKAGES:
        folder = packaged(name)
        try:
            if folder is not None:
                _of_package(folder)
        except ModelError as error:
            wrong[name] = error
    return wrong


def packaged(name: str) -> Path | None:
    """The folder of a model that comes in a package of its own; None where that is missing."""
    found = folder_of(PACKAGES[name]) if name in PACKAGES else None
    return found / name if found and (found / name / MANIFEST).is_file() else None


def install_command(name: str, *, both: bool = False) -> str:
    """What installs the package of a model, in a clone; ``both``: and Milepost of its version."""
    folder = PACKAGES[name].removeprefix("milepost_").replace("_", "-")
    return f"pip install {'. ' if both else ''}./packages/{folder}"


def model_of(fingerprint: str) -> ModelFolder | None:
    """The installed model with a fingerprint, None for none."""
    return next((m for m in shipped_models() if m.manifest.fingerprint == fingerprint), None)


def find_model(name: str | os.PathLike[str] | None = None) -> ModelFolder:
    """A model by shipped name, by folder, by its name on the Hugging Face hub, or an endpoint.

    Args:
        name: None is the default model. ``owner/name``, where no such folder exists, is looked up
            in the hub's cache and, where it is not there, fetched; nothing is asked of the network
            for a model that is cached. ``http://HOST:PORT/v1#MODEL`` is a model behind an
            OpenAI-compatible embedding endpoint.

    Raises:
        ModelError: none of these, or the hub cannot be reached, or the endpoint gives no vectors.
        InputError: the address of an endpoint cannot be read.
        MilepostError: the endpoint cannot be reached.
    """
    if name is None:
        name = DEFAULT
    if is_endpoint(os.fspath(name)):
        place = endpoint_folder(os.fspath(name), endpoint_folders(), SHIPPED / DEFAULT / TOKENIZER)
        return ModelFolder(place, read_manifest(place))
    own = packaged(os.fspath(name))
    if own is not None:
        return ModelFolder(own, _of_package(own))
    if name in PACKAGES and not Path(name).is_dir():
        package = PACKAGES[os.fspath(name)].replace("_", "-")
        raise ModelError(
            f"the model {name} is in the package {package}, which is not installed",
            f"{install_command(os.fspath(name))} in a clone of Milepost",
        )
    shipped = SHIPPED / os.fspath(name)
    # "." and ".." exist below SHIPPED, too, and mean the caller's folders.
    folder = local(
        shipped if (shipped / MANIFEST).is_file() else name,
        "give a folder or a shipped name; see: milepost models",
        only=[MANIFEST, TOKENIZER, "openvino_*", "pooling.*", "*.npz", f"{RERANKER}/*"],
    )
    if folder is None:
        known = ", ".join(model.manifest.name for model in shipped_models())
        raise ModelError(
            f"no model named {os.fspath(name)!r} and no such folder",
            f"milepost models (shipped: {known or 'none'})",
        )
    return ModelFolder(folder, read_manifest(folder))


def _of_package(folder: Path) -> Manifest:
    """The manifest of a model in a package.

    Raises:
        ModelError: the package is of another version.
    """
    try:
        return read_manifest(folder)
    except ModelError as error:
        package = folder.parent.name.replace("_", "-")
        raise ModelError(
            f"the package {package} does not match this version of Milepost: {error.problem}",
            f"{install_command(folder.name, both=True)} in a clone of Milepost",
        ) from error


def endpoint_folders() -> Path:
    """Where the folders are that stand for embedding endpoints."""
    return cache_folder() / "endpoints"


def cache_folder() -> Path:
    """Where compiled graphs and the indexes of ``milepost search PATH`` are kept.

    ``MILEPOST_CACHE`` names another place; otherwise the platform's own.
    """
    chosen = os.environ.get("MILEPOST_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / "milepost"
