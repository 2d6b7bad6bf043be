"""The facade: documents in, passages out.

``open`` gives an ``Index``; ``add`` reads, encodes and stores; ``search`` answers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from milepost import intake
from milepost.checking import PASSAGES, check_store, prepared
from milepost.encoder import Encoder, load
from milepost.engine.precision import Arithmetic, checked
from milepost.engine.reads import reads_of
from milepost.errors import IndexBusy, StorageFull, StoreError
from milepost.filters import Filter
from milepost.filters import given as parsed_filter
from milepost.intake import Step, Steps, Tally
from milepost.naming import Name, known, stored_name, unknown
from milepost.objects import Downloads
from milepost.opening import opened_store
from milepost.places import File, source_place
from milepost.reranker import preload
from milepost.search import Limits, Query, SearchModel, SearchResult, search
from milepost.search.ranking import Ranking
from milepost.search.where import leaves_nothing, no_match
from milepost.store import Among, DocumentInfo, Snapshot, Store
from milepost.text import locator, recognition
from milepost.types import (
    READ_DEFAULTS,
    Box,
    Check,
    Document,
    Hidden,
    Ocr,
    Passage,
    ReadOptions,
    Report,
)

Source = Name | Document


class Index:
    """Documents that can be searched; made by ``milepost.open``.

    Use it as a context manager, or call ``close``. One index may be read from several threads;
    several processes may read it while one writes.
    """

    def __init__(self, store: Store, model: Encoder | Callable[[], Encoder]) -> None:
        self._store = store
        self._given = model

    @cached_property
    def model(self) -> Encoder:
        """The encoder; loaded when the first text or question needs it."""
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
    ) -> Report:
        """Read, encode and store documents; what has not changed is passed over.

        A file of the same size and time of change that is to be read in the same way is taken as
        unchanged and not opened; one that was only touched is read, and not encoded again. Nor is
        one whose properties alone have changed, in the file or in its sidecar.

        One document is one transaction: an interruption leaves everything before it indexed, and
        the next ``add`` goes on from there. A file that cannot be read is named in the report
        and the others are indexed.

        Args:
            sources: files, folders, addresses in object storage (``s3://BUCKET/PREFIX``,
                ``gs://``, ``az://``), or ``Document`` records made by the caller. The ETag of an
                object tells whether it has changed.
            prune: remove documents whose files once stood in one of the folders given and are
                not found there any more: deleted, moved, or ignored by now.
            progress: called as sentences are encoded.
            hidden: as in ``milepost.read``; None reads a document as it was read before, and a new
                one without hidden text.
            ocr: as in ``milepost.read``; None reads a document as it was read before, and a new
                one without text recognition. Picture files in folders are read unless it is
                ``"never"``, or None and they are new.
            reader: reads a file; a server reads in another process. Not for objects.

        Raises:
            InputError: ``hidden`` or ``ocr`` is another word, or an address cannot be read.
            MissingExtra: text is to be recognised, and the extra ``ocr`` is not installed; or a
                source is an address, and the extra ``objects`` is not.
            StoreError: the index cannot be written (full disk, no permission, second writer);
                what was stored before stays.
        """
        begun = time.monotonic()
        # Wrong words and what is not installed are refused before any reading.
        if READ_DEFAULTS.changed(hidden=hidden, ocr=ocr).ocr != "never":
            recognition.check_installed()
        given = [sources] if isinstance(sources, str | os.PathLike | Document) else list(sources)
        tally = Tally()
        work: list[File | Document] = [source for source in given if isinstance(source, Document)]
        places = [source_place(source) for source in given if not isinstance(source, Document)]
        stored = {info.name: info for info in self.documents()}
        pictures = intake.wanted_pictures(stored, ocr)
        inside, folders = intake.found_places(places, tally.failed, pictures, stored)
        work.extend(inside)
        present = {item.name if isinstance(item, Document) else str(item) for item in work}
        done: set[str] = set()
        with Downloads(intake.to_download(work, stored, hidden, ocr)) as downloads:
            for number, item in enumerate(work, 1):
                name = item.name if isinstance(item, Document) else str(item)
                steps = Steps(progress, name, number, len(work))
                if name in done:  # given twice: the second time it is what was just stored
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
        """Give back the space of what was removed once it is more than what is left."""
        with self._store.snapshot() as state:
            statistics = state.statistics()
        if statistics.dead > statistics.sentences:
            # Best effort: what was added is added, and the next add tries again.
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
        """One committed state of the store, for the length of a ``with`` block."""
        return self._store.snapshot()

    def documents(
        self, names: Iterable[str] | None = None, *, where: str | Filter | None = None
    ) -> list[DocumentInfo]:
        """What is indexed, in the order it was added; no text is read.

        Args:
            names: of the documents to give; what is not in the index is left out. None for all.
            where: a filter of documents, as in ``search``.

        Raises:
            InputError: the filter cannot be read, or has a key that no document has.
        """
        among = Among(None if names is None else frozenset(names), parsed_filter(where))
        with self._store.snapshot() as state:
            return state.select(among) or []

    def document(self, name: Name) -> Document:
        """One document with its text, marks and, for a PDF, ``boxes``.

        Raises:
            StoreError: nothing of that name or path is indexed; with the nearest that is.
        """
        with self._store.snapshot() as state:
            info = state.info(stored_name(name, state))
            if info is None:
                raise StoreError(*unknown(os.fspath(name), state))
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
        """Where a passage stands on the pages of its PDF; see ``Document.boxes``."""
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
        """Passages that answer the question, best first.

        Args:
            question: in words; or a ``Query``, to which the other arguments then belong. Passages
                hold what is in quotation marks word for word, and no word with a minus sign before
                it: ``how is "natural selection" tested -pigeons``.
            k: maximum number of passages; None for 5, or with a budget for as many as it holds.
            budget: maximum total length: ``"1600c"`` (or 1600) characters, ``"400t"`` tokens of
                the model. The last passage is cut at the budget, at a sentence where one fits.
            documents: names or paths of the documents to search; None for all.
            rerank: let the model's reranker, if it has one, score the best windows together with
                the question, where the question is no longer than a sentence may be: better, and
                a fraction of a second slower.
            min_score: a probability, 0–1: passages whose ``score`` is below it are left out and
                nothing takes their place, so that "nothing found" can be the result.
            where: a filter: only documents whose properties match are searched, such as
                ``'kind = "pdf" and year >= 2020'`` (docs/filters.md).

        Raises:
            BadQuestion: the question is empty or has neither letter nor digit.
            InputError: one of the documents is not in the index, with the nearest that is; or
                ``k`` is less than 1, ``budget`` is not a length, ``min_score`` not a probability;
                or the filter cannot be read or has a key that no document has.
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
        """``search`` with its reasons: signals, weights and parts of every score."""
        filter_ = parsed_filter(where)
        given = question if isinstance(question, Query) else None
        model = self._search_model(given.rerank if given else rerank)
        query = given or Query.parse(
            str(question), self.model, k=k, budget=budget, min_score=min_score, rerank=rerank
        )
        with self._store.snapshot() as state:
            if documents is not None:
                query = replace(query, documents=known(documents, state))
            if filter_ is not None:
                query = replace(query, where=filter_)
            return search(state, query, model)

    def _search_model(self, rerank: bool) -> SearchModel:
        """What the search asks of the model; its reranker is loaded meanwhile."""
        reranker = preload(self.model) if rerank else None
        reads = reads_of(self.model.manifest.name)
        return SearchModel(self._ranking, reranker, self.model.count_tokens, reads)

    def check(
        self,
        text: str,
        documents: Name | Iterable[Name] | None = None,
        *,
        min_score: float = 0.5,
        where: str | Filter | None = None,
        k: int = PASSAGES,
    ) -> Check:
        """Whether a sentence, a quotation or a claim is in the documents, and where.

        It is looked for word for word, but for white space, hyphens at line ends, case and
        typography; then with some words changed, added or missing; then as a question, whose
        passages may support it. The model is loaded for the last step alone.

        Args:
            text: what to look for; quotation marks around it do not count.
            documents: names or paths of the documents to search; None for all.
            min_score: the probability, 0–1, from which a passage supports it.
            where: a filter of documents, as in ``search``.
            k: maximum number of passages that support it.

        Raises:
            BadQuestion: the text is empty or has neither letter nor digit.
            InputError: one of the documents is not in the index, with the nearest that is;
                ``min_score`` is not a probability; or the filter cannot be used.
        """
        given, filter_ = prepared(text), parsed_filter(where)
        Limits.parse(k, None, min_score)
        with self._store.snapshot() as state:
            among = Among(None if documents is None else known(documents, state), filter_)
            if filter_ is not None and leaves_nothing(state, among):
                return Check(given.text, "not found", notes=(no_match(filter_),))

            def supporting(claim: str) -> SearchResult:
                model = self._search_model(rerank=True)
                query = Query.parse(
                    claim,
                    self.model,
                    k=k,
                    documents=among.names,
                    where=filter_,
                    min_score=min_score,
                    operators=False,
                )
                return search(state, query, model)

            return check_store(state, given, among, supporting)

    def close(self) -> None:
        """Release the files of the index."""
        self._store.close()

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
