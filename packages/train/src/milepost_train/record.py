"""The record of a run's inputs, the differences between two, and sums of a model folder's files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from milepost import __version__
from milepost.cli.checks import sha256
from milepost.errors import UnreadableFile
from milepost_eval.provenance import commit, machine

SCHEMA = 3
"""Of ``run.json`` and the state beside it. 2 renamed the setting ``opening`` to ``bos_token``; 3
keeps the random numbers of several processes."""

MEANT = ("settings", "seeds", "data", "init")
"""Parts of a record that identify a run."""

AROUND = ("versions", "commit", "machine")
"""Parts that may differ; the last digits of the weights may then differ too."""

_GONE = {"rank_by": "teacher", "halo_dropout": 0.0}
"""Settings that are no more, with the value that every run has now; earlier records have them."""

_UNSET = object()
_FILES = ("data", "init")
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "safetensors", "peft", "accelerate")
_WEIGHTS = {".json", ".safetensors", ".bin", ".model", ".txt"}
_WORDS = {
    "settings": "the setting {}",
    "seeds": "the seed of {}",
    "data": "the data file {}",
    "init": "{} of the weights to start from",
    "versions": "the version of {}",
    "commit": "Milepost's commit",
    "machine": "the machine's {}",
}


def describe(
    *,
    config: str,
    settings: Mapping[str, Any],
    seeds: Mapping[str, int],
    data: Iterable[Path],
    init: Path,
    device: str,
) -> dict[str, Any]:
    """The record of a run that begins now; can be written as JSON.

    ``settings`` are what came of the configuration's text ``config``, ``init`` is the folder of the
    weights that the run starts from. In the record, ``data`` and ``init`` are file → ``sha256`` and
    ``bytes``, ``started`` is ISO 8601 in UTC, and ``hours`` 0 at first.
    """
    return {
        "schema": SCHEMA,
        "config": config,
        "settings": json.loads(json.dumps(settings, default=str)),
        "seeds": dict(seeds),
        "data": dict(_file(file, str(file)) for file in _files(data)),
        "init": dict(
            _file(file, str(file.relative_to(init)))
            for file in _files([init])
            if file.suffix in _WEIGHTS
        ),
        "versions": versions(_PACKAGES),
        "commit": commit(),
        "machine": {"cpu": machine(), "memory_gib": _memory(), "device": _named(device)},
        "started": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "hours": 0.0,
    }


def recurs(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether a run that begins with the weights of another may draw its batches again."""
    same = any(each in before["data"].values() for each in now["data"].values())
    return same and before.get("seeds") == now["seeds"]


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], parts: Sequence[str] = MEANT
) -> list[str]:
    """What of the parts (``MEANT`` or ``AROUND``) differs between two records, a phrase each.

    >>> old, new = ({"settings": {"stage": [{"rate": rate}]}} for rate in (0.1, 0.2))
    >>> differences(old, new, ["settings"])
    ['the setting stage.1.rate was 0.1 and is 0.2']
    """
    return [
        f"{_WORDS[part].format(name)} {words}"
        for part in parts
        for name, words in _changes(old.get(part), new.get(part), of_files=part in _FILES)
    ]


def _changes(old: Any, new: Any, *, of_files: bool) -> Iterator[tuple[str, str]]:
    before, after = (dict(each or {}) if of_files else leaves(each) for each in (old, new))
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name, _UNSET), after.get(name, _UNSET)
        gone = now is _UNSET and _GONE.get(name.rpartition(".")[2], _UNSET) == was
        if of_files and was != now:
            yield name, "is new" if was is _UNSET else "is gone" if now is _UNSET else "has changed"
        elif was != now and not gone:
            yield name, f"was {_shown(was)} and is {_shown(now)}"


def leaves(value: Any, between: str = ".") -> dict[str, Any]:
    """Values by their joined names; what lists of objects hold is counted from 1."""
    if isinstance(value, Mapping) and value:
        inside: Iterable[tuple[str, Any]] = value.items()
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        inside = ((str(number), each) for number, each in enumerate(value, 1))
    else:
        return {"": value}
    return {
        f"{name}{between}{rest}" if rest else name: leaf
        for name, each in inside
        for rest, leaf in leaves(each, between).items()
    }


def _shown(value: Any) -> str:
    words = "not set" if value is _UNSET else repr(value)
    return words if len(words) <= 60 else words[:59] + "…"


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are named; of folders all that are not hidden, by name."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for file in sorted(path.rglob("*")):
            parts = file.relative_to(path).parts
            if file.is_file() and not any(part.startswith(".") for part in parts):
                yield file


def _file(path: Path, name: str) -> tuple[str, dict[str, Any]]:
    try:
        return name, {"sha256": sha256(path), "bytes": path.stat().st_size}
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror or error}", "look at the configuration"
        ) from error


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of Milepost, Python and those of some packages that are installed."""
    found = {"milepost": __version__, "python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _memory() -> float | None:
    """GiB of the machine; None if the system does not report it."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, OSError, ValueError):
        return None


def _named(device: str) -> str:
    if not device.startswith("cuda"):
        return device
    import torch

    return f"{device}, {torch.cuda.get_device_name(device)}"


SUMS = "SHA256SUMS"


def add_sums(folder: Path, names: Sequence[str]) -> None:
    """Add the sums of files to ``SHA256SUMS``, or renew them; of files that are gone none stays.

    The manifest is left out, because it may be edited (fusion weights).
    """
    path = folder / SUMS
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    lines = [line for line in lines if line.partition("  ")[2] not in names]
    there = [folder / name for name in names if (folder / name).is_file()]
    lines += [f"{sha256(each)}  {each.name}" for each in there]
    path.unlink(missing_ok=True)  # it may be a link to another folder's own
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
