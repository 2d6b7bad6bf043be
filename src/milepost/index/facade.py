"""``Index``: what can be asked of an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import NoReturn

from milepost import _display
from milepost._typed import typed
from milepost.documents import locator
from milepost.encoder import Encoder
from milepost.encoder.engine.languages import supported_languages
from milepost.encoder.reranker import judge_of, preload, preload_judge
from milepost.errors import StoreError, WrongModel, WrongType
from milepost.filters import Filter, as_filter
from milepost.index.adding import add_sources
from milepost.index.freshness import with_freshness
from milepost.index.intake import Known, Step
from milepost.index.naming import Name, not_found, resolve_names, several, stored_names
from milepost.index.removing import RemovalReport, remove_documents
from milepost.search import Limits, Query, SearchModel, SearchResult, search
from milepost.search.notes import filter_matches_none, no_match
from milepost.search.ranking import Ranking
from milepost.store import DocumentInfo, DocumentSelection, Snapshot, Store, stored_document
from milepost.types import Box, Document, Hidden, IndexReport, Ocr, Passage, ReadOptions
from milepost.verdicts import CheckResult
from milepost.wording import counted, nothing_reaches

Source = Name | Document

Opened = tuple[Store, Encoder | Callable[[], Encoder], str]
"""A store, its model, and a line about both for people."""

_SHOWN = 10  # documents in a notebook
_PASSAGES = 3  # about a checked text


class Index:
    """An index of documents that can be searched; ``milepost.open`` returns one.

    Use it as a context manager, or call ``close``. Several threads may read one index, and several
    processes may read it while another one writes.
    """

    def __init__(
        self,
        store: Store,
        model: Encoder | Callable[[], Encoder],
        about: str,
        suited: Callable[[Store, list[Source]], Opened | None] | None = None,
    ) -> None:
        self._store, self._given, self._about = store, model, about
        self._suited = suited  # chooses the model of a new index by what is added first

    @cached_property
    def model(self) -> Encoder:
        """The encoder, loaded when a text or question first needs it."""
        return self._given if isinstance(self._given, Encoder) else self._given()

    @cached_property
    def _ranking(self) -> Ranking:
        return Ranking.read(self.model.manifest.fusion, self.model.folder)

    @property
    def calibrated(self) -> bool:
        """Whether scores are probabilities; those of a model without ``fit`` only order."""
        return self._ranking.calibrated

    @typed
    def add(
        self,
        sources: Source | Iterable[Source],
        *,
        prune: bool = True,
        progress: Callable[[Step], None] | None = None,
        hidden: Hidden | None = None,
        ocr: Ocr | None = None,
        reader: Callable[[Path, ReadOptions], Document] | None = None,
        known: Known | None = None,
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
            prune: remove documents whose files are gone from the given folders, or ignored.
            progress: called as sentences are encoded.
            hidden: as in ``milepost.read``; None keeps the setting a document was read with
                before, and drops the hidden text of new documents.
            ocr: as in ``milepost.read``; None keeps the setting a document was read with before,
                and runs no text recognition on new ones. Image files in folders are read unless
                this is ``"never"``, or None and they are new.
            reader: reads a file, for example in another process; not used for objects.
            known: knows what other indexes hold, so that a file of the same content is taken from
                there in place of being read and encoded; None to read every file.

        Raises:
            InputError: ``hidden`` or ``ocr`` is unknown, or an address cannot be read.
            MissingExtra: text recognition is requested without the extra ``ocr``, or a source is
                an address and the extra ``objects`` is missing.
            StoreError: the index cannot be written (full disk, no permission, second writer);
                everything stored before is kept.
        """
        given = [sources] if isinstance(sources, str | os.PathLike | Document) else list(sources)
        if self._suited is not None and given:
            suited, self._suited = self._suited, None
            empty = "model" not in vars(self) and not self.documents()
            if empty and (better := suited(self._store, given)):
                self._store, self._given, self._about = better
        return add_sources(
            self._store,
            lambda: self.model,
            given,
            prune=prune,
            progress=progress,
            hidden=hidden,
            ocr=ocr,
            reader=reader,
            known=known,
        )

    @typed
    def remove(self, names: Name | Iterable[Name], *, now: bool = False) -> RemovalReport:
        """Remove documents by name or path; names that no document has are skipped.

        Args:
            names: as ``documents`` in ``search``.
            now: rewrite the index, so that nothing of them and of documents removed earlier is left
                in it. Searches may wait for it, and those that have begun may fail.

        Returns:
            What was removed, and what still holds bytes of it.

        Raises:
            InputError: several documents end in a name.
            IndexBusy: another process is writing; or ``now``, and another process is reading: the
                documents are removed, and ``remove((), now=True)`` erases them later.
        """
        return remove_documents(self._store, names, now=now)

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold one committed state of the store for the duration of a ``with`` block."""
        return self._store.snapshot()

    @typed
    def documents(
        self, names: Name | Iterable[Name] | None = None, *, where: str | Filter | None = None
    ) -> list[DocumentInfo]:
        """List the indexed documents in the order they were added, without reading their text.

        Args:
            names: as ``documents`` in ``search``, but unknown names are skipped.
            where: a filter of documents, as in ``search``.

        Raises:
            InputError: several documents end in a name; the filter is invalid, or has unknown keys.
        """
        chosen, filter_ = None, as_filter(where)
        with self._store.snapshot() as state:
            if names is not None:
                chosen = frozenset(filter(None, stored_names(several(names), state)))
            return state.select(DocumentSelection(chosen, filter_)) or []

    @typed
    def document(self, name: Name) -> Document:
        """Load one document with its text and marks; for PDFs and images ``boxes`` works too.

        Raises:
            StoreError: no document of that name or path is indexed; the nearest name is suggested.
            InputError: several documents end in the name.
        """
        with self._store.snapshot() as state:
            found = stored_names([name], state)[0]
            info = None if found is None else state.info(found)
            if info is None:
                raise StoreError(*not_found(os.fspath(name), state))
            stored = stored_document(state, info)
        return replace(stored, locator=locator(stored, ReadOptions.parse(info.options)))

    @typed
    def boxes(self, passage: Passage) -> list[Box]:
        """Locate a passage on the pages of its PDF; see ``Document.boxes``."""
        return self.document(passage.document).boxes(passage.start, passage.end)

    @typed
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
                the question: better, and a fraction of a second slower. Questions longer than the
                longest sentence are not reranked.
            min_score: least probability, 0–1, that anything answers: below, the result is empty.
                Passages with a lower ``score`` are dropped, but for the best, and not replaced.
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

    @typed
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
        filter_ = as_filter(where)  # before a model is loaded
        query = question
        if not isinstance(query, Query):
            query = Query.parse(
                query, self.model, k=k, budget=budget, min_score=min_score, rerank=rerank
            )
        found = self._found([query], documents, filter_)[0]
        with self._store.snapshot() as state:
            return with_freshness(state, found)

    @typed
    def search_many(
        self,
        questions: Iterable[str],
        k: int | None = None,
        budget: str | int | None = None,
        documents: Name | Iterable[Name] | None = None,
        *,
        rerank: bool = True,
        min_score: float = 0.0,
        where: str | Filter | None = None,
    ) -> list[list[Passage]]:
        """Answer many questions in one state of the index; they are encoded in shared batches.

        Returns:
            For each question what ``search`` finds.

        Raises:
            BadQuestion, WrongType, InputError: as in ``search``.
        """
        filter_ = as_filter(where)
        queries = Query.parse_many(
            list(questions), self.model, k=k, budget=budget, min_score=min_score, rerank=rerank
        )
        return [list(each.passages) for each in self._found(queries, documents, filter_)]

    def _found(
        self, queries: list[Query], documents: Name | Iterable[Name] | None, where: Filter | None
    ) -> list[SearchResult]:
        model = self._search_model(any(query.rerank for query in queries))
        if any(len(query.vector) != self.model.manifest.dimensions for query in queries):
            raise WrongModel("the question was encoded by another model", "index.search(TEXT)")
        with self._store.snapshot() as state:
            if documents is not None:
                names = resolve_names(documents, state)
                queries = [replace(query, documents=names) for query in queries]
            if where is not None:
                queries = [replace(query, where=where) for query in queries]
            return [search(state, query, model) for query in queries]

    def _search_model(self, rerank: bool) -> SearchModel:
        """Collect what search needs of the model; reranker and judge load in the background."""
        reranker = preload(self.model) if rerank else None
        judge = preload_judge(self.model) if rerank else None
        reads = supported_languages(self.model.manifest.name)
        count, encode = self.model.count_tokens, self.model.encode_query
        return SearchModel(self._ranking, reranker, count, reads, encode, judge)

    @typed
    def check(
        self,
        text: str,
        documents: Name | Iterable[Name] | None = None,
        *,
        min_score: float = 0.5,
        where: str | Filter | None = None,
        k: int = _PASSAGES,
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
        # Most processes only search, and the rules for claims take a sixth of the start-up.
        from milepost.checking.check import READ, check_store, prepared

        given, filter_ = prepared(text), as_filter(where)
        limits = Limits.parse(k, None, min_score)
        with self._store.snapshot() as state:
            among = DocumentSelection(
                None if documents is None else resolve_names(documents, state), filter_
            )
            if filter_ is not None and filter_matches_none(state, among):
                return CheckResult(given.text, "not found", notes=(no_match(filter_),))

            def about(claim: str) -> SearchResult:
                # Of a claim nothing is asked that could be answered.
                model = replace(self._search_model(rerank=True), judge=None)
                names, most = among.names, max(k, READ)
                query = Query.parse(
                    claim, self.model, k=most, documents=names, where=filter_, operators=False
                )
                return search(state, query, model)

            found = check_store(state, given, among, about, partial(judge_of, self.model), limits)
            if found.verdict == "not found" and 0.0 < found.best_score < min_score:
                note = nothing_reaches(min_score, found.best_score)
                found = replace(found, notes=(*found.notes, note))
            return with_freshness(state, found)

    def close(self) -> None:
        """Close the files of the index."""
        self._store.close()

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: its files and connections belong to this process."""
        raise WrongType("an open index cannot be copied or pickled", "the folder instead")

    def __repr__(self) -> str:
        try:
            with self._store.snapshot() as state:
                counts = state.statistics()
        except StoreError:
            return f"<Index {self._about}: closed>"
        documents = counted(counts.documents, "document")
        return f"<Index {self._about}: {documents}, {counted(counts.sentences, 'sentence')}>"

    def _repr_html_(self) -> str:
        with suppress(StoreError):
            infos = self.documents()
            shown = [(info.name, info.sentences) for info in infos[:_SHOWN]]
            return _display.index_html(repr(self), shown, len(infos) - len(shown))
        return _display.index_html(repr(self), [], 0)

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
