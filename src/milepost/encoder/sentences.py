"""A text as sentences with their token ids; over-long ones are cut."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from milepost.engine.tokenizer import Tokenizer
from milepost.text import split
from milepost.types import Document, Span
from milepost.windows import cut

# Sentences tokenised at a time: enough for the tokenizer's threads, too few to show in memory.
_BLOCK = 2048
# Letters a token holds on average where the tokenizer knows nothing but single letters, and
# where it knows whole words (English: 4 to 5).
_LETTERS_UNKNOWN, _LETTERS_KNOWN = 1.25, 3.0


@dataclass(frozen=True, slots=True)
class Read:
    """A text after tokenisation.

    Attributes:
        ids: token ids of each sentence.
        spans: its start and end.
        vocab_coverage: see ``Landmarks.vocab_coverage``.
    """

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
    """Sentences, over-long ones cut, with their token ids.

    Args:
        tokenizer: the model's.
        longest: tokens of a sentence, at most.
        text: a string, or a document, whose known offsets are then respected.
        spans: what is to stand in the place of sentences, ascending and apart.
        token_starts: where each token of each sentence starts in the text is added to it.
    """
    blocks = text.blocks if isinstance(text, Document) else ()
    text = text.text if isinstance(text, Document) else text
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
    return read


def _read_exactly(
    read: Read,
    tokenizer: Tokenizer,
    longest: int,
    sentence: str,
    start: int,
    token_starts: list[array[int]] | None,
) -> None:
    """Add a sentence whose tokens' places matter: to cut it, or to be told."""
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
    """See ``Landmarks.vocab_coverage``: letters a token, between letter by letter and words."""
    if not tokens:
        return 1.0
    mean = letters / tokens
    return min(1.0, max(0.0, (mean - _LETTERS_UNKNOWN) / (_LETTERS_KNOWN - _LETTERS_UNKNOWN)))
