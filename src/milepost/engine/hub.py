"""A folder of the user's, or a model of the Hugging Face hub: fetched where needed, or uploaded."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from milepost.errors import InputError, MilepostError, ModelError, first_line

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

OTHER_FRAMEWORKS = ("onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack")
"""Files of a model on the hub that torch does not read."""


def local(
    source: str | os.PathLike[str],
    hint: str,
    *,
    only: Sequence[str] | None = None,
    leave: Sequence[str] | None = None,
) -> Path | None:
    """The folder itself, or that of the hub's model of this name; None where it is neither.

    Nothing is asked of the network for a model that is cached.

    Args:
        source: a folder, or ``owner/name``.
        hint: what to do where the hub does not give it.
        only: patterns of the files that are needed; None for all.
        leave: patterns of files that are not.

    Raises:
        ModelError: the hub does not give it, or cannot be reached.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return folder
    name = os.fspath(source)
    if not _NAME.fullmatch(name):
        return None
    # A dependency of tokenizers, so it is there; it takes its time to import, so only now.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    def snapshot(*, cached: bool) -> Path:
        return Path(
            snapshot_download(
                name, allow_patterns=only, ignore_patterns=leave, local_files_only=cached
            )
        )

    try:
        return snapshot(cached=True)
    except LocalEntryNotFoundError:
        pass
    try:
        return snapshot(cached=False)
    except Exception as error:  # the hub's client raises its transport's errors as they are
        first = first_line(error)
        raise ModelError(
            f"no folder {name!r}, and fetching it from the Hugging Face hub failed: {first}", hint
        ) from error


def check_name(name: str) -> None:
    """Refuse what is not a name on the hub, before anything takes time.

    Raises:
        InputError: it is not ``owner/name``.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a name on the Hugging Face hub", "OWNER/NAME")


def upload(folder: Path, name: str, *, private: bool = False) -> str:
    """Put a folder's files into a model of the hub, which is made if it is missing.

    Args:
        folder: all its files are sent.
        name: ``owner/name``.
        private: refuse to send it to a model that others can see; one that is made is private,
            else as its owner has set.

    Returns:
        The address of the model.

    Raises:
        InputError: it is to be private, and the model that exists is public.
        MilepostError: the hub cannot be reached or does not take it.
    """
    from huggingface_hub import HfApi

    again = ["hf", "upload", name, str(folder), *(["--private"] if private else [])]
    hub, public = HfApi(), False
    try:
        made = hub.create_repo(name, private=private or None, exist_ok=True)
        public = private and not hub.repo_info(name).private  # it was there before
        if not public:
            said = "Upload by milepost export"
            hub.upload_folder(repo_id=name, folder_path=folder, commit_message=said)
    except Exception as error:  # the hub's client raises its transport's errors as they are
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
