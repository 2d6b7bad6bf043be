"""Entries for the store's tests, made from a few numbers: any process can make them again."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from milepost.index.entries import paragraph_starts
from milepost.store import Entry, Store, open_store, stored_document
from milepost.types import Document, Mark

Child = Callable[..., "subprocess.Popen[str]"]  # the fixture ``child``
WIDTH = 8
FINGERPRINT = "abc123"


def unit(*values: int) -> np.ndarray:
    row = np.array(values, dtype=np.float64)
    return (row / np.linalg.norm(row)).astype(np.float32)


def rows(count: int, seed: int, width: int = WIDTH) -> np.ndarray:
    """Make unit vectors that int8 holds without rounding."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-126, 127, (count, width)).astype(np.float64)
    values[np.arange(count), rng.integers(0, width, count)] = 127
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def entry(
    name: str,
    sentences: Sequence[str],
    *,
    vectors: np.ndarray | None = None,
    terms: Sequence[Sequence[str]] | None = None,
    starts: Sequence[bool] | None = None,
    seed: int = 0,
    **document: object,
) -> Entry:
    text = "".join(sentences)
    ends = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
    bounds = np.concatenate((np.zeros(1, np.int64), ends))
    spans, count = np.stack((bounds[:-1], bounds[1:]), axis=1), len(sentences)
    return Entry(
        document=Document(name, text, **document),
        spans=spans,
        vectors=rows(count, seed) if vectors is None else vectors,
        vocab_coverage=np.linspace(0, 1, count, dtype=np.float32),
        paragraph_starts=paragraph_starts(text, spans) if starts is None else np.array(starts),
        terms=[sentence.split() for sentence in sentences] if terms is None else terms,
        signature=None if seed % 2 else (seed, 10**18 + seed),
        options="hidden=keep" if seed % 3 == 1 else "",
    )


def numbered(number: int, sentences: int = 30) -> Entry:
    """Entry ``number`` of an endless series; three names take turns, so later ones replace."""
    words = [f"number{number} sentence{i} word{(number * i) % 7} " for i in range(sentences)]
    return entry(
        f"document {number % 3}",
        words,
        seed=number,
        hash=str(number),
        marks=(Mark(0, "heading", f"Heading {number}", 1),),
        properties={"number": number, "tags": ("a", str(number))} if number % 2 else {},
    )


def opened(place: Path | str | None, **options: object) -> Store:
    return open_store(place, fingerprint=FINGERPRINT, dimensions=WIDTH, **options)


def holds(store: Store, given: Entry) -> None:
    """Assert that every part of the entry can be read back from one state, and is found."""
    with store.snapshot() as state:
        info = state.info(given.document.name)
        assert (info.signature, info.options) == (given.signature, given.options)
        assert info.sentences == len(given.spans)
        assert stored_document(state, info) == given.document
        kept = state.sentences([info])
        assert kept.document_offsets.tolist() == [0, len(given.spans)]
        assert np.array_equal(kept.spans, given.spans)
        assert kept.lengths.tolist() == [len(terms) for terms in given.terms]
        assert np.abs(kept.vocab_coverage - given.vocab_coverage).max(initial=0) <= 0.5 / 255 + 1e-6
        assert kept.paragraph_starts.dtype == np.bool_
        assert kept.paragraph_starts.tolist() == given.paragraph_starts.tolist()
        assert np.abs(state.vectors([info]) - given.vectors).max(initial=0) < 1e-6
        wanted = {term for terms in given.terms for term in terms}
        found = state.postings(sorted(wanted))
        for row, terms in enumerate(given.terms, info.first):
            for term in set(terms):
                held, counts = found[term]
                assert counts[held == row].tolist() == [list(terms).count(term)]
