"""Resolve a name to a local folder or a model on the Hugging Face hub."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from milepost._paths import expanded
from milepost.errors import ModelError, first_line

NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def local(
    source: str | os.PathLike[str],
    hint: str,
    *,
    needed: str | None = None,
    only: Sequence[str] | None = None,
    leave: Sequence[str] | None = None,
) -> Path | None:
    """Return a local folder, or the cached folder of a hub model; None if it is neither.

    A model that is cached causes no network request, unless the cache lacks ``needed``, the pattern
    of a file that every such model has: another program may have fetched other files only. ``only``
    and ``leave`` are patterns of the files to fetch, and not to. ``hint`` is that of the error if
    fetching fails.
    """
    folder = expanded(source)
    if folder.is_dir():
        return folder
    name = os.fspath(source)
    if not NAME.fullmatch(name):
        return None
    # Always installed, as tokenizers depends on it; imported here because the import is slow.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def snapshot(*, cached: bool) -> Path:
        return Path(
            snapshot_download(
                name, allow_patterns=only, ignore_patterns=leave, local_files_only=cached
            )
        )

    try:
        found = snapshot(cached=True)
        if needed is None or any(found.glob(needed)):
            return found
    except LocalEntryNotFoundError:
        pass
    try:
        return snapshot(cached=False)
    except Exception as error:  # the hub's client passes on the errors of its HTTP library
        first = first_line(error)
        raise ModelError(
            f"no folder {name!r}, and fetching it from the Hugging Face hub failed: {first}", hint
        ) from error
