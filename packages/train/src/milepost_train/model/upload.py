"""Upload a model folder to the Hugging Face hub."""

from __future__ import annotations

import shlex
from pathlib import Path

from milepost.encoder.engine.hub import NAME
from milepost.errors import InputError, MilepostError, first_line


def check_name(name: str) -> None:
    """Reject an invalid name of a hub model before any slow work starts."""
    if not NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a name on the Hugging Face hub", "OWNER/NAME")


def upload(folder: Path, name: str, *, private: bool = False) -> str:
    """Upload a folder to a model on the hub, which is created if it is missing; the model's URL.

    ``private`` creates the model as private, and refuses to upload to a public one; else a new
    model gets its owner's default visibility.
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
