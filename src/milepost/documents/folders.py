"""List the files to read in a folder, in sorted order; hidden and binary files are skipped."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.documents import zotero
from milepost.documents.sidecar import described, orphaned
from milepost.errors import UnreadableFile, missing_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".milepostignore")
"""Files with patterns of names to skip, in git's syntax; they apply to the folder they are in."""

INDEX_FILE = "milepost.sqlite"  # a folder with this file is a Milepost index and is skipped

JUNK = frozenset(
    """
    node_modules __pycache__ bower_components venv env site-packages __MACOSX dist-info
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Names of folders that are skipped unless the user passes them."""

BINARY = frozenset(
    """
    7z a aac apk avi avif bin bmp bz2 class dat db deb dll dmg dylib ear eot exe flac gif gz heic
    ico iso jar jpeg jpg lock lz4 m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi npy npz o obj odb ogg
    onnx opus otf parquet pickle pkl png psd pt pth pyc pyd pyo rar rpm safetensors so sqlite
    sqlite3 sqlite-shm sqlite-wal svgz swf tar tgz tif tiff ttf wasm wav webm webp whl wim wma
    wmv woff woff2 xz zip zst
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Suffixes that are skipped in folders; a file that the user passes is always tried."""


PICTURES = frozenset("png jpg jpeg tif tiff gif".split())  # noqa: SIM905 - as above
"""The suffixes in ``BINARY`` that text recognition can read."""


Specs = tuple[tuple[Path, "GitIgnoreSpec"], ...]
"""The ignore files above a path, from the outermost, with their patterns."""

OnSkip = Callable[[Path, str], None]
"""Called with each file or folder that is skipped in a folder, and the reason."""

_PICTURE_HINT = "--ocr auto reads it"


def skipped(*, pictures: bool) -> frozenset[str]:
    """Return the suffixes that are skipped in folders, without images if ``pictures`` is set."""
    return BINARY - PICTURES if pictures else BINARY


def files(
    paths: Iterable[str | os.PathLike[str]],
    failed: dict[str, str] | None = None,
    picture: Callable[[Path], bool] = lambda _: False,
    on_skip: OnSkip = lambda path, why: None,
) -> Iterator[Path]:
    """Yield the files in ``paths``: each file itself, and the files of each folder.

    Folders are walked in sorted order. Hidden names, names that match an ignore file, Milepost
    indexes, sidecars and binary suffixes are skipped, and image files that are no wanted
    ``picture``. For a Zotero data folder, the files of its library are yielded, wherever they are.
    For a sidecar among ``paths``, its file is yielded. No file is yielded twice.

    ``failed`` receives the subfolders that cannot be listed, with the reason; ``on_skip`` each path
    that is skipped, but not the contents of a skipped folder.

    Raises:
        UnreadableFile: a path does not exist, cannot be reached or listed, or is an index.
    """
    seen: set[str] = set()
    for given in paths:
        path = Path(given)
        below = (
            _walk(path, {} if failed is None else failed, picture, on_skip)
            if _is_folder(path)
            else iter((described(path) or path,))
        )
        for file in below:
            identity = os.path.abspath(file)  # noqa: PTH100 - resolve would follow links
            if identity not in seen:
                seen.add(identity)
                yield file


def _is_folder(path: Path) -> bool:
    """Whether a path is a folder; it must exist, and all above it be open to us."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise missing_file(path) from error
    except OSError as error:
        raise UnreadableFile(
            f"{path} cannot be reached: {error.strerror}", "check the folders above it"
        ) from error


def _listed(folder: Path) -> list[str]:
    names = sorted(os.listdir(folder), reverse=True)  # noqa: PTH208 - names are all we need
    if not os.access(folder, os.X_OK):  # the names can be listed, but the files cannot be opened
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return names


def _walk(
    root: Path, failed: dict[str, str], picture: Callable[[Path], bool], on_skip: OnSkip
) -> Iterator[Path]:
    """Yield the files under ``root``; each folder is visited once, so cycles of links end."""
    visited: set[tuple[int, int]] = set()
    waiting: list[tuple[Path, Specs]] = [(root, ())]
    while waiting:
        entry, specs = waiting.pop()
        if not entry.is_dir():
            yield entry
            continue
        try:
            status = entry.stat()
            names = _listed(entry)
        except OSError as error:
            unread = UnreadableFile(
                f"{entry} cannot be listed: {error.strerror}", f"chmod u+rx {entry}"
            )
            if entry == root:
                raise unread from error
            failed[str(entry)] = str(unread)
            continue
        if zotero.DATABASE in names and zotero.STORAGE in names:
            try:
                yield from _attached(entry, tuple(_specs(entry, names)), on_skip)
            except UnreadableFile as error:
                if entry == root:
                    raise
                failed[str(entry)] = str(error)
            continue
        if INDEX_FILE in names:
            if entry == root:
                refuse_index(entry)
            on_skip(entry, "an index of Milepost")
            continue
        if (status.st_dev, status.st_ino) in visited:
            on_skip(entry, "a link to a folder that is read")
            continue
        visited.add((status.st_dev, status.st_ino))
        specs = (*specs, *_specs(entry, names))
        for name in names:  # reversed, so that the stack returns them in sorted order
            why = _why_skipped(entry / name, specs, picture)
            if why is None:
                waiting.append((entry / name, specs))
            else:
                on_skip(entry / name, why)


def refuse_index(folder: Path) -> None:
    """Raise an ``UnreadableFile`` if a folder is an index."""
    if (folder / INDEX_FILE).exists():
        raise UnreadableFile(f"{folder} is an index, not documents", f"--db {folder}")


def _attached(folder: Path, specs: Specs, on_skip: OnSkip) -> Iterator[Path]:
    """Yield the files of a Zotero library; the rest of its data folder is internal to Zotero."""
    for each in zotero.attachments(folder):
        path = each.path
        if path is None:
            on_skip(Path(each.written), "Zotero's database does not say where it is")
        elif not os.path.isfile(path):  # noqa: PTH113 - as in _why_skipped
            on_skip(path, "in Zotero's library, but not on this disk")
        elif path.is_relative_to(folder) and (ignored := _ignored(path, specs, folder=False)):
            on_skip(path, ignored)
        else:
            yield path


def _specs(folder: Path, names: list[str]) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    for name in IGNORE_FILES:
        if name in names:
            try:
                data = (folder / name).read_bytes()
            except OSError:
                continue
            yield folder / name, ignore_spec(data)


def ignore_spec(data: bytes) -> GitIgnoreSpec:
    """Parse the bytes of an ignore file; invalid lines are skipped."""
    from pathspec import GitIgnoreSpec

    valid = []
    for line in data.decode("utf-8", "replace").splitlines():
        with suppress(ValueError):  # git skips invalid lines, too
            GitIgnoreSpec.from_lines([line])
            valid.append(line)
    return GitIgnoreSpec.from_lines(valid)


def _why_skipped(path: Path, specs: Specs, picture: Callable[[Path], bool]) -> str | None:
    name = path.name
    if name.startswith("."):
        return "hidden"
    if name.startswith("~$"):  # "~$plan.docx" means that Word has plan.docx open
        return "a lock of another program"
    # In a folder that cannot be entered, os.path returns False and Path would raise.
    folder = os.path.isdir(path)  # noqa: PTH112
    if folder and (name in JUNK or os.path.exists(path / "pyvenv.cfg")):  # noqa: PTH110
        return "a folder of installed or cached files"
    suffix = path.suffix[1:].lower()
    if suffix in BINARY and not folder and not (suffix in PICTURES and picture(path)):
        return f"a picture ({_PICTURE_HINT})" if suffix in PICTURES else f"no text: .{suffix}"
    if not folder and not os.path.isfile(path):  # noqa: PTH113
        return "neither a file nor a folder"
    if not folder and (of := described(path)) is not None:
        return f"the sidecar of {of.name}"
    if not folder and orphaned(name):
        return "a sidecar whose file is not there"
    return _ignored(path, specs, folder=folder)


def _ignored(path: Path, specs: Specs, *, folder: bool) -> str | None:
    """Name the ignore file that excludes a path, in words; None if none does."""
    ignored = None
    for file, spec in specs:  # the innermost ignore file decides, as in git
        inside = path.relative_to(file.parent).as_posix() + ("/" if folder else "")
        verdict = spec.check_file(inside).include
        if verdict is not None:
            ignored = f"ignored by {file}" if verdict else None
    return ignored
