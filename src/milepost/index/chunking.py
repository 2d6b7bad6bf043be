"""A document as chunks for another program's store: whole sentences, vectors, exact places.

Milepost's own index keeps a vector a sentence and needs no chunks. A vector database wants texts of
about one size with one vector each. ``chunks`` makes them of whole sentences and pools their
vectors from the landmarks, which were read in the context of the whole document.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import attrgetter

from milepost._numpy import NDArray, np
from milepost._typed import typed
from milepost.documents import read, split
from milepost.documents.cuts import pieces
from milepost.encoder import Encoder, load
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows import cut
from milepost.encoder.windows.document_vector import document_vector, unit
from milepost.errors import InputError
from milepost.search.query import Budget, parse_length
from milepost.types import Chunk, Document, Mark, Span

DEFAULT_SIZE = "1600c"
"""About 400 tokens of English: what most embedding models of vector databases read at once."""

Pooling = Callable[["NDArray[np.float32]", list[int]], "NDArray[np.float32]"]
"""Landmarks ``(n, d)`` and how many of them each chunk has → a vector for each chunk."""

_MEAN = ("lmk", "mean")
"""Names of the normalised mean, which LMK pooling is where every state is a landmark."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A document cut up: spans that tile the text, and which of them each chunk holds.

    A sentence longer than a chunk is several. ``chunks`` have the first sentence, and one past the
    last.
    """

    sentences: list[Span]
    chunks: list[tuple[int, int]]

    def spans(self) -> list[Span]:
        """Start and end of each chunk; they tile the text."""
        return [(self.sentences[a][0], self.sentences[b - 1][1]) for a, b in self.chunks]


@typed
def chunks(
    document: Document | str | os.PathLike[str],
    *,
    size: str | int = DEFAULT_SIZE,
    model: Encoder | str | os.PathLike[str] | None = None,
    pooling: str | Pooling = "lmk",
) -> list[Chunk]:
    """Cut a document into chunks of whole sentences, each with a vector and its place.

    The chunks tile the text. A sentence is cut only if it is longer than ``size`` by itself. A
    heading begins a chunk where it would otherwise end one.

    Args:
        document: a document, or the path of a file.
        size: maximum length of a chunk: ``"1600c"`` (or 1600) characters, white space at its edges
            not counted, or ``"400t"`` tokens of the model, counted sentence by sentence.
        model: an encoder, a shipped model's name or a model folder; None for the default. Load an
            encoder once where you cut up many documents.
        pooling: how the landmarks of a chunk become its vector: ``lmk`` or ``mean`` for their mean,
            with which vectors of ``Encoder.encode_query`` can be compared; or a function of all
            landmarks, ``(n, d)``, and how many each chunk has, which returns a vector for each.
            ``milepost_lab.pooling.of_landmarks`` makes one of each pooling of the lab. The vectors
            are scaled to unit length.

    Raises:
        UnreadableFile: the file cannot be read.
        InputError: ``size`` is not a length, or the pooling is unknown or does not return a vector
            for each chunk.
        ModelError: the model is missing or damaged.
    """
    limit = parse_length(size, "size")
    if isinstance(pooling, str) and pooling not in _MEAN:
        raise InputError(
            f"unknown pooling {pooling!r}",
            f"{' or '.join(map(repr, _MEAN))}, or a function: "
            f"milepost_lab.pooling.of_landmarks({pooling!r})",
        )
    encoder = model if isinstance(model, Encoder) else load(model)
    given = document if isinstance(document, Document) else read(document)
    cuts = cut_up(given, limit, encoder.tokenizer)
    landmarks = encoder.encode(given, spans=cuts.sentences)
    spans = cuts.spans()
    # How many landmarks each chunk has: the model cuts sentences that are too long for it.
    ends = np.searchsorted(landmarks.spans[:, 0], [end for _, end in spans])
    vectors = _pooled(pooling, landmarks.vectors, np.diff(ends, prepend=0).tolist())
    begins = [cuts.sentences[first] for first, _ in cuts.chunks]
    pages = _values(given.marks, "page", [_ink(given.text, start, end) for start, end in begins])
    headings = _values(given.marks, "heading", [end - 1 for _, end in begins])
    return [
        Chunk(
            text=given.text[start:end],
            start=start,
            end=end,
            vector=vector,
            page=int(page) if page is not None else None,
            heading=heading,
            document=given.name,
        )
        for (start, end), vector, page, heading in zip(spans, vectors, pages, headings, strict=True)
    ]


def cut_up(document: Document, size: Budget, tokenizer: Tokenizer) -> Cut:
    """Sentences and chunks, of at most ``size``, of a document; no network runs."""
    text, whole = document.text, split(document.text, document.blocks)
    if size.unit == "t":
        sentences, counts = _within_tokens(text, whole, size.size, tokenizer)
        inks = list(pairwise([0, *accumulate(counts)]))
    else:
        sentences = [piece for start, end in whole for piece in pieces(text, start, end, size.size)]
        inks = [
            (_ink(text, start, end), start + len(text[start:end].rstrip()))
            for start, end in sentences
        ]
    marks = [mark.offset for mark in document.marks if mark.kind == "heading"]
    headings = [bisect_left(marks, a) < bisect_left(marks, b) for a, b in sentences]
    return Cut(sentences, list(_groups(headings, inks, size.size)))


def _within_tokens(
    text: str, sentences: Sequence[Span], limit: int, tokenizer: Tokenizer
) -> tuple[list[Span], list[int]]:
    """Sentences of at most ``limit`` tokens, longer ones cut, and the tokens of each."""
    spans: list[Span] = []
    counts: list[int] = []
    seen = tokenizer.count([text[start:end] for start, end in sentences])
    for (start, end), (ids, _, _) in zip(sentences, seen, strict=True):
        edges, firsts = [start], [0]
        if len(ids) > limit:
            tokens = tokenizer.encode([text[start:end]])[0]
            firsts += cut(text[start:end], tokens.starts, tokens.ends, limit)
            edges += [start + tokens.starts[number] for number in firsts[1:]]
        spans += pairwise([*edges, end])
        counts += [b - a for a, b in pairwise([*firsts, len(ids)])]
    return spans, counts


def _groups(
    headings: Sequence[bool], inks: Sequence[Span], limit: int
) -> Iterator[tuple[int, int]]:
    """Take sentences until a chunk is full; headings at its end go to the next one.

    ``inks`` are begin and end of each sentence, in characters without white space or in tokens.
    """
    first = 0
    while first < len(headings):
        last = first + 1
        while last < len(headings) and inks[last][1] - inks[first][0] <= limit:
            last += 1
        body = last
        while last < len(headings) and body > first and headings[body - 1]:
            body -= 1
        if body > first:
            last = body
        yield first, last
        first = last


def _pooled(
    pooling: str | Pooling, landmarks: NDArray[np.float32], counts: list[int]
) -> NDArray[np.float32]:
    if not counts:
        return np.zeros((0, landmarks.shape[1]), np.float32)
    if isinstance(pooling, str):
        parts = np.split(landmarks, np.cumsum(counts)[:-1])
        return np.array([document_vector(part) for part in parts], np.float32)
    vectors = np.asarray(pooling(landmarks, counts))
    if vectors.ndim != 2 or len(vectors) != len(counts):
        raise InputError(
            f"the pooling gives an array of shape {vectors.shape} for {len(counts)} chunks",
            "one vector for each chunk, or pooling='lmk'",
        )
    return unit(vectors)


def _values(marks: Sequence[Mark], kind: str, offsets: Sequence[int]) -> list[str | None]:
    """The value of the last mark of a kind at or before each offset; marks ascend by offset."""
    chosen = [mark for mark in marks if mark.kind == kind]
    numbers = [bisect_right(chosen, offset, key=attrgetter("offset")) for offset in offsets]
    return [chosen[number - 1].value if number else None for number in numbers]


def _ink(text: str, start: int, end: int) -> int:
    """The first character of a span that is not white space; its end if there is none."""
    return end - len(text[start:end].lstrip())
