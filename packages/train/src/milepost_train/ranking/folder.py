"""A model folder with what was learned, whole or not at all.

The new folder is made beside its place and takes it in one step, so that a kill or a full disk
leaves the old one. Where the system cannot exchange two folders in one step (Windows, some file
systems), the old one is renamed and the new one then takes its name.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from milepost.encoder.engine.manifest import MANIFEST
from milepost.errors import InputError
from milepost.search.trees import FILE, Trees
from milepost_train.record import SUMS, add_sums

REPORT = "fit.json"
_AT_CWD, _EXCHANGE = -100, 2  # of renameat2, see linux/fcntl.h and linux/fs.h


def check_out(model: Path, out: Path) -> None:
    """See that ``out`` can be written for a model, before the work; nothing is left behind."""
    there = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if there and out.resolve() != model.resolve() and not (out / REPORT).is_file():
        raise InputError(f"{out} exists and holds no earlier fit", "another --out FOLDER")
    with _draft(out) as draft:
        draft.mkdir()


def write_folder(
    model: Path,
    out: Path,
    fusion: Mapping[str, Any],
    trees: Trees | None,
    report: Mapping[str, Any],
) -> None:
    """Write the model folder with what was learned.

    ``milepost.json`` gets ``fusion``, ``ranking.npz`` the trees (without trees there is none),
    ``fit.json`` the report, ``SHA256SUMS`` the line of ``ranking.npz``; the rest is as in
    ``model``, which ``out`` may be.

    Raises:
        InputError: it cannot be written; then ``out`` is as it was.
    """
    place = out.resolve()
    with _draft(out) as draft:
        copy = _link if place == model.resolve() else shutil.copy2
        without = shutil.ignore_patterns(FILE, REPORT)
        shutil.copytree(model, draft, copy_function=copy, ignore=without)
        manifest = json.loads((model / MANIFEST).read_text(encoding="utf-8"))
        manifest["fusion"] = dict(fusion)
        for name, fields in ((MANIFEST, manifest), (REPORT, report)):
            (draft / name).unlink(missing_ok=True)  # it may be a link to the model's own file
            text = json.dumps(fields, indent=1, ensure_ascii=False) + "\n"
            (draft / name).write_text(text, encoding="utf-8")
        if trees is not None:
            trees.write(draft)
        if (draft / SUMS).is_file():
            add_sums(draft, [FILE])
        _sync(draft)
        _put(draft, place)


def _link(source: str, target: str) -> None:
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copy2(source, target)


@contextmanager
def _draft(out: Path) -> Iterator[Path]:
    """A name beside the folder, which is free again afterwards."""
    place = out.resolve()
    draft = place.with_name(f".{place.name}.fit")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        if draft.exists():  # of a run that was killed
            shutil.rmtree(draft)
        yield draft
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{out} cannot be written: {reason}", "--out FOLDER elsewhere") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sync(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        if path.is_file() or os.name == "posix":
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _put(draft: Path, place: Path) -> None:
    if not place.exists():
        draft.rename(place)
    elif not _exchange(draft, place):
        aside = place.with_name(f".{place.name}.old")
        place.rename(aside)
        try:
            draft.rename(place)
        except OSError:
            aside.rename(place)
            raise
        shutil.rmtree(aside)


def _exchange(one: Path, other: Path) -> bool:
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    return bool(rename(_AT_CWD, first, _AT_CWD, second, _EXCHANGE) == 0)
