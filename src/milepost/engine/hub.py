"""Resolve a name to a local folder or a model on the Hugging Face hub; upload a model there."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from milepost.errors import InputError, MilepostError, ModelError, first_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

OTHER_FRAMEWORKS = ("onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack")
"""Patterns of files on the hub that torch does not read."""


def local(
    source: str | os.PathLike[str],
    hint: str,
    *,
    needed: str | None = None,
    only: Sequence[str] | None = None,
    leave: Sequence[str] | None = None,
) -> Path | None:
    """Return a local folder, or the cached folder of a hub model; None if it is neither.

    A model that is cached causes no network request, unless the cache lacks ``needed``.

    Args:
        source: a folder, or ``owner/name``.
        hint: hint of the error that is raised if fetching fails.
        needed: pattern of a file that every such model has; the cache may hold other files only,
            which another program fetched. None to use whatever is cached.
        only: patterns of the files to fetch; None for all.
        leave: patterns of the files not to fetch.

    Raises:
        ModelError: the hub does not provide the model, or cannot be reached.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    name = os.fspath(source)
    if not _NAME.fullmatch(name):
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


def check_name(name: str) -> None:
    """Reject an invalid name of a hub model before any slow work starts.

    Raises:
        InputError: the name is not ``owner/name``.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a name on the Hugging Face hub", "OWNER/NAME")


def upload(folder: Path, name: str, *, private: bool = False) -> str:
    """Upload a folder to a model on the hub, which is created if it is missing.

    Args:
        folder: all its files are uploaded.
        name: ``owner/name``.
        private: create the model as private, and refuse to upload to a public one. If False, a new
            model gets its owner's default visibility.

    Returns:
        The URL of the model.

    Raises:
        InputError: ``private`` is set, and the model exists and is public.
        MilepostError: the hub cannot be reached or rejects the upload.
    """
    from huggingface_hub import HfApi

    again = ["hf", "upload", name, str(folder), *(["--private"] if private else [])]
    hub, public = HfApi(), False
    try:
        made = hub.create_repo(name, private=private or None, exist_ok=True)
        public = private and not hub.repo_info(name).private  # the model existed before
        if not public:
            said = "Upload by milepost export"
            hub.upload_folder(repo_id=name, folder_path=folder, commit_message=said)
    except Exception as error:  # the hub's client passes on the errors of its HTTP library
        first = first_line(error)
        raise MilepostError(
            f"uploading to {name} on the Hugging Face hub failed: {first}",
            f"hf auth login, and: {shlex.join(again)}; the folder is complete",
        ) from error
    if public:
        raise InputError(
            f"{name} exists on the hub and is public; nothing was uploaded",
            f"another name, or make it private there, and: {shlex.join(again)}",
        )
    return str(made)
