"""The checks of ``milepost doctor``, one function for each subject."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from milepost import __version__
from milepost._numpy import np
from milepost._optional import REINSTALL
from milepost.cli.console.screen import size_text
from milepost.cli.models import tree_bytes
from milepost.cli.program import was_interrupted
from milepost.errors import MilepostError

if TYPE_CHECKING:
    from milepost.encoder import Encoder
    from milepost.encoder.engine import ModelFolder
    from milepost.encoder.engine.precision import Arithmetic

SUMS = "SHA256SUMS"
"""File of a model folder with the checksums of the others, as ``sha256sum`` writes it."""

LITTLE_DISK_BYTES = 1_000_000_000

_TRIAL = (
    "The committee met on the second of May. ",
    "Each member had read the report and the notes that came with it. ",
    "They agreed to build the bridge, but not before the river had been surveyed. ",
)

TRIAL_S = 1.0  # seconds that the speed is measured for


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; ``hint`` says what to do where it is not ``ok``."""

    subject: str
    state: Literal["ok", "note", "broken"]
    detail: str
    hint: str = ""


def run_checks(model: str | None, precision: Arithmetic | None = None) -> Iterator[Finding]:
    """Run the checks one after the other; those of the model come last."""
    from milepost.encoder.engine.folder import find_model, mismatched_models

    yield Finding("milepost", "ok", f"{__version__} in {Path(__file__).parents[1]}")
    detail = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    yield Finding("Python", "ok", f"{detail}, {sys.executable}")
    yield from _dependencies()
    yield _processor()
    yield _database()
    yield from _storage()
    for error in mismatched_models().values():
        yield Finding("model package", "note", error.problem, error.hint)
    try:
        folder = find_model(model)
    except MilepostError as error:
        yield Finding("model", "broken", error.problem, error.hint)
        return
    yield _model(folder)
    yield from _engine(folder, precision)


def _dependencies() -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, requires, version

    there = []
    try:
        # Those of extras have a condition behind a semicolon.
        needed = [line for line in requires("milepost") or () if ";" not in line]
    except PackageNotFoundError:
        yield Finding("dependencies", "note", "unknown: Milepost is not installed by pip")
        return
    for name in sorted(re.split(r"[^\w.-]", line)[0] for line in needed):
        try:
            there.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield Finding("dependency", "broken", f"{name} is missing", f"pip install {name}")
    yield Finding("dependencies", "ok", ", ".join(there))


def _processor() -> Finding:
    from milepost.encoder.engine.cpu import features, has_int8_dot_product
    from milepost.encoder.engine.openvino import usable_cpus

    listed = features()
    named = "features unknown" if listed is None else ", ".join(listed) or "neither AVX2 nor NEON"
    detail = f"{usable_cpus()} usable CPUs; {named}"
    if has_int8_dot_product() is False:
        return Finding("CPU", "note", f"{detail}; encoding is slower without int8 instructions")
    return Finding("CPU", "ok", detail)


def _database() -> Finding:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE trial USING fts5 (words)")
    except sqlite3.OperationalError as error:
        return Finding(
            "SQLite",
            "broken",
            f"{sqlite3.sqlite_version}: {error}",
            "use a Python whose sqlite3 has FTS5, e.g. from python.org",
        )
    finally:
        connection.close()
    return Finding("SQLite", "ok", f"{sqlite3.sqlite_version} with FTS5")


def _storage() -> Iterator[Finding]:
    from milepost.encoder.engine.folder import cache_folder

    cache = cache_folder()
    detail = f"{cache}, {size_text(tree_bytes(cache))}"
    existing = next(path for path in (cache, *cache.absolute().parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        yield Finding("cache", "ok", detail)
    else:
        yield Finding(
            "cache", "note", f"{detail}: not writable, so every start is slow", "set MILEPOST_CACHE"
        )
    free = shutil.disk_usage(existing).free
    if free < LITTLE_DISK_BYTES:
        yield Finding("disk", "note", f"{size_text(free)} free", "free some space before you index")
    else:
        yield Finding("disk", "ok", f"{free / 1e9:,.1f} GB free")


def _model(folder: ModelFolder) -> Finding:
    manifest = folder.manifest
    every = f", a landmark every {manifest.every} tokens" if manifest.every else ""
    detail = f"{manifest.name}, fingerprint {manifest.fingerprint}{every}, in {folder.path}"
    hint = REINSTALL
    try:
        sums = (folder.path / SUMS).read_text(encoding="utf-8")
    except FileNotFoundError:
        return Finding("model", "note", f"{detail}; not checked, because it has no {SUMS}")
    for line in sums.splitlines():
        expected, _, name = line.partition(" ")
        name = name.strip().removeprefix("*")
        try:
            actual = sha256(folder.path / name)
        except OSError as error:
            return Finding("model", "broken", f"{folder.path / name}: {error.strerror}", hint)
        if actual != expected:
            return Finding("model", "broken", f"{folder.path / name} has changed", hint)
    return Finding("model", "ok", f"{detail}, checksums match")


def sha256(path: Path) -> str:
    """Compute the sha256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _engine(folder: ModelFolder, precision: Arithmetic | None) -> Iterator[Finding]:
    """Whether the model runs and finds the right one of three sentences, and how fast it is."""
    from milepost.encoder import load
    from milepost.encoder.engine.precision import choose
    from milepost.encoder.reranker import LandmarkReranker

    try:
        choice = choose(folder, precision)
        begun = time.perf_counter()
        encoder = load(folder.path, precision=precision)
        ready_s = time.perf_counter() - begun
        reranker = LandmarkReranker.of(encoder)
        fits = _understands(encoder)
        speed = _speed(encoder)
    except MilepostError as error:
        yield Finding("engine", "broken", error.problem, error.hint)
        return
    except (ImportError, RuntimeError) as error:
        if was_interrupted(error):
            raise
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        yield Finding(
            "engine", "broken", first, "pip install --force-reinstall openvino tokenizers"
        )
        return
    detail = f"{encoder.engine}: {choice.why}; ready in {ready_s:.2f} s"
    yield Finding("engine", "ok", detail)
    yield Finding("speed", "ok", f"{speed:,.0f} tokens/s in a trial of a second")
    if reranker is not None:
        yield Finding("reranker", "ok", f"fingerprint {reranker.fingerprint}, ready")
    if not fits:
        yield Finding(
            "answers",
            "note",
            "the model does not find the one sentence of three that answers a question",
            "another --model",
        )


def _understands(encoder: Encoder) -> bool:
    """Whether the sentence about building is the nearest to a question about building."""
    if encoder.manifest.every:  # in one text the three may share a landmark
        vectors = np.array([encoder.encode(sentence).document for sentence in _TRIAL])
    else:
        vectors = encoder.encode("".join(_TRIAL)).vectors
    scores = vectors @ encoder.encode_query("What will be constructed over the water?")
    return bool(scores.argmax() == 2)


def _speed(encoder: Encoder) -> float:
    text = "".join(_TRIAL) * 20
    tokens, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < TRIAL_S:
        tokens += encoder.encode(text).tokens_read
    return tokens / passed
