"""Split a text into sentences with their token ids, and cut over-long sentences."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

from milepost.documents import split
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows import cut
from milepost.errors import InputError
from milepost.table_rows import Tables
from milepost.types import Document, Span

# Sentences tokenised at a time: enough for the tokenizer's threads, yet little memory.
_BLOCK = 2048
# Mean letters per token where the tokenizer knows only single letters, and where it knows whole
# words (English: 4 to 5).
_LETTERS_UNKNOWN, _LETTERS_KNOWN = 1.25, 3.0


@dataclass(frozen=True, slots=True)
class Read:
    """A text as tokens: their ids, the span and the vocabulary coverage of each sentence."""

    ids: list[array[int]] = field(default_factory=list)  # a list would take nine times the memory
    spans: list[Span] = field(default_factory=list)
    vocab_coverage: list[float] = field(default_factory=list)


def read_sentences(
    tokenizer: Tokenizer,
    longest: int,
    text: str | Document,
    spans: Sequence[Span] | None = None,
    token_starts: list[array[int]] | None = None,
) -> Read:
    """Split a text into sentences, cut those over ``longest`` tokens, and tokenize them.

    The block boundaries of a document are respected. ``spans``, ascending and disjoint, stand in
    place of sentences. To ``token_starts`` the start offsets of each sentence's tokens are
    appended.
    """
    tables = Tables(text.text, text.marks) if isinstance(text, Document) else None
    blocks = text.blocks if isinstance(text, Document) else ()
    text = text.text if isinstance(text, Document) else text
    edges = [0, *chain.from_iterable(() if spans is None else spans), len(text)]
    if any(low > high for low, high in pairwise(edges)):
        raise InputError(f"spans leave the {len(text)} characters, or cross", "ascending spans")
    read = Read()
    sentences = split(text, blocks) if spans is None else spans
    for at in range(0, len(sentences), _BLOCK):
        block = sentences[at : at + _BLOCK]
        counted = tokenizer.count([text[start:end] for start, end in block])
        for (start, end), (ids, tokens, letters) in zip(block, counted, strict=True):
            if len(ids) > longest or token_starts is not None:
                _read_exactly(read, tokenizer, longest, text[start:end], start, token_starts)
            else:
                read.ids.append(array("i", ids))
                read.spans.append((start, end))
                read.vocab_coverage.append(vocab_coverage(tokens, letters))
    if tables is not None and token_starts is None:
        _read_rows(read, tokenizer, longest, tables)
    return read


def _read_rows(read: Read, tokenizer: Tokenizer, longest: int, tables: Tables) -> None:
    """Read rows of tables with the names of their columns, unless that makes them too long."""
    rows = [(n, row) for n, span in enumerate(read.spans) if (row := tables.row(*span))]
    for at in range(0, len(rows), _BLOCK):
        block = rows[at : at + _BLOCK]
        for (number, _), (ids, _, _) in zip(
            block, tokenizer.count([row for _, row in block]), strict=True
        ):
            if len(ids) <= longest:
                read.ids[number] = array("i", ids)


def _read_exactly(
    read: Read,
    tokenizer: Tokenizer,
    longest: int,
    sentence: str,
    start: int,
    token_starts: list[array[int]] | None,
) -> None:
    """Add a sentence whose token offsets are needed, to cut it or to return them."""
    tokens = tokenizer.encode([sentence])[0]
    cuts = cut(sentence, tokens.starts, tokens.ends, longest)
    first = [0, *cuts]
    last = [*cuts, len(tokens.ids)]
    edges = [start, *(start + tokens.starts[n] for n in cuts), start + len(sentence)]
    for a, b, low, high in zip(first, last, edges, edges[1:], strict=False):
        piece = tokens.ids[a:b], tokens.starts[a:b], tokens.ends[a:b]
        read.ids.append(array("i", piece[0]))
        read.spans.append((low, high))
        read.vocab_coverage.append(vocab_coverage(*tokenizer.letters(sentence, *piece)))
        if token_starts is not None:
            token_starts.append(array("q", [start + n for n in piece[1]]))


def vocab_coverage(tokens: int, letters: int) -> float:
    """Scale the mean letters per token to 0–1; see ``Landmarks.vocab_coverage``."""
    if not tokens:
        return 1.0
    mean = letters / tokens
    return min(1.0, max(0.0, (mean - _LETTERS_UNKNOWN) / (_LETTERS_KNOWN - _LETTERS_UNKNOWN)))
