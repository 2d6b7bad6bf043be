"""The facade: documents in, passages out.

``open`` returns an ``Index``; ``add`` reads, encodes and stores; ``search`` answers questions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import NoReturn

from milepost import intake
from milepost.checking import PASSAGES, READ, check_store, prepared
from milepost.encoder import Encoder, load
from milepost.engine.languages import supported_languages
from milepost.engine.precision import Arithmetic, checked
from milepost.errors import IndexBusy, StorageFull, StoreError, WrongType
from milepost.filters import Filter, as_filter
from milepost.intake import Step, Steps, Tally
from milepost.naming import Name, not_found, resolve_names, stored_name
from milepost.objects import Downloads
from milepost.opening import opened_store
from milepost.places import File, source_place
from milepost.reading_ahead import ReadingAhead
from milepost.reranker import preload
from milepost.search import Limits, Query, SearchModel, SearchResult, search
from milepost.search.filter_note import filter_matches_none, no_match
from milepost.search.query import check_text
from milepost.search.ranking import Ranking
from milepost.store import DocumentInfo, DocumentSelection, Snapshot, Store
from milepost.text import locator, recognition
from milepost.types import (
    READ_DEFAULTS,
    Box,
    Document,
    Hidden,
    IndexReport,
    Ocr,
    Passage,
    ReadOptions,
)
from milepost.verdicts import CheckResult

Source = Name | Document


class Index:
    """An index of documents that can be searched; ``milepost.open`` returns one.

    Use it as a context manager, or call ``close``. Several threads may read one index, and several
    processes may read it while another one writes.

    Attributes:
        known: finds files whose content another index holds; ``add`` does not read them if it has
            no ``reader``. None to read every file.
    """

    def __init__(self, store: Store, model: Encoder | Callable[[], Encoder]) -> None:
        self._store = store
        self._given = model
        self.known: intake.Known | None = None

    @cached_property
    def model(self) -> Encoder:
        """The encoder, loaded when a text or question first needs it."""
        return self._given if isinstance(self._given, Encoder) else self._given()

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking.read(self.model.manifest.fusion, self.model.folder)

    def add(
        self,
        sources: Source | Iterable[Source],
        *,
        prune: bool = True,
        progress: Callable[[Step], None] | None = None,
        hidden: Hidden | None = None,
        ocr: Ocr | None = None,
        reader: Callable[[Path, ReadOptions], Document] | None = None,
    ) -> IndexReport:
        """Read, encode and store documents; skip those that have not changed.

        A file counts as unchanged, and is not opened, if its size, its modification time and the
        reading options are the same as before. A file is read but not encoded again if only its
        modification time or its properties (in the file or its sidecar) have changed.

        Each document is one transaction: after an interruption all earlier documents are indexed,
        and the next ``add`` continues from there. Files that cannot be read are named in the
        report; the others are indexed.

        Args:
            sources: files, folders, addresses in object storage (``s3://BUCKET/PREFIX``,
                ``gs://``, ``az://``), or ``Document`` records made by the caller. An object has
                changed if its ETag has.
            prune: remove documents whose files are no longer found in the given folders because
                they were deleted, moved or ignored.
            progress: called as sentences are encoded.
            hidden: as in ``milepost.read``; None keeps the setting a document was read with
                before, and drops the hidden text of new documents.
            ocr: as in ``milepost.read``; None keeps the setting a document was read with before,
                and runs no text recognition on new ones. Image files in folders are read unless
                this is ``"never"``, or None and they are new.
            reader: reads a file, for example in another process as the server does. Not used for
                objects.

        Raises:
            InputError: ``hidden`` or ``ocr`` is unknown, or an address cannot be read.
            MissingExtra: text recognition is requested without the extra ``ocr``, or a source is
                an address and the extra ``objects`` is missing.
            StoreError: the index cannot be written (full disk, no permission, second writer);
                everything stored before is kept.
        """
        begun = time.monotonic()
        # Refuse unknown options and missing extras before anything is read.
        if READ_DEFAULTS.changed(hidden=hidden, ocr=ocr).ocr != "never":
            recognition.check_installed()
        given = [sources] if isinstance(sources, str | os.PathLike | Document) else list(sources)
        tally = Tally()
        work: list[File | Document] = [source for source in given if isinstance(source, Document)]
        places = [source_place(source) for source in given if not isinstance(source, Document)]
        stored = {info.name: info for info in self.documents()}
        pictures = intake.wanted_pictures(stored, ocr)
        inside, folders = intake.find_places(places, tally.failed, pictures, stored)
        work.extend(inside)
        present = {item.name if isinstance(item, Document) else str(item) for item in work}
        done: set[str] = set()
        known = self.known if reader is None else None
        with (
            Downloads(intake.to_download(work, stored, hidden, ocr)) as downloads,
            ReadingAhead(intake.to_read(work, stored, hidden, ocr, known)) as ahead,
        ):
            for number, item in enumerate(work, 1):
                name = item.name if isinstance(item, Document) else str(item)
                steps = Steps(progress, name, number, len(work))
                if name in done:  # a duplicate source: compare it with what was just stored
                    stored = {info.name: info for info in self.documents()}
                done.add(name)
                intake.add_one(
                    item,
                    stored.get(name),
                    tally,
                    steps,
                    store=self._store,
                    model=lambda: self.model,
                    hidden=hidden,
                    ocr=ocr,
                    reader=reader,
                    downloads=downloads,
                    ahead=ahead,
                    known=known,
                )
        removed = intake.vanished(self.documents(), folders, present, tally.failed) if prune else []
        for name in removed:
            self._store.delete(name)
        if tally.changed or removed:
            self._vacuum()
        if tally.added or tally.changed:
            with suppress(IndexBusy, StorageFull):  # best effort, as the vacuum
                self._store.optimize()
        return tally.report(removed, time.monotonic() - begun)

    def _vacuum(self) -> None:
        """Reclaim the space of removed sentences once they outnumber the rest."""
        with self._store.snapshot() as state:
            statistics = state.statistics()
        if statistics.dead > statistics.sentences:
            # Best effort: the documents are stored, and the next add tries again.
            with suppress(IndexBusy, StorageFull):
                self._store.vacuum()

    def remove(self, names: Name | Iterable[Name]) -> tuple[str, ...]:
        """Remove documents by name or path; returns the names that were there."""
        given = [names] if isinstance(names, str | os.PathLike) else list(names)
        with self._store.snapshot() as state:
            found = [stored_name(name, state) for name in given]
        gone = tuple(name for name in found if self._store.delete(name))
        if gone:
            self._vacuum()
        return gone

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold one committed state of the store for the duration of a ``with`` block."""
        return self._store.snapshot()

    def documents(
        self, names: Iterable[str] | None = None, *, where: str | Filter | None = None
    ) -> list[DocumentInfo]:
        """List the indexed documents in the order they were added, without reading their text.

        Args:
            names: names of the documents to list; unknown names are skipped. None for all.
            where: a filter of documents, as in ``search``.

        Raises:
            InputError: the filter cannot be read, or has a key that no document has.
        """
        among = DocumentSelection(None if names is None else frozenset(names), as_filter(where))
        with self._store.snapshot() as state:
            return state.select(among) or []

    def document(self, name: Name) -> Document:
        """Load one document with its text and marks; for PDFs and images ``boxes`` works too.

        Raises:
            StoreError: no document of that name or path is indexed; the nearest name is suggested.
        """
        with self._store.snapshot() as state:
            info = state.info(stored_name(name, state))
            if info is None:
                raise StoreError(*not_found(os.fspath(name), state))
            stored = Document(
                name=info.name,
                text=state.texts([(info, 0, info.characters)])[0],
                marks=state.marks([info])[0],
                source=info.source,
                hash=info.hash,
                notes=info.notes,
                properties=info.properties,
            )
        return replace(stored, locator=locator(stored, ReadOptions.parse(info.options)))

    def boxes(self, passage: Passage) -> list[Box]:
        """Locate a passage on the pages of its PDF; see ``Document.boxes``."""
        return self.document(passage.document).boxes(passage.start, passage.end)

    def search(
        self,
        question: str | Query,
        k: int | None = None,
        budget: str | int | None = None,
        documents: Name | Iterable[Name] | None = None,
        *,
        rerank: bool = True,
        min_score: float = 0.0,
        where: str | Filter | None = None,
    ) -> list[Passage]:
        """Find the passages that answer a question, best first.

        Args:
            question: the question in words, or a ``Query``, which replaces all other arguments but
                ``documents`` and ``where``. Passages contain every phrase in quotation marks word
                for word, and no word that follows a minus sign:
                ``how is "natural selection" tested -pigeons``.
            k: maximum number of passages; None for 5, or with a budget for as many as fit.
            budget: maximum total length: ``"1600c"`` (or 1600) characters, ``"400t"`` tokens of
                the model. The last passage is cut at the budget, at the end of a sentence if one
                fits.
            documents: names or paths of the documents to search; None for all.
            rerank: let the model's reranker, if it has one, score the best windows together with
                the question. Results are better, and a search takes a fraction of a second longer.
                Questions longer than the longest sentence are not reranked.
            min_score: least probability, 0–1; passages with a lower ``score`` are dropped and not
                replaced, so the result can be empty.
            where: a filter on the documents' properties, such as
                ``'kind = "pdf" and year >= 2020'`` (docs/filters.md).

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
            WrongType: the question is not a string, or ``k`` not an integer.
            InputError: a document is not in the index (the nearest name is suggested), ``k`` is
                less than 1, ``budget`` is not a length, ``min_score`` is not a probability, or the
                filter is invalid or uses a key that no document has.
        """
        result = self.search_detailed(
            question, k, budget, documents, rerank=rerank, min_score=min_score, where=where
        )
        return list(result.passages)

    def search_detailed(
        self,
        question: str | Query,
        k: int | None = None,
        budget: str | int | None = None,
        documents: Name | Iterable[Name] | None = None,
        *,
        rerank: bool = True,
        min_score: float = 0.0,
        where: str | Filter | None = None,
    ) -> SearchResult:
        """Search and explain the result: signals, weights and the parts of every score."""
        filter_ = as_filter(where)
        given = question if isinstance(question, Query) else None
        text = "" if given else check_text(question, "the question")  # before a model is loaded
        model = self._search_model(given.rerank if given else rerank)
        query = given or Query.parse(
            text, self.model, k=k, budget=budget, min_score=min_score, rerank=rerank
        )
        with self._store.snapshot() as state:
            if documents is not None:
                query = replace(query, documents=resolve_names(documents, state))
            if filter_ is not None:
                query = replace(query, where=filter_)
            return search(state, query, model)

    def _search_model(self, rerank: bool) -> SearchModel:
        """Collect what search needs of the model; the reranker loads in the background."""
        reranker = preload(self.model) if rerank else None
        reads = supported_languages(self.model.manifest.name)
        return SearchModel(self._ranking, reranker, self.model.count_tokens, reads)

    def check(
        self,
        text: str,
        documents: Name | Iterable[Name] | None = None,
        *,
        min_score: float = 0.5,
        where: str | Filter | None = None,
        k: int = PASSAGES,
    ) -> CheckResult:
        """Check whether a sentence, a quotation or a claim is in the documents, and where.

        The text is first searched word for word, ignoring white space, hyphens at line ends, case
        and typography; then with words changed, in pieces, and in other documents; then each of
        its sentences is judged by what a search finds. Only that loads the model.

        Args:
            text: the text to look for; quotation marks around it are ignored.
            documents: names or paths of the documents to search; None for all.
            min_score: least probability, 0–1, of a passage about the text.
            where: a filter on documents, as in ``search``.
            k: maximum number of passages.

        Raises:
            BadQuestion: the text is empty or has neither letter nor digit.
            InputError: a document is not in the index (the nearest name is suggested),
                ``min_score`` is not a probability, or the filter is invalid.
        """
        given, filter_ = prepared(text), as_filter(where)
        Limits.parse(k, None, min_score)
        with self._store.snapshot() as state:
            among = DocumentSelection(
                None if documents is None else resolve_names(documents, state), filter_
            )
            if filter_ is not None and filter_matches_none(state, among):
                return CheckResult(given.text, "not found", notes=(no_match(filter_),))

            def about(claim: str) -> SearchResult:
                model = self._search_model(rerank=True)
                names, most = among.names, max(k, READ)
                query = Query.parse(
                    claim, self.model, k=most, documents=names, where=filter_, operators=False
                )
                return search(state, query, model)

            found = check_store(state, given, among, about)
            likely = tuple(each for each in found.passages[:k] if each.score >= min_score)
            if found.verdict == "related" and not likely:
                return replace(found, verdict="not found", passages=())
            return replace(found, passages=likely)

    def close(self) -> None:
        """Close the files of the index."""
        self._store.close()

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: its files and connections belong to this process."""
        raise WrongType("an open index cannot be copied or pickled", "the folder instead")

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open(
    place: str | os.PathLike[str] | None = None,
    *,
    model: Encoder | str | os.PathLike[str] | None = None,
    create: bool = True,
    read_only: bool = False,
    precision: Arithmetic | None = None,
) -> Index:
    """Open an index in a folder, on a server or in a bucket, or an empty one in memory.

    Args:
        place: folder of the index, or its address (``postgresql://HOST/NAME``, ``lance:///FOLDER``,
            ``lance+s3://BUCKET/PATH``); None for one in memory.
        model: an encoder, a shipped model's name or a model folder; None for the installed model
            that made the index, and the default for a new one.
        create: make the index where there is none.
        read_only: never write.
        precision: as in ``milepost.load``; an encoder that is given has its own.

    Raises:
        InputError: ``precision`` is another word.
        NotAnIndex: the folder holds something else.
        WrongModel: the index was made by another model.
        NewerSchema: the index was made by a newer Milepost.
        OldSchema: the index was made by an older Milepost.
        StoreError: the folder cannot be read, or the server not be reached.
        MissingExtra: the driver of the server is not installed.
    """
    checked(precision)
    store, chosen = opened_store(place, model, create=create, read_only=read_only)
    if isinstance(chosen, Encoder):
        return Index(store, chosen)
    return Index(store, partial(load, chosen.path, precision=precision))
