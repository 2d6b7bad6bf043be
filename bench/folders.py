"""Many small files beside one long file with the same sentences: store calls, gathering, search.

    python bench/folders.py [--files 6000] [--source OTHER/src]

Gathering is what a search reads from the store, 1,500 sentences in 3 and in 300 documents. The
searches are whole processes, each the second of its command, with the light model; ``--source``
also runs them on another checkout of the package, in the same rounds.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from milepost.intake import entry, hashed
from milepost.search import Query
from milepost.search.scope import gather
from milepost.store import Store, open_store
from milepost.terms import terms
from milepost.types import Document

QUESTION = "How do bees make the cells of the honeycomb?"
BOOK = Path(__file__).parents[1] / "examples" / "origin-of-species.txt"
WIDTH = 384


class Counted:
    """A snapshot that counts its calls."""

    def __init__(self, snapshot: object, calls: Counter[str]) -> None:
        self._snapshot, self._calls = snapshot, calls

    def __getattr__(self, name: str) -> Any:
        self._calls[name] += 1
        return getattr(self._snapshot, name)


def filled(folder: Path, sentences: list[str], documents: int) -> Store:
    """A store of documents with equally many of the sentences; vectors are random."""
    store = open_store(folder, fingerprint="bench", dimensions=WIDTH)
    size = len(sentences) // documents
    random = np.random.default_rng(0)
    for number in range(documents):
        own = sentences[number * size : (number + 1) * size]
        ends = np.cumsum([len(each) for each in own])
        spans = np.stack((np.concatenate(([0], ends[:-1])), ends), axis=1).astype(np.int64)
        vectors = random.standard_normal((size, WIDTH)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        parts = spans, vectors, np.ones(size, np.float32)
        document = hashed(Document(f"{number:05}", "".join(own)))
        store.put(entry(document, parts, None))
    return store


def gathering(sentences: list[str], rounds: int) -> None:
    """Calls and milliseconds of gathering, in memory and on disk, for 3 and 300 documents."""
    vector = np.ones(WIDTH, np.float32) / np.float32(WIDTH**0.5)
    query = Query(QUESTION, vector, tuple(dict.fromkeys(terms(QUESTION))))
    with tempfile.TemporaryDirectory() as folder:
        stores = {n: filled(Path(folder) / str(n), sentences[:1500], n) for n in (3, 300)}
        seconds: dict[int, list[float]] = {n: [] for n in stores}
        calls: dict[int, Counter[str]] = {}
        for _ in range(rounds):
            for n, store in stores.items():
                calls[n] = Counter()
                begun = time.perf_counter()
                with store.snapshot() as state:
                    gather(Counted(state, calls[n]), query)  # type: ignore[arg-type]
                seconds[n].append(time.perf_counter() - begun)
        for n, store in stores.items():
            print(
                f"gathering, 1,500 sentences in {n:>3} documents: {calls[n].total()} store calls, "
                f"{1000 * min(seconds[n]):.2f} ms"
            )
            store.close()
        print(f"ratio {min(seconds[300]) / min(seconds[3]):.2f}")


def searching(sentences: list[str], files: int, rounds: int, sources: list[Path | None]) -> None:
    """Seconds of a second search over many files and over one."""
    with tempfile.TemporaryDirectory() as home:
        many, one = Path(home) / "many", Path(home) / "one.txt"
        many.mkdir()
        for number in range(files):
            text = "".join(sentences[number * 20 : (number + 1) * 20])
            (many / f"{number:05}.txt").write_text(text, encoding="utf-8")
        one.write_text("".join(sentences[: files * 20]), encoding="utf-8")
        found: dict[tuple[int, Path], list[float]] = {}
        for turn in range(rounds + 1):  # the first turn reads
            for number, source in enumerate(sources):
                for place in (many, one):
                    spent = _search(place, source, Path(home) / f"cache{number}")
                    if turn:
                        found.setdefault((number, place), []).append(spent)
        for number, source in enumerate(sources):
            several, single = (min(found[number, place]) for place in (many, one))
            print(
                f"{source or 'this version'}: second search of {files} files {several:.3f} s, of "
                f"one {single:.3f} s, ratio {several / single:.2f}"
            )


def _search(place: Path, source: Path | None, cache: Path) -> float:
    environment = {**os.environ, "MILEPOST_CACHE": str(cache)}
    if source:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, "-m", "milepost", "search", QUESTION, str(place), "--quiet"]
    begun = time.perf_counter()
    subprocess.run(
        [*command, "--model", "landmark-light"], env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - begun


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=6000, help="of 20 sentences each")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--source", type=Path, help="src of another checkout, measured beside")
    options = parser.parse_args()
    pieces = re.split(r"[.!?;]\s+", BOOK.read_text(encoding="utf-8"))
    pieces = [" ".join(piece.split()) for piece in pieces if 40 < len(piece) < 300]
    needed = options.files * 20
    sentences = [f"{n}, {pieces[n % len(pieces)]}.\n\n" for n in range(needed)]
    gathering(sentences, 20)
    searching(sentences, options.files, options.rounds, [None, *filter(None, [options.source])])


if __name__ == "__main__":
    main()
