"""Stores with hand-made vectors and words, so that search is tested without a model."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from milepost.search import terms
from milepost.store import Entry, open_store
from milepost.store.base import Store
from milepost.types import Document, Mark

WIDTH = 8


def empty_store() -> Store:
    """A store in memory."""
    return open_store(None, fingerprint="f", dimensions=WIDTH)


def unit(seed: int) -> np.ndarray:
    """A random direction."""
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
    ends = np.cumsum([len(s) for s in sentences], dtype=np.int64)
    spans = np.stack((np.concatenate(([0], ends[:-1])), ends), axis=1).reshape(-1, 2)
    seed = crc32(name.encode())
    store.put(
        Entry(
            document=Document(name, "".join(sentences), marks=marks, source=f"/files/{name}"),
            spans=spans,
            vectors=np.stack([unit(seed + n) for n in range(len(sentences))])
            if vectors is None
            else vectors,
            vocab_coverage=np.full(len(sentences), vocab_coverage, np.float32),
            terms=[terms(s) for s in sentences],
        )
    )


def filled(documents: int = 4, sentences: int = 12) -> Store:
    """A store of numbered documents; each sentence holds its own number as a word."""
    store = empty_store()
    for d in range(documents):
        put(
            store,
            f"d{d}",
            [f"Common word in document d{d} at place p{d}x{s}. " for s in range(sentences)],
        )
    return store
