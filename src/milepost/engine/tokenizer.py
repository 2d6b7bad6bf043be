"""Sentences to token ids with offsets; special tokens written in a text stay text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.engine.words import Seen, Words, divides_words
from milepost.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as Backend


_LONE = re.compile(r"[\ud800-\udfff]")
"""Half a pair of surrogates: no character, so the tokenizer would refuse the whole text."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """One sentence as tokens: ``ids[i]`` covers characters ``starts[i] … ends[i] - 1`` of it."""

    ids: list[int]
    starts: list[int]
    ends: list[int]


class Tokenizer:
    """A Hugging Face ``tokenizer.json``, without truncation, padding and special tokens.

    Args:
        source: the ``tokenizer.json``, or a tokenizer in memory, which is changed.
        bos_token: the token that opens a window; empty for none.
        landmark: the token that closes a sentence.

    Attributes:
        bos_token: its id, None for none.
        landmark: its id.
        unknown: id of the token for unknown characters, None for none.

    Raises:
        ModelError: the file is damaged or lacks one of the tokens.
    """

    def __init__(self, source: Path | Backend, bos_token: str, landmark: str) -> None:
        backend = _loaded(source) if isinstance(source, Path) else source
        name = str(source) if isinstance(source, Path) else "the tokenizer"
        backend.no_truncation()
        backend.no_padding()
        # Without this a literal "[SEP]" in a document would become a landmark.
        backend.encode_special_tokens = True
        self._backend = backend
        self.bos_id = self._id(name, bos_token) if bos_token else None
        self.landmark = self._id(name, landmark)
        unknown = backend.token_to_id("[UNK]")
        self.unknown: int | None = backend.token_to_id("<unk>") if unknown is None else unknown
        # Byte-level and sentencepiece tokens hold the white space before their word, WordPiece's
        # never do.
        self._holds_space = _holds_space(backend)
        self._words = Words(self._count) if divides_words(backend) else None

    def _id(self, name: str, token: str) -> int:
        number: int | None = self._backend.token_to_id(token)
        if number is None:
            raise ModelError(f"{name} has no token {token!r}", "correct milepost.json of the model")
        return number

    def encode(self, sentences: Sequence[str]) -> list[Tokens]:
        """Tokens of each sentence; a sentence of white space alone has none.

        White space around a sentence is not part of it, and none at the start of a token is part
        of what the token covers.
        """
        clean = [_LONE.sub("\ufffd", sentence) for sentence in sentences]
        if not self._holds_space:
            return [
                self._plain(sentence, encoding)
                for sentence, encoding in zip(clean, self._backend_encode(clean), strict=True)
            ]
        bare = [sentence.strip() for sentence in clean]
        return [
            _without_space(self._plain(inner, encoding), inner, whole)
            for whole, inner, encoding in zip(clean, bare, self._backend_encode(bare), strict=True)
        ]

    def count(self, sentences: Sequence[str]) -> Sequence[Seen]:
        """Token ids of each sentence, how many of them have letters, and how many letters.

        A token for what the tokenizer does not know counts among the tokens and brings no letters.
        Much faster than ``encode`` under BERT's tokenizer, which is asked for each word once.
        """
        return self._words.encode(sentences) if self._words else self._count(sentences)

    def _count(self, sentences: Sequence[str]) -> list[Seen]:
        return [
            (tokens.ids, *self.letters(sentence, tokens.ids, tokens.starts, tokens.ends))
            for sentence, tokens in zip(sentences, self.encode(sentences), strict=True)
        ]

    def letters(
        self, text: str, ids: Sequence[int], starts: Sequence[int], ends: Sequence[int]
    ) -> tuple[int, int]:
        """The counts of ``count`` for some of a sentence's tokens."""
        tokens = known = 0
        for number, start, end in zip(ids, starts, ends, strict=True):
            word = text[start:end]
            # Vowel signs of Thai or Hindi are not letters, but a word of them is a word.
            letters = len(word) if word.isalpha() else sum(map(str.isalpha, word))
            if letters:
                tokens += 1
                known += letters if number != self.unknown else 0
        return tokens, known

    def _backend_encode(self, sentences: Sequence[str]) -> list[Encoding]:
        found: list[Encoding] = self._backend.encode_batch(sentences, add_special_tokens=False)
        return found

    def _plain(self, sentence: str, encoding: Encoding) -> Tokens:
        """Tokens of an encoding, none of them the BOS token or the landmark."""
        ids: list[int] = encoding.ids
        if self.landmark in ids or self.bos_id in ids:
            return self._apart(sentence, encoding)
        offsets = encoding.offsets
        return Tokens(ids, [a for a, _ in offsets], [b for _, b in offsets])

    def _apart(self, sentence: str, encoding: Encoding) -> Tokens:
        """Tokens where a text's own "</s>" came out as the special token of that name.

        Unigram finds special tokens in its vocabulary like any other piece, so such a piece is
        read letter by letter.
        """
        tokens = Tokens([], [], [])
        for number, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            parts = [(number, start, end)]
            if number in (self.landmark, self.bos_id):
                parts = [
                    (piece, at + a, at + b)
                    for at, letter in enumerate(sentence[start:end], start)
                    for one in self._backend_encode([letter])
                    for piece, (a, b) in zip(one.ids, one.offsets, strict=True)
                ]
            for piece, a, b in parts:
                tokens.ids.append(piece)
                tokens.starts.append(a)
                tokens.ends.append(b)
        return tokens


def _holds_space(backend: Backend) -> bool:
    one, two = (backend.encode(text, add_special_tokens=False) for text in ("a", " a a \n"))
    # Some byte-level files trim the places and still have tokens for the margins.
    return len(two.ids) != 2 * len(one.ids) or any(
        start < end and start in (0, 2) for start, end in two.offsets
    )


def _without_space(tokens: Tokens, sentence: str, whole: str) -> Tokens:
    """Places in ``whole`` of what was found in ``sentence``, which is it without its margins."""
    margin = len(whole) - len(whole.lstrip())
    starts, ends = [], []
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        word = sentence[start:end].lstrip()
        # A token of white space alone covers it all the same.
        starts.append(margin + (end - len(word) if word else start))
        ends.append(margin + end)
    return Tokens(tokens.ids, starts, ends)


def _loaded(path: Path) -> Backend:
    from tokenizers import Tokenizer as Loader

    try:
        backend: Backend = Loader.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"{path} is not a tokenizer: {error}", "reinstall the model") from error
    return backend
