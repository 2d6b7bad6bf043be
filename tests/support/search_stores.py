"""Stores with hand-made vectors and words, so that search is tested without a model."""

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from milepost.language.terms import terms
from milepost.search import Limits, Query, SearchModel, SearchResult, search
from milepost.search.fusion import Fusion, Reranking
from milepost.search.query import DEFAULT_K
from milepost.search.ranking import Ranked, Ranking, rank
from milepost.search.reranking import Reranker
from milepost.search.scope import Scope, gather
from milepost.store import Store, open_store
from milepost.types import Mark
from support.random_trees import trees
from support.store_entries import entry
from support.word_reranker import WordReranker

WIDTH = 8
PLAIN = Ranking(Fusion())


def words(text: str) -> int:
    return len(text.split())


MODELS = {
    "plain": SearchModel(PLAIN, count_tokens=words),
    "trees": SearchModel(Ranking(Fusion(), trees()), count_tokens=words),
    "reranker": SearchModel(Ranking(Fusion(rerank=Reranking(9.0)), trees()), WordReranker(), words),
}


def empty_store() -> Store:
    return open_store(None, fingerprint="f", dimensions=WIDTH)


def unit(seed: int) -> np.ndarray:
    row = np.random.default_rng(seed).standard_normal(WIDTH)
    return (row / np.linalg.norm(row)).astype(np.float32)


def put(
    store: Store,
    name: str,
    sentences: Sequence[str],
    *,
    vectors: np.ndarray | None = None,
    vocab_coverage: float = 1.0,
    marks: tuple[Mark, ...] = (),
) -> None:
    """Add a document whose sentences are these; vectors are random unless they are given."""
    seed = crc32(name.encode())
    if vectors is None:
        vectors = np.stack([unit(seed + n) for n in range(len(sentences))])
    found = [terms(sentence) for sentence in sentences]
    document = {"marks": marks, "source": f"/files/{name}"}
    made = entry(name, sentences, vectors=vectors, terms=found, **document)
    known = np.full(len(sentences), vocab_coverage, np.float32)
    store.put(replace(made, vocab_coverage=known))


def stored(**documents: Sequence[str]) -> Store:
    """A store of documents of these sentences."""
    store = empty_store()
    for name, sentences in documents.items():
        put(store, name, sentences)
    return store


def filled(documents: int = 4, sentences: int = 12) -> Store:
    """A store of numbered documents; each sentence holds its own number as a word."""
    text = "Common word in document d{0} at place p{0}x{1}. ".format
    return stored(**{f"d{d}": [text(d, s) for s in range(sentences)] for d in range(documents)})


def asking(
    words: Sequence[str],
    seed: int = 1,
    *,
    vector: np.ndarray | None = None,
    vocab_coverage: float = 1.0,
    names: Sequence[str] | None = None,
    k: int | None = DEFAULT_K,
    budget: str | int | None = None,
    min_score: float = 0.0,
    rerank: bool = True,
) -> Query:
    """A question of these terms."""
    return Query(
        " ".join(words),
        unit(seed) if vector is None else vector,
        tuple(words),
        vocab_coverage,
        replace(Limits.parse(budget=budget, min_score=min_score), k=k),
        None if names is None else frozenset(names),
        rerank,
    )


def gathered(store: Store, words: Sequence[str], seed: int = 1, **options: object) -> Scope:
    with store.snapshot() as state:
        return gather(state, asking(words, seed, **options))


def ranked(
    store: Store,
    words: Sequence[str],
    seed: int = 1,
    *,
    ranking: Ranking = PLAIN,
    reranker: Reranker | None = None,
    **options: object,
) -> Ranked:
    query = asking(words, seed, **options)
    with store.snapshot() as state:
        return rank(state, gather(state, query), query, ranking, reranker)


def searched(
    store: Store,
    words: Sequence[str],
    seed: int = 1,
    *,
    model: SearchModel | None = None,
    **options: object,
) -> SearchResult:
    with store.snapshot() as state:
        return search(state, asking(words, seed, **options), model or SearchModel(PLAIN))
