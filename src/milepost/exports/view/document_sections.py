"""What the page needs of the documents: texts, landmarks, words, and where everything is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import sub
from os.path import commonpath
from pathlib import PurePath
from typing import Any

import numpy as np

from milepost.errors import InputError
from milepost.exports.references import reference_of
from milepost.exports.view.pack import Pack, varints
from milepost.index.naming import document_id
from milepost.language.stemming import SCRIPTS, stemmer_of
from milepost.language.terms import terms
from milepost.search.scope import EVERYTHING, without_copies
from milepost.store import DocumentInfo, Snapshot
from milepost.store.sqlite.segment import pack as packed_rows
from milepost.table_rows import Tables
from milepost.wording import whole, without_options


def add_documents(pack: Pack, state: Snapshot) -> set[str]:
    """Add all sections of the documents of a state, unless there are none or too many for a page.

    Returns names of the stemmers that their words need, but for the English one.
    """
    infos, _ = without_copies([info for info in state.documents() if info.characters])
    total = sum(info.sentences for info in infos)
    if not total:
        raise InputError("there is no text to show", "files with text in them")
    if total > EVERYTHING:
        characters = sum(info.characters for info in infos)
        raise InputError(
            f"the documents have {total:,} sentences ({characters:,} characters), "
            f"and a page holds {EVERYTHING:,}",
            "fewer files on a page, or milepost serve, which has no such limit",
        )
    sentences = state.sentences(infos)
    texts = state.texts([(info, 0, info.characters) for info in infos])
    marks = state.marks(infos)
    names = names_of(infos)
    pack.facts["documents"] = [
        {
            "id": document_id(info.name),
            "name": whole(name),
            "characters": info.characters,
            "sentences": info.sentences,
            "notes": [whole(without_options(note)) for note in info.notes],
            "reference": _reference(info),
        }
        for info, name in zip(infos, names, strict=True)
    ]
    pack.add_json("texts", [whole(text) for text in texts])
    pack.add_json(
        "marks",
        [
            [[mark.offset, mark.kind, whole(mark.value), mark.level] for mark in held]
            for held in marks
        ],
    )
    spans = sentences.spans
    lengths = (spans[:, 1] - spans[:, 0]).astype(np.int64)  # as sentences tile the text
    pack.add("spans", varints(lengths))
    pack.add("lengths", varints(sentences.lengths.astype(np.int64)))
    coverage = np.rint(np.clip(sentences.vocab_coverage, 0, 1) * 255).astype(np.uint8)
    pack.add("coverage", coverage.tobytes())
    pack.add("paragraphs", np.packbits(sentences.paragraph_starts).tobytes())
    # As stores on a disk keep them: 8 bits a number, and a scale.
    vectors = state.vectors(infos)
    rows = np.frombuffer(packed_rows(vectors), np.uint8).reshape(len(vectors), -1)
    pack.add_table("landmarks", rows[:, 4:])
    pack.add("landmark scales", np.ascontiguousarray(rows[:, :4]).tobytes())
    tables = [Tables(text, held) for text, held in zip(texts, marks, strict=True)]
    words = _add_words(pack, tables, sentences.document_offsets.tolist(), spans.tolist())
    # Single letters are symbols: α, β and π do not bring the Greek stemmer.
    return {name for word in words if len(word) > 1 and (name := stemmer_of(word)) in SCRIPTS}


def _add_words(
    pack: Pack,
    tables: Sequence[Tables],
    offsets: Sequence[int],
    spans: Sequence[Sequence[int]],
) -> list[str]:
    """Which sentences hold each word, and how often; returns the words."""
    held: dict[str, list[tuple[int, int]]] = {}
    for number, table in enumerate(tables):
        for row in range(offsets[number], offsets[number + 1]):
            start, end = spans[row]
            for term, often in Counter(terms(table.words(start, end))).items():
                held.setdefault(term, []).append((row, often))
    words = sorted(held)
    sizes = [len(held[word]) for word in words]
    steps: list[int] = []
    counts: list[int] = []
    for word in words:
        rows, times = zip(*held[word], strict=True)
        steps += map(sub, rows, (0, *rows))  # from the row before
        counts += times
    pack.add_json("words", words)
    pack.add("word sizes", varints(np.array(sizes, np.int64)))
    pack.add("word rows", varints(np.array(steps, np.int64)))
    pack.add("word counts", varints(np.array(counts, np.int64)))
    return words


def _reference(info: DocumentInfo) -> dict[str, Any] | None:
    """What a citation says of a document, as a server gives it."""
    known = reference_of(info)
    if known is None:
        return None
    authors = [{"family": whole(name), "given": whole(first)} for name, first in known.authors]
    return {"title": whole(known.title), "authors": authors, "date": known.date}


def names_of(infos: Sequence[DocumentInfo]) -> list[str]:
    """What users read for each document: its file name, with the path where names are the same."""
    names = [PurePath(info.name) for info in infos]
    if len({name.name for name in names}) == len(names):
        return [name.name or str(name) for name in names]
    try:
        shared = PurePath(commonpath([str(name) for name in names]))
    except ValueError:
        return [str(name) for name in names]
    return [str(name.relative_to(shared)) if name != shared else name.name for name in names]
