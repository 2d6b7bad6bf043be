"""Reads of a store for tests, each through a snapshot, everything of one; and touches."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from milepost.store import DocumentInfo, Sentences, Snapshot, Store, stored_document
from milepost.store.base import DocumentSelection
from milepost.store.conditions import ALWAYS
from milepost.store.local import LocalSnapshot, ranges_of
from milepost.types import Document, Mark

Names = Sequence[str] | None

NOBODY = DocumentInfo("nobody", None, "", None, 0, 0, 0)


def touch(store: Store, name: str, signature: tuple[int, int] | None, **changed: object) -> bool:
    with store.snapshot() as state:
        info = state.info(name) or NOBODY
    return store.touch(replace(info, signature=signature, **changed))


class Reads:
    """One-call reads, each of the newest state; documents are given by name."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """``documents``, ``info``, ``statistics`` and ``postings`` as a snapshot has them."""

        def read(*arguments: Any) -> Any:
            with self._store.snapshot() as state:
                return getattr(state, name)(*arguments)

        return read

    def document(self, name: str) -> Document:
        with self._store.snapshot() as state:
            return stored_document(state, _known(state, name))

    def sentences(self, name: str) -> Sentences:
        with self._store.snapshot() as state:
            return state.sentences([_known(state, name)])

    def vectors(self, *names: str) -> np.ndarray:
        with self._store.snapshot() as state:
            return state.vectors(chosen(state, names))

    def similarity(self, vector: np.ndarray, *names: str) -> np.ndarray:
        with self._store.snapshot() as state:
            return similarity(state, vector, chosen(state, names))

    def text(self, name: str, start: int, end: int) -> str:
        with self._store.snapshot() as state:
            return state.texts([(_known(state, name), start, end)])[0]

    def marks(self, name: str) -> tuple[Mark, ...]:
        with self._store.snapshot() as state:
            return state.marks([_known(state, name)])[0]

    def nearest(
        self, vector: np.ndarray, n: int, names: Names = None
    ) -> tuple[np.ndarray, np.ndarray]:
        with self._store.snapshot() as state:
            return nearest(state, vector, n, None if names is None else chosen(state, names))

    def matching(self, terms: Sequence[str], n: int, names: Names = None) -> np.ndarray:
        with self._store.snapshot() as state:
            return matching(state, terms, n, None if names is None else chosen(state, names))


reads = Reads


def chosen(state: Snapshot, names: Sequence[str]) -> list[DocumentInfo]:
    """Records of the documents named, in the store's order; unknown names are left out."""
    return [info for info in state.documents() if info.name in names]


def similarity(
    state: Snapshot, vector: np.ndarray, documents: Sequence[DocumentInfo]
) -> np.ndarray:
    """Dot products of a vector with the sentences of some documents."""
    return state.score_inputs(vector, [], documents).similarity


def nearest(
    state: Snapshot, vector: np.ndarray, n: int, documents: Sequence[DocumentInfo] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows most similar to a vector, and their scores: of the documents that a search chooses."""
    names = None if documents is None else frozenset(info.name for info in documents)
    found, _ = state.select_candidates(
        vector, [], most=0, candidates=n, among=DocumentSelection(names)
    )
    found = sorted(found, key=lambda info: info.first)
    scores = similarity(state, vector, found)
    rows = np.concatenate(
        [np.empty(0, np.int64), *(info.first + np.arange(info.sentences) for info in found)]
    )
    best = np.lexsort((rows, -scores))[:n]
    return rows[best], scores[best]


def matching(
    state: Any, terms: Sequence[str], n: int, documents: Sequence[DocumentInfo] | None = None
) -> np.ndarray:
    """Rows that contain one of the terms, best first: those from which a search chooses."""
    if isinstance(state, LocalSnapshot):
        ranges = None if documents is None else ranges_of(documents)
        return state.candidates(np.zeros(state._dimensions, np.float32), terms, n, ranges)[1]
    from milepost.store.postgres import queries

    limit = "" if documents is None else "SELECT unnest(%(ids)s::int8[])"
    values = {} if documents is None else {"ids": [info.id for info in documents]}
    held = state._session.ask(queries.matching(terms, limit, values, ALWAYS))[0]
    owners, numbers = queries.best(held, state.statistics(), n)
    first = {info.id: info.first for info in state.documents()}
    return np.array([first[each] for each in owners.tolist()], np.int64) + numbers


def all_of(state: Snapshot, vector: np.ndarray, terms: Sequence[str]) -> dict[str, Any]:
    """Everything that a snapshot says, as plain values that ``==`` compares."""
    infos = state.documents()
    sentences = state.sentences(infos)
    rows, scores = nearest(state, vector, 10**6)
    return {
        "documents": infos,
        "records": [state.info(info.name) for info in infos],
        "statistics": state.statistics(),
        "offsets": sentences.document_offsets.tolist(),
        "spans": sentences.spans.tolist(),
        "lengths": sentences.lengths.tolist(),
        "coverage": sentences.vocab_coverage.tolist(),
        "starts": sentences.paragraph_starts.tolist(),
        "similarity": similarity(state, vector, infos).tolist(),
        "vectors": state.vectors(infos).tolist(),
        "texts": state.texts([(info, 0, info.characters) for info in infos]),
        "marks": state.marks(infos),
        "postings": {
            term: [part.tolist() for part in parts] for term, parts in state.postings(terms).items()
        },
        "nearest": (rows.tolist(), scores.tolist()),
        "nearest of the last": nearest(state, vector, 3, infos[-1:])[0].tolist(),
        "matching": matching(state, terms, 10**6).tolist(),
        "matching of the last": matching(state, terms, 3, infos[-1:]).tolist(),
    }


class Counted:
    """A snapshot that counts its calls."""

    def __init__(self, state: Snapshot) -> None:
        self._state = state
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._state, name)

        def counted(*arguments: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return method(*arguments, **named)

        return counted


def _known(state: Snapshot, name: str) -> DocumentInfo:
    info = state.info(name)
    if info is None:
        raise KeyError(name)
    return info
