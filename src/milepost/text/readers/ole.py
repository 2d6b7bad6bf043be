"""Detect the format inside an old Office container (OLE) by the names of its parts."""

from __future__ import annotations

import io

from milepost.errors import UnreadableFile

MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def format_of(data: bytes, name: str) -> str:
    """Detect the format; Office uses this container for encrypted documents of all kinds.

    Raises:
        UnreadableFile: the container is damaged or encrypted, or its format is not supported.
    """
    import olefile

    try:
        parts = {path[0] for path in olefile.OleFileIO(io.BytesIO(data)).listdir(storages=True)}
    except Exception as error:  # damaged containers raise OSError, struct.error, IndexError …
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise _locked(name) from error
        raise UnreadableFile(
            f"{name} is damaged: its old Office container cannot be opened", "save it again"
        ) from error
    if "EncryptedPackage" in parts:
        raise _locked(name)
    if "__properties_version1.0" in parts:
        return "msg"
    if parts & {"Workbook", "Book"}:
        return "sheets"
    raise UnreadableFile(
        f"{name} is in an old Office format (doc, ppt)", "save it as docx, pptx or PDF"
    )


def _locked(name: str) -> UnreadableFile:
    return UnreadableFile(f"{name} is protected by a password", "save it without one")
