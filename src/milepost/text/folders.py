"""Which files of a folder are to be read: in sorted order, without what no one would search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.errors import UnreadableFile

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".milepostignore")
"""Files with patterns of what to leave out, in the syntax of git; they hold for their folder."""

INDEX_FILE = "milepost.sqlite"
"""A folder that holds this is an index of Milepost, not something to index."""

JUNK = frozenset(
    """
    node_modules __pycache__ bower_components venv env site-packages __MACOSX dist-info
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Names of folders that are never searched unless they are named themselves."""

BINARY = frozenset(
    """
    7z a aac apk avi avif bin bmp bz2 class dat db deb dll dmg dylib ear eot exe flac gif gz heic
    ico iso jar jpeg jpg lock lz4 m4a m4v mid mkv mov mp3 mp4 mpeg mpg msi npy npz o obj odb ogg
    onnx opus otf parquet pickle pkl png psd pt pth pyc pyd pyo rar rpm safetensors so sqlite
    sqlite3 sqlite-shm sqlite-wal svgz swf tar tgz tif tiff ttf wasm wav webm webp whl wim wma
    wmv woff woff2 xz zip zst
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Suffixes that are left out of folders without a word; named files are tried all the same."""


def files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the files that ``paths`` stand for: a file as it is, a folder by walking it.

    A folder is walked in sorted order; hidden names, what the ignore files in it and below it
    name, indexes of Milepost and binary suffixes are left out. No file is yielded twice.

    Raises:
        UnreadableFile: a path does not exist, or a folder named in it may not be listed.
    """
    seen: set[str] = set()
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found = _walk(path)
        elif path.exists():
            found = iter((path,))
        else:
            raise UnreadableFile(f"{path} does not exist", "check the path")
        for file in found:
            identity = os.path.abspath(file)  # noqa: PTH100 - resolve would follow links
            if identity not in seen:
                seen.add(identity)
                yield file


def _walk(root: Path) -> Iterator[Path]:
    """Files under ``root``; a link to a folder is followed once, so loops end."""
    visited: set[tuple[int, int]] = set()
    waiting: list[tuple[Path, tuple[tuple[Path, GitIgnoreSpec], ...]]] = [(root, ())]
    while waiting:
        entry, specs = waiting.pop()
        if not entry.is_dir():
            yield entry
            continue
        try:
            status = entry.stat()
            names = sorted(os.listdir(entry), reverse=True)  # noqa: PTH208 - names are all we need
        except OSError as error:
            if entry == root:
                raise UnreadableFile(
                    f"{entry} cannot be listed: {error.strerror}", f"chmod u+rx {entry}"
                ) from error
            continue
        if INDEX_FILE in names or (status.st_dev, status.st_ino) in visited:
            continue
        visited.add((status.st_dev, status.st_ino))
        specs = (*specs, *_specs(entry, names))
        # Reversed, so that the stack gives them in sorted order.
        waiting.extend((entry / name, specs) for name in names if _wanted(entry / name, specs))


def _specs(folder: Path, names: list[str]) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    for name in IGNORE_FILES:
        if name in names:
            from pathspec import GitIgnoreSpec

            try:
                lines = (folder / name).read_text("utf-8", "replace").splitlines()
            except OSError:
                continue
            yield folder, GitIgnoreSpec.from_lines(lines)


def _wanted(path: Path, specs: tuple[tuple[Path, GitIgnoreSpec], ...]) -> bool:
    name = path.name
    if name.startswith("."):
        return False
    folder = path.is_dir()
    if folder and (name in JUNK or (path / "pyvenv.cfg").exists()):
        return False
    if not folder and (path.suffix[1:].lower() in BINARY or not path.is_file()):
        return False
    wanted = True
    for base, spec in specs:  # an inner file has the last word, as with git
        inside = path.relative_to(base).as_posix() + ("/" if folder else "")
        verdict = spec.check_file(inside).include
        if verdict is not None:
            wanted = not verdict
    return wanted
