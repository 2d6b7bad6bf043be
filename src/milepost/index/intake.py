"""The parts of ``Index.add``: find files, store what has changed, collect the report."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from milepost.documents import files, zotero
from milepost.documents.folders import OnSkip
from milepost.documents.prefixes import objects
from milepost.documents.sidecar import sidecar
from milepost.encoder import Encoder
from milepost.errors import MilepostError, StoreError, UnreadableFile, in_words
from milepost.index.entries import entry, hashed, held_entry, holds
from milepost.index.places import File, Place, is_below
from milepost.index.reading_ahead import Signature, ToRead
from milepost.objects import ObjectAddress, ObjectFile, is_address
from milepost.store import DocumentInfo, Store
from milepost.store.base import Entry
from milepost.types import READ_DEFAULTS, Document, Hidden, IndexReport, Ocr, ReadOptions


class Known(Protocol):
    """Knows which indexes hold the content of which files; see ``KnownFiles``."""

    def find(
        self, store: Store, path: Path, options: ReadOptions
    ) -> Callable[[], Entry | None] | None:
        """Find what an index holds of a file's content, read like this, for a store, or None."""

    def remember(self, store: Store, path: Path, entry: Entry) -> None:
        """Take note of what a store was given of a file."""


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of ``Index.add``, for a progress bar.

    Attributes:
        name: the current document.
        number: its number, from 1.
        documents: number of documents, if known.
        sentences: number of sentences of this document.
        done: sentences encoded so far.
        pages: number of pages for text recognition, which comes before there are sentences.
        pages_done: pages recognised so far.
    """

    name: str
    number: int
    documents: int
    sentences: int
    done: int
    pages: int = 0
    pages_done: int = 0


@dataclass(frozen=True, slots=True)
class Steps:
    """Reports the steps of one document."""

    report: Callable[[Step], None] | None
    name: str
    number: int
    documents: int

    def sentence(self, done: int, total: int) -> None:
        """Report encoded sentences."""
        self._give(Step(self.name, self.number, self.documents, total, done))

    def page(self, done: int, total: int) -> None:
        """Report that text recognition of another page begins."""
        self._give(Step(self.name, self.number, self.documents, 0, 0, total, done))

    def _give(self, step: Step) -> None:
        if self.report is not None:
            self.report(step)


@dataclass(slots=True)
class Tally:
    """Collects the report of ``Index.add``."""

    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sentences: int = 0
    tokens: int = 0

    def report(self, removed: Iterable[str], seconds: float) -> IndexReport:
        """Build the report."""
        return IndexReport(
            added=tuple(self.added),
            unchanged=tuple(self.unchanged),
            changed=tuple(self.changed),
            removed=tuple(removed),
            failed=self.failed,
            notes=self.notes,
            sentences=self.sentences,
            tokens=self.tokens,
            seconds=seconds,
        )


def find_files(
    paths: Sequence[Path],
    failed: dict[str, str],
    picture: Callable[[Path], bool] = lambda _: False,
    on_skip: OnSkip = lambda path, why: None,
) -> tuple[list[Path], list[Path]]:
    """List the files under paths, each once, and those of the paths that are readable.

    ``failed`` receives missing paths and unreadable folders, with the reason. ``picture`` says
    whether an image file in a folder is wanted, ``on_skip`` is told what is skipped in one.
    """
    inside: dict[Path, None] = {}
    readable: list[Path] = []
    for path in paths:
        try:
            inside |= dict.fromkeys(files([path], failed, picture, on_skip))
        except MilepostError as error:
            failed[str(path)] = str(error)
        else:
            readable.append(path)  # a file, too, which may have taken the place of a folder
    return list(inside), readable


def find_places(
    places: Sequence[Place],
    failed: dict[str, str],
    picture: Callable[[File], bool],
    stored: Collection[str],
) -> tuple[list[File], list[Place]]:
    """Do the same as ``find_files`` for objects and prefixes as well.

    An empty prefix is an error unless some of the documents ``stored``, by name, lie in it.
    """
    inside: dict[str, File] = {}
    readable: list[Place] = []
    for each in places:
        if isinstance(each, Path):
            files_below, listed = find_files([each], failed, picture)
            inside |= {str(file): file for file in files_below}
            readable += listed
            continue
        try:
            below = objects(each, picture)
            if not below and not any(map(each.holds, stored)):
                raise UnreadableFile(f"there is nothing to read at {each}", "check the address")
        except MilepostError as error:
            failed[str(each)] = str(error)
        else:
            inside |= {str(file): file for file in below}
            if [str(file) for file in below] != [str(each)]:
                readable.append(each)
    return list(inside.values()), readable


def vanished(
    stored: Iterable[DocumentInfo],
    readable: Sequence[Place],
    present: Container[str],
    failed: Iterable[str],
) -> list[str]:
    """Name the stored documents whose files are in the given places no longer, nor ``present``.

    Files in places that have ``failed`` may still exist, so they are not named.
    """
    unknown = [ObjectAddress.parse(each) if is_address(each) else Path(each) for each in failed]
    return [
        info.name
        for info in stored
        if info.name not in present
        and info.source is not None
        and any(is_below(info.source, folder) for folder in readable)
        and not any(is_below(info.source, folder) for folder in unknown)
    ]


def file_signature(path: File) -> Signature:
    """Return size and modification time; None if there is no access (reading reports why).

    Those of the sidecar and a checksum of Zotero's record are added, so that the signature changes
    with them. For objects, a hash of the ETag replaces the time.
    """
    if isinstance(path, ObjectFile):
        return path.signature
    try:
        status = [each.stat() for each in (path, sidecar(path)) if each is not None]
    except OSError:
        return None
    size, mtime = sum(each.st_size for each in status), sum(each.st_mtime_ns for each in status)
    if known := zotero.described(str(path)):
        mtime += zlib.crc32(known.as_json().encode())
    return size, mtime % (1 << 63)  # stores hold 64 bits, which a time after 2262 exceeds


def wanted_pictures(stored: Container[str], ocr: Ocr | None) -> Callable[[File], bool]:
    """Return the rule by which image files in folders are read; see ``Index.add``."""
    return lambda path: str(path) in stored if ocr is None else ocr != "never"


def read_options(
    stored: DocumentInfo | None, hidden: Hidden | None, ocr: Ocr | None
) -> ReadOptions:
    """How a file is read: as it was before, changed by what the caller gives."""
    options = ReadOptions.parse(stored.options) if stored else READ_DEFAULTS
    return options.changed(hidden=hidden, ocr=ocr)


Options = Callable[[DocumentInfo | None], ReadOptions]  # read_options of a caller


def name_of(item: File | Document) -> str:
    """The name that a document has, or will have when it is read."""
    return item.name if isinstance(item, Document) else str(item)


def to_download(
    work: Iterable[File | Document], stored: Mapping[str, DocumentInfo], options: Options
) -> Iterator[ObjectFile]:
    """Yield the objects that ``add_one`` will read."""
    for item in work:
        if isinstance(item, ObjectFile):
            info = stored.get(str(item))
            if not as_stored(info, item.signature, str(options(info))):
                yield item


def to_read(
    work: Iterable[File | Document],
    stored: Mapping[str, DocumentInfo],
    options: Options,
    known: Callable[[Path, ReadOptions], object],
) -> Iterator[ToRead]:
    """Yield the files on disk that ``add_one`` will read: those that are new and not known."""
    for number, item in enumerate(work, 1):
        if isinstance(item, Path):
            info, signature = stored.get(str(item)), file_signature(item)
            chosen = options(info)
            if not as_stored(info, signature, str(chosen)) and known(item, chosen) is None:
                yield number, item, chosen, signature


def as_stored(info: DocumentInfo | None, signature: Signature, options: str) -> bool:
    """Whether a file with this signature, read like this, has not changed since it was stored."""
    if info is None or signature is None:
        return False
    return (info.signature, info.options) == (signature, options)


def add_one(
    item: File | Document,
    stored: DocumentInfo | None,
    tally: Tally,
    steps: Steps,
    *,
    store: Store,
    model: Callable[[], Encoder],
    options: Options,
    read: Callable[[File, ReadOptions, Signature, Steps], Document],
    known: Known | None = None,
) -> None:
    """Read, encode and store a document that has changed, or list it in the tally as unreadable.

    ``stored`` is the indexed document of the same name. ``model`` is called only if there is
    something to encode; a file whose content another index holds is ``known``, and not read. A
    ``StoreError``, that the index cannot be written, is raised.
    """
    name = name_of(item)
    chosen, signature, held = options(stored), None, None
    try:
        if isinstance(item, Document):
            document, written = hashed(item), ""
        else:
            signature, written = file_signature(item), str(chosen)
            if as_stored(stored, signature, written):
                tally.unchanged.append(name)
                return
            found = known.find(store, item, chosen) if known and isinstance(item, Path) else None
            held = found() if found else None
            document = held.document if held else read(item, chosen, signature, steps)
        same = stored is not None and holds(store, stored, document)
        if stored is not None and same and stored.notes == document.notes:
            # Only its time, reading options or properties may have changed.
            described = document.properties != stored.properties
            touched = replace(
                stored, signature=signature, options=written, properties=document.properties
            )
            if touched != stored:
                store.touch(touched)
            (tally.changed if described else tally.unchanged).append(name)
            return
        if same and (before := held_entry(store, name, document.hash)):
            held = replace(before, document=document)
        if held is None:
            steps.sentence(0, 0)
            landmarks = model().encode(document, progress=steps.sentence)
            parts = landmarks.spans, landmarks.vectors, landmarks.vocab_coverage
            held = entry(document, parts, signature, written)
            tally.sentences += len(landmarks.spans)
            tally.tokens += landmarks.tokens_given
        held = replace(held, signature=signature, options=written)
        store.put(held)
        if known and isinstance(item, Path):
            known.remember(store, item, held)
        (tally.added if stored is None else tally.changed).append(name)
        if document.notes:
            tally.notes[name] = document.notes
    except StoreError:
        raise
    except (MilepostError, OSError, MemoryError, RecursionError) as error:
        tally.failed[name] = in_words(error)
