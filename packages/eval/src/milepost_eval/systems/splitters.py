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
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import cycle
from typing import Any

from milepost._optional import require
from milepost.errors import InputError, nearest
from milepost.text import split
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

_EXAMPLES = ("sentence", "recursive:1000-200", "semantic:1000-200", "tokens:200-0")
_SIZES = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_LONE = re.compile(r"[\ud800-\udfff]")
_FRESH = range(0x20000, 0xF0000)
"""Code points none of which is white space, nor half a pair of surrogates."""
_STOPS = {
    ".": range(0xF0000, 0x100000),
    "?": range(0x100000, 0x108000),
    "!": range(0x108000, 0x110000),
}
"""Separators other than white space, each with the code points that replace it."""


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
        raise InputError(f"unknown splitter {given!r}", _meant(given))
    size, overlap = int(sizes[1]), int(sizes[2] or 0)
    if size < 1:
        raise InputError(f"splitter {given!r}: chunks of size {size}", "1 or more")
    if overlap >= size:
        raise InputError(
            f"splitter {given!r}: an overlap of {overlap} in chunks of {size}",
            "an overlap below the size",
        )
    return kind or "packed", size, overlap


def _meant(spec: str) -> str:
    """A hint: the form that looks most like ``spec``, with its numbers where they can be read."""
    kind, colon, rest = spec.partition(":")
    numbers = re.findall(r"(?<![0-9])[0-9]{1,9}(?![0-9])", rest if colon else kind)[:2]
    sizes = "-".join(numbers)
    if sizes and not kind.rstrip("0123456789-_ "):
        return repr(sizes)
    forms = [re.sub(":.*", f":{sizes}", form) if sizes else form for form in _EXAMPLES]
    return f"{nearest(spec, [*forms, *PRESETS])}'400-100'"


def _semantic(size: int, overlap: int) -> Splitter:
    made = require("semantic_text_splitter", extra="eval").TextSplitter(size, overlap=overlap)

    def spans(text: str) -> list[Span]:
        # The library's strings are UTF-8, in which half a pair of surrogates cannot be written.
        found: list[tuple[int, str]] = made.chunk_indices(_LONE.sub("\ufffd", text))
        return [(start, start + len(chunk)) for start, chunk in found]

    return spans


def _recursive(
    size: int,
    overlap: int,
    measure: Callable[[str], int],
    separators: Sequence[str] | None = None,
) -> Splitter:
    """LangChain's splitter with exact offsets, which it does not give for repeated text.

    What it does depends on its separators and on lengths alone. So the text is split twice: as
    it is, while the lengths measured are noted; then with every character but white space
    replaced by one that occurs nowhere else, while the same lengths are returned again. The second
    time the chunk itself has a unique position.

    Args:
        size: most of a chunk, as ``measure`` counts.
        overlap: of two chunks, at most.
        measure: length of a text.
        separators: where to cut, what is tried first in front: white space and keys of
            ``_STOPS``; None for LangChain's.
    """
    library = require("langchain_text_splitters", extra="eval")

    def chunks(text: str, length: Callable[[str], int], *, disguised: bool) -> list[str]:
        patterns = [_pattern(each) for each in separators or ()] if disguised else separators
        made: Any = library.RecursiveCharacterTextSplitter(
            chunk_size=size,
            chunk_overlap=overlap,
            length_function=length,
            separators=list(patterns or ()) or None,
            is_separator_regex=disguised,
        )
        found: list[str] = made.split_text(text)
        return found

    def spans(text: str) -> list[Span]:
        lengths: list[int] = []

        def noted(part: str) -> int:
            lengths.append(measure(part))
            return lengths[-1]

        chunks(text, noted, disguised=False)
        again = iter(lengths)
        disguise = _disguised(text)
        return list(_places(disguise, chunks(disguise, lambda part: next(again), disguised=True)))

    return spans


def _disguised(text: str) -> str:
    """White space as it is, all else unlike anything within 32,000 of its kind."""
    letters = cycle(_FRESH)
    stops = {stop: cycle(those) for stop, those in _STOPS.items()}
    return "".join(
        letter if letter.isspace() else chr(next(stops.get(letter, letters))) for letter in text
    )


def _pattern(separator: str) -> str:
    """A regular expression for a separator in a disguised text."""
    those = _STOPS.get(separator)
    return f"[{chr(those[0])}-{chr(those[-1])}]" if those else separator


def _places(text: str, chunks: Sequence[str]) -> Iterator[Span]:
    """Spans of the chunks of a disguised text; ascending, since chunks never go back."""
    start = 0
    for chunk in chunks:
        if not chunk.isspace():  # with chunks of one character white space is one as well
            start = text.index(chunk, start)
            yield start, start + len(chunk)


@lru_cache(maxsize=1)
def word_pieces() -> Callable[[str], int]:
    """Counts the tokens of a text as the shipped model reads it."""
    from milepost.engine import find_model
    from milepost.engine.tokenizer import Tokenizer

    folder = find_model()
    tokenizer = Tokenizer(folder.tokenizer, folder.manifest.bos_token, folder.manifest.landmark)

    @lru_cache(maxsize=1 << 16)  # most of what the splitter measures is single words
    def count(text: str) -> int:
        return len(tokenizer.encode([text])[0].ids)

    return count
