"""Ways to divide a text into units: sentences, packed sentences, and splitters in common use.

Each is written as a short word, a *spec*, as in the names of systems:

=================  =============================================================================
``sentence``       Milepost's sentences
``400``            whole sentences packed up to 400 characters
``400-100``        the same, each beginning up to 100 characters before the last one's end
``recursive:S-O``  LangChain's ``RecursiveCharacterTextSplitter``: ``S`` characters, ``O`` shared
``tokens:S-O``     the same, measured in word pieces of the shipped model, and cutting at the
                   ends of sentences before it cuts at spaces, as Chroma's splitter does
``semantic:S-O``   ``semantic_text_splitter.TextSplitter``: ``S`` characters, ``O`` shared
=================  =============================================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from milepost._optional import require
from milepost.documents import split
from milepost.errors import InputError, nearest
from milepost.types import Span
from milepost_eval.systems.units import Splitter

PRESETS = {
    # The sizes usual in LangChain's tutorials on retrieval.
    "langchain": "recursive:1000-200",
    # The plain splitter that Chroma's report (Smith and Troynikov 2024, "Evaluating Chunking
    # Strategies for Retrieval", https://research.trychroma.com/evaluating-chunking) found good:
    # 200 tokens without overlap. It counts tokens of cl100k; here it is word pieces of the
    # vocabulary of BERT, which Chroma's default model, all-MiniLM-L6-v2, reads as well.
    "chroma": "tokens:200-0",
}
"""Settings recommended by well-known software, usable in place of a spec."""

_CHROMA = ("\n\n", "\n", ".", "?", "!", " ", "")
"""Separators of ``RecursiveTokenChunker`` in Chroma's package chunking_evaluation."""

_EXAMPLES = ("sentence", "400", "400-100", "recursive:1000-200", "semantic:400", "tokens:200-0")
_SIZES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_LONE = re.compile(r"[\ud800-\udfff]")


def splitter(spec: str) -> Splitter:
    """The way of splitting that a spec names.

    Args:
        spec: see the module, or a key of ``PRESETS``.

    Raises:
        InputError: the spec is unknown, the size below 1, or the overlap not below the size.
        MissingExtra: its library is not installed.

    >>> splitter("8")("One. Two. Three.")
    [(0, 5), (5, 10), (10, 16)]
    """
    kind, size, overlap = _parsed(PRESETS.get(spec, spec), spec)
    if kind == "sentence":
        return split
    if kind == "packed":
        return lambda text: packed(split(text), size, overlap)
    if kind == "semantic":
        return _semantic(size, overlap)
    if kind == "tokens":
        return _recursive(size, overlap, word_pieces(), _CHROMA)
    return _recursive(size, overlap, len)


def packed(sentences: Sequence[Span], size: int, overlap: int = 0) -> list[Span]:
    """Chunks of whole sentences; a sentence longer than ``size`` is one of its own.

    Args:
        sentences: spans that tile a text.
        size: most characters of a chunk.
        overlap: a chunk begins with the earliest sentence that lies within so many characters
            before the end of the last chunk, and leaves room for one sentence more.

    >>> packed([(0, 4), (4, 8), (8, 12), (12, 16)], size=12, overlap=4)
    [(0, 12), (8, 16)]
    """
    chunks: list[Span] = []
    first = last = 0
    while last < len(sentences):
        start = sentences[first][0]
        while last < len(sentences) and (last == first or sentences[last][1] - start <= size):
            last += 1
        end = sentences[last - 1][1]
        chunks.append((start, end))
        if last == len(sentences):
            break
        # Sentence `last` must fit as well: a chunk that adds nothing to the one before is none.
        first = next(
            number
            for number in range(first + 1, last + 1)
            if number == last
            or (
                sentences[number][0] >= end - overlap
                and sentences[last][1] - sentences[number][0] <= size
            )
        )
    return chunks


def _parsed(spec: str, given: str) -> tuple[str, int, int]:
    """Kind, size and overlap of a spec; errors name it as it was ``given``."""
    if spec == "sentence":
        return "sentence", 0, 0
    kind, colon, rest = spec.rpartition(":")
    sizes = _SIZES.fullmatch(rest)
    if sizes is None or (colon and kind not in {"recursive", "semantic", "tokens"}):
        raise InputError(
            f"unknown splitter {given!r}",
            f"{nearest(given, [*_EXAMPLES, *PRESETS])}one of {', '.join((*_EXAMPLES, *PRESETS))}",
        )
    size, overlap = int(sizes[1]), int(sizes[2] or 0)
    if size < 1:
        raise InputError(f"splitter {given!r}: chunks of size {size}", "1 or more")
    if overlap >= size:
        raise InputError(
            f"splitter {given!r}: an overlap of {overlap} in chunks of {size}",
            "an overlap below the size",
        )
    return kind or "packed", size, overlap


def _semantic(size: int, overlap: int) -> Splitter:
    made = require("semantic_text_splitter", extra="eval").TextSplitter(size, overlap=overlap)

    def spans(text: str) -> list[Span]:
        # The library's strings are UTF-8, in which half a pair of surrogates cannot be written.
        found: list[tuple[int, str]] = made.chunk_indices(_LONE.sub("\ufffd", text))
        return [(start, start + len(chunk)) for start, chunk in found]

    return spans


def _recursive(
    size: int, overlap: int, measure: Callable[[str], int], separators: Sequence[str] | None = None
) -> Splitter:
    """LangChain's splitter; where a chunk's text stands again nearby, the first place counts.

    Args:
        size: most of a chunk, as ``measure`` counts.
        overlap: of two chunks, at most.
        measure: length of a text.
        separators: where to cut, what is tried first in front; None for LangChain's.
    """
    library = require("langchain_text_splitters", extra="eval")
    made: Any = library.RecursiveCharacterTextSplitter(
        chunk_size=size,
        chunk_overlap=overlap,
        length_function=measure,
        separators=list(separators) if separators else None,
    )

    def spans(text: str) -> list[Span]:
        # With chunks of one character white space is one as well.
        chunks = [chunk for chunk in made.split_text(text) if not chunk.isspace()]
        latest = [len(text)]  # starts, from the last on: no later chunk begins before one
        for chunk in reversed(chunks):
            latest.append(text.rfind(chunk, 0, latest[-1] + len(chunk)))
        found: list[Span] = []
        for chunk, last in zip(chunks, latest[:0:-1], strict=True):
            begin, end = found[-1] if found else (-1, 0)
            # Behind the last one's start and at most an overlap before its end; characters without
            # a token are no overlap to LangChain; white space before the last one was stripped.
            within = end - overlap if measure is len or not overlap else 0
            starts = (
                text.find(chunk, first, last + len(chunk))
                for first in (max(begin + 1, within), begin + 1, max(begin, 0))
            )
            at = next(start for start in starts if start >= 0)
            found.append((at, at + len(chunk)))
        return found

    return spans


@lru_cache(maxsize=1)
def word_pieces() -> Callable[[str], int]:
    """Counts the tokens of a text as the shipped model reads it."""
    from milepost.encoder.engine import find_model
    from milepost.encoder.engine.tokenizer import Tokenizer

    folder = find_model()
    tokenizer = Tokenizer(folder.tokenizer, folder.manifest.bos_token, folder.manifest.landmark)

    @lru_cache(maxsize=1 << 16)  # most of what the splitter measures is single words
    def count(text: str) -> int:
        return len(tokenizer.encode([text])[0].ids)

    return count
