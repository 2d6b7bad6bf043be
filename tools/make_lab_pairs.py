"""Write the pairs that `milepost lab compare` brings along: questions and passages of free text.

    python tools/make_lab_pairs.py [--data ../shared/data]

A passage is the evidence of a question of ``data/questions`` with the sentences around it. Only
documents that are in the public domain or under CC0 are taken, and no two passages of a document
overlap, so that none is both trained on and asked for. Questions of the test split stay out. The
same data give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from milepost.text.sentences import split
from milepost.types import Span
from milepost_eval.tasks.reading import objects
from milepost_lab.data.pairs import PACKAGED_FILE, stable

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "data" / "questions" / "questions.jsonl.gz"

FREE = (
    "CC0-1.0",
    "public domain",
    "public domain (text of law: government edict)",
    "public domain / CC0-1.0",
    "public domain / CC0-1.0 (US federal work)",
    "public domain in the US",
)
"""Licences of the documents that are taken. NIST's is not among them: its text is in the public
domain in the US alone, and its makers hold rights elsewhere; the authors of the novels, of which
the corpus says the same, died before 1945."""

PAIRS, PER_DOCUMENT, WORDS = 1500, 9, 115
_AROUND = 3000  # characters on each side of the evidence in which sentences are looked for


def passage_of(text: str, spans: Iterable[Span]) -> Span | None:
    """Where the evidence and its surroundings stand; None where the evidence is too long.

    Args:
        text: of the document.
        spans: of the evidence.

    Returns:
        Whole sentences of at most ``WORDS`` words, taken from after and before the evidence by
        turns.
    """
    spans = list(spans)
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    start = text.rfind("\n", 0, max(0, first - _AROUND)) + 1
    part = text[start : last + _AROUND]
    sentences = [(start + a, start + b) for a, b in split(part)]
    touched = [n for n, (a, b) in enumerate(sentences) if a < last and first < b]
    if not touched:
        return None
    low, high = touched[0], touched[-1]

    def words(low: int, high: int) -> int:
        return len(text[sentences[low][0] : sentences[high][1]].split())

    if words(low, high) > WORDS:
        return None
    grows = True
    while grows:
        grows = False
        # The last sentence of the part may be cut off, so it is never taken.
        if high + 2 < len(sentences) and words(low, high + 1) <= WORDS:
            high, grows = high + 1, True
        if low > 0 and words(low - 1, high) <= WORDS:
            low, grows = low - 1, True
    return sentences[low][0], sentences[high][1]


def pairs(data: Path) -> Iterator[Mapping[str, Any]]:
    """Query, passage and document of each pair, in the order of the documents.

    Args:
        data: folder with ``corpus``.
    """
    documents = {
        row["id"]: row["text"]
        for path in sorted((data / "corpus").glob("*.jsonl.gz"))
        for row in objects(path)
        if row["licence"] in FREE and row["split"] == "train"
    }
    asked = [q for q in objects(QUESTIONS) if q["spans"] and q["split"] != "test"]
    taken: defaultdict[str, list[Span]] = defaultdict(list)
    counts: Counter[str] = Counter()
    found: list[tuple[str, Span, str]] = []
    queries: set[str] = set()
    for question in sorted(asked, key=lambda question: stable(question["id"])):
        name, query = question["document"], question["question"]
        if name not in documents or counts[name] == PER_DOCUMENT or query in queries:
            continue
        place = passage_of(documents[name], question["spans"])
        if place is None or any(a < place[1] and place[0] < b for a, b in taken[name]):
            continue
        taken[name].append(place)
        counts[name] += 1
        queries.add(query)
        found.append((name, place, query))
        if len(found) == PAIRS:
            break
    for name, (start, end), query in sorted(found):
        yield {"query": query, "passage": documents[name][start:end].strip(), "document": name}


def packed(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """JSON lines, gzipped without a date."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0, filename="") as file:
        for row in rows:
            file.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    return buffer.getvalue()


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    given = parser.parse_args()
    rows = list(pairs(given.data))
    data = packed(rows)
    PACKAGED_FILE.parent.mkdir(exist_ok=True)
    PACKAGED_FILE.write_bytes(data)
    kinds = Counter(row["document"].split("-")[0] for row in rows)
    print(f"{PACKAGED_FILE}: {len(rows)} pairs, {len(data):,} bytes, {dict(kinds)}")


if __name__ == "__main__":
    main()
