"""What ``Index.add`` would do with files and folders; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from milepost.documents.encoding import decode
from milepost.documents.readers.formats import OLE, format_of, refuse_device
from milepost.errors import MilepostError, UnreadableFile
from milepost.index.intake import file_signature, find_files, vanished, wanted_pictures
from milepost.index.places import local_path
from milepost.store import DocumentInfo
from milepost.types import READ_DEFAULTS, Hidden, Ocr, ReadOptions

Action = Literal["add", "change", "unchanged", "remove", "skip", "fail"]
"""Read as a new document, read again, left as it is, removed from the index, not read, unreadable.

A file that is read again may prove to hold the same text as before.
"""

_HEAD = 65_536  # number of bytes read from the beginning of a file
_CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06", OLE)  # whose directory may be anywhere in the file
_TEXTS = {"plain", "rows", "underlined", "markdown", "delimited"}


@dataclass(frozen=True, slots=True)
class Planned:
    """What would become of a file, or of a folder that is skipped with all that is in it, and why.

    The reason is empty where the action says it all.
    """

    path: str
    action: Action
    reason: str = ""
    size_bytes: int | None = None


def plan(
    stored: Iterable[DocumentInfo],
    paths: Sequence[Path],
    *,
    hidden: Hidden | None = None,
    ocr: Ocr | None = None,
    rebuild: bool = False,
) -> list[Planned]:
    """Say what ``Index.add`` would do with each file, in the order in which it would.

    Files are looked at, but not read: a damaged one is found when it is read.
    """
    before = {info.name: info for info in stored}
    known = {} if rebuild else before
    skipped: dict[str, Planned] = {}
    failed: dict[str, str] = {}
    pictures = wanted_pictures(known, ocr)

    def skip(path: Path, why: str) -> None:
        signature = None if path.is_dir() else file_signature(path)
        skipped[str(path)] = Planned(str(path), "skip", why, signature[0] if signature else None)

    inside, folders = find_files([local_path(path) for path in paths], failed, pictures, skip)
    made = []
    for path in inside:
        info = known.get(str(path))
        options = ReadOptions.parse(info.options) if info else READ_DEFAULTS
        made.append(_file(path, info, options.changed(hidden=hidden, ocr=ocr)))
    made += [
        Planned(path, "fail", why.partition("; try: ")[0].removeprefix(f"{path} "))
        for path, why in failed.items()
    ]
    present = {str(path) for path in inside}
    if rebuild:
        gone = [name for name in before if name not in present]
    else:
        gone = vanished(known.values(), folders, present, failed)
    for name in gone:
        source = before[name].source
        there = source is not None and Path(source).exists()
        why = "not among the files that are read" if there else "the file is gone"
        made.append(Planned(name, "remove", skipped[name].reason if name in skipped else why))
    listed = present.union(gone)
    return made + [each for name, each in skipped.items() if name not in listed]


def _file(path: Path, info: DocumentInfo | None, options: ReadOptions) -> Planned:
    signature = file_signature(path)
    size = signature[0] if signature else None
    if (
        info is not None
        and signature
        and (info.signature, info.options) == (signature, str(options))
    ):
        return Planned(str(path), "unchanged", size_bytes=size)
    try:
        _refuse_unreadable(path, options)
    except MilepostError as error:
        return Planned(str(path), "fail", error.problem.removeprefix(f"{path} "), size)
    if info is None:
        return Planned(str(path), "add", "", size)
    reason = "read in another way" if info.signature == signature else "size or time has changed"
    return Planned(str(path), "change", reason, size)


def _refuse_unreadable(path: Path, options: ReadOptions) -> None:
    """Raise an error if the beginning of a file shows that it cannot be read."""
    try:
        refuse_device(path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be read: {error.strerror or error}", "check the path"
        ) from error
    if not head:
        raise UnreadableFile(f"{path} is empty (0 bytes)", "save or download it again")
    kind = None if head.startswith(_CONTAINERS) else format_of(head, str(path), options)
    if kind == "pdf":
        from milepost.documents.readers.pdf.file import refuse_damaged
        from milepost.documents.readers.pdf.glyphs import PDFIUM

        with PDFIUM:
            refuse_damaged(path)
    elif kind in _TEXTS:
        lines = head[: head.rfind(b"\n") + 1] if len(head) == _HEAD else head
        decode(lines or head, str(path))
