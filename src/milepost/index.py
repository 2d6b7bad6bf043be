"""The facade: documents in, passages out.

``open`` gives an ``Index``; ``add`` reads, encodes and stores; ``search`` answers.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from milepost.encoder import Encoder, load
from milepost.errors import MilepostError, StoreError
from milepost.search import Answer, question_terms, search, terms
from milepost.store import DocumentInfo, Entry, Store, open_store
from milepost.text import files, locator, read
from milepost.types import Box, Document, Passage, Report

if TYPE_CHECKING:
    from milepost.engine import ModelFolder

Source = str | os.PathLike[str] | Document


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of ``Index.add``, for a progress bar.

    Attributes:
        name: the document at hand.
        number: its number, from 1.
        documents: documents in all, where known.
        sentences: sentences of this document.
        done: of these, encoded so far.
    """

    name: str
    number: int
    documents: int
    sentences: int
    done: int


@dataclass(slots=True)
class _Tally:
    """The report while it grows."""

    added: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sentences: int = 0
    tokens: int = 0


class Index:
    """Documents that can be searched; made by ``milepost.open``.

    Use it as a context manager, or call ``close``. One index may be read from several threads;
    several processes may read it while one writes.
    """

    def __init__(self, store: Store, model: Encoder | ModelFolder) -> None:
        self._store = store
        self._given = model

    @cached_property
    def model(self) -> Encoder:
        """The encoder; loaded when the first text or question needs it."""
        return self._given if isinstance(self._given, Encoder) else load(self._given.path)

    def add(
        self,
        sources: Source | Iterable[Source],
        *,
        prune: bool = True,
        progress: Callable[[Step], None] | None = None,
    ) -> Report:
        """Read, encode and store documents; what has not changed is passed over.

        One document is one transaction: an interruption leaves everything before it indexed, and
        the next ``add`` goes on from there. A file that cannot be read is named in the report
        and the others are indexed.

        Args:
            sources: files, folders, or ``Document`` records made by the caller.
            prune: remove documents whose files, once found in one of the folders given, are gone.
            progress: called as sentences are encoded.

        Raises:
            StoreError: the index cannot be written (full disk, no permission, second writer);
                what was stored before stays.
        """
        begun = time.monotonic()
        given = [sources] if isinstance(sources, str | os.PathLike | Document) else list(sources)
        tally = _Tally()
        paths = [Path(source).expanduser() for source in given if not isinstance(source, Document)]
        work: list[Path | Document] = [source for source in given if isinstance(source, Document)]
        work.extend(self._found(paths, tally))
        present: set[str] = set()
        for number, item in enumerate(work, 1):
            name = item.name if isinstance(item, Document) else str(item.absolute())
            present.add(name)

            def told(
                done: int, sentences: int, name: str = name, number: int = number
            ) -> None:
                if progress is not None:
                    progress(Step(name, number, len(work), sentences, done))

            try:
                self._add_one(item, name, tally, told)
            except StoreError:
                raise
            except MilepostError as error:
                tally.failed[name] = str(error)
            except (OSError, MemoryError, RecursionError) as error:
                tally.failed[name] = f"{type(error).__name__}: {error}"
        removed = self._prune(paths, present) if prune else []
        return Report(
            added=tuple(tally.added),
            unchanged=tuple(tally.unchanged),
            changed=tuple(tally.changed),
            removed=tuple(removed),
            failed=tally.failed,
            notes=tally.notes,
            sentences=tally.sentences,
            tokens=tally.tokens,
            seconds=time.monotonic() - begun,
        )

    def _found(self, paths: Sequence[Path], tally: _Tally) -> Iterator[Path]:
        """Files under the paths, each once; a path that is missing is a failure of its own."""
        seen: set[Path] = set()
        for path in paths:
            try:
                for file in files([path]):
                    if file not in seen:
                        seen.add(file)
                        yield file
            except MilepostError as error:
                tally.failed[str(path.absolute())] = str(error)

    def _add_one(
        self,
        item: Path | Document,
        name: str,
        tally: _Tally,
        told: Callable[[int, int], None],
    ) -> None:
        known = self._store.info(name)
        signature = None
        if isinstance(item, Document):
            document = _hashed(item)
        else:
            status = item.stat() if item.exists() else None
            signature = (status.st_size, status.st_mtime_ns) if status else None
            if known is not None and signature is not None and known.signature == signature:
                tally.unchanged.append(name)
                return
            document = read(item)
        if known is not None and known.hash == document.hash and known.signature == signature:
            tally.unchanged.append(name)
            return
        told(0, 0)
        marks = self.model.encode(document, progress=told)
        self._store.put(
            Entry(
                document=document,
                spans=marks.spans,
                vectors=marks.vectors,
                familiar=marks.familiar,
                terms=[terms(document.text[a:b]) for a, b in marks.spans.tolist()],
                signature=signature,
            )
        )
        same = known is not None and known.hash == document.hash
        kind = tally.added if known is None else tally.unchanged if same else tally.changed
        kind.append(name)
        if document.notes:
            tally.notes[name] = document.notes
        tally.sentences += len(marks.spans)
        tally.tokens += marks.tokens_given

    def _prune(self, paths: Sequence[Path], present: set[str]) -> list[str]:
        folders = [path.absolute() for path in paths if path.is_dir()]
        gone = [
            info.name
            for info in self._store.documents()
            if info.name not in present
            and info.source is not None
            and any(Path(info.source).is_relative_to(folder) for folder in folders)
        ]
        for name in gone:
            self._store.delete(name)
        return gone

    def remove(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Remove documents by name or path; returns the names that were there."""
        wanted = [names] if isinstance(names, str) else list(names)
        return tuple(name for name in map(self._name, wanted) if self._store.delete(name))

    def documents(self) -> list[DocumentInfo]:
        """What is indexed, in the order it was added; no text is read."""
        return self._store.documents()

    def document(self, name: str) -> Document:
        """One document with its text, marks and, for a PDF, ``boxes``.

        Raises:
            StoreError: nothing of that name or path is indexed.
        """
        known = self._name(name)
        try:
            found = self._store.document(known)
        except KeyError:
            raise StoreError(
                f"{name} is not in the index", f"add it first: milepost index {name}"
            ) from None
        return replace(found, locator=locator(found))

    def boxes(self, passage: Passage) -> list[Box]:
        """Where a passage stands on the pages of its PDF; see ``Document.boxes``."""
        return self.document(passage.document).boxes(passage.start, passage.end)

    def search(
        self,
        question: str,
        k: int | None = 5,
        budget: str | int | None = None,
        documents: Iterable[str] | None = None,
    ) -> list[Passage]:
        """Passages that answer the question, best first.

        Args:
            question: in words.
            k: most passages; None for as many as the budget holds.
            budget: most text in all: ``"1600c"`` (or 1600) characters, ``"400t"`` tokens of the
                model. The last passage is cut at the budget, at a sentence where one fits.
            documents: names or paths to look in; None for all.

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
        """
        return list(self.answer(question, k, budget, documents).passages)

    def answer(
        self,
        question: str,
        k: int | None = 5,
        budget: str | int | None = None,
        documents: Iterable[str] | None = None,
    ) -> Answer:
        """``search`` with its reasons: signals, weights and parts of every score."""
        names = None if documents is None else [self._name(name) for name in documents]
        vector = self.model.encode_query(question)
        return search(
            self._store,
            vector,
            question_terms(question),
            familiarity=self.model.familiarity(question),
            fusion=self.model.manifest.fusion,
            k=k,
            budget=budget,
            tokens=self.model.count_tokens,
            names=names,
        )

    def _name(self, name: str) -> str:
        """A document's name; a path of an indexed file may be given as the caller writes it."""
        if self._store.info(name) is None:
            absolute = str(Path(name).expanduser().absolute())
            if self._store.info(absolute) is not None:
                return absolute
        return name

    def close(self) -> None:
        """Release the files of the index."""
        self._store.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _hashed(document: Document) -> Document:
    if document.hash:
        return document
    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(document, hash=digest)


def open(  # noqa: A001 - the public name: milepost.open
    folder: str | os.PathLike[str] | None = None,
    *,
    model: Encoder | str | os.PathLike[str] | None = None,
    create: bool = True,
    read_only: bool = False,
) -> Index:
    """Open an index in a folder, or an empty one in memory.

    Args:
        folder: the index; None for one in memory.
        model: an encoder, a shipped model's name or a model folder; None for the default.
        create: make the index where there is none.
        read_only: never write.

    Raises:
        NotAnIndex: the folder holds something else.
        WrongModel: the index was made by another model.
        NewerSchema: the index was made by a newer Milepost.
    """
    from milepost.engine import find_model

    chosen = model if isinstance(model, Encoder) else find_model(model)
    manifest = chosen.manifest
    store = open_store(
        None if folder is None else Path(folder).expanduser(),
        fingerprint=manifest.fingerprint,
        dimensions=manifest.dimensions,
        create=create,
        read_only=read_only,
    )
    return Index(store, chosen)
