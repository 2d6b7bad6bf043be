"""Tokenize sentences with offsets; special tokens that occur in a text are read as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.encoder.engine.words import Seen, Words, divides_words
from milepost.errors import ModelError
from milepost.wording import whole

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as Backend


@dataclass(frozen=True, slots=True)
class Tokens:
    """One sentence as tokens: ``ids[i]`` covers characters ``starts[i] … ends[i] - 1`` of it."""

    ids: list[int]
    starts: list[int]
    ends: list[int]


class Tokenizer:
    """A Hugging Face ``tokenizer.json``, without truncation, padding and special tokens.

    One in memory is changed. ``bos_token`` opens a window, ``landmark`` closes a sentence; their
    ids, and that of the token for unknown characters, are None for none.

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
        # Tokens of byte-level and sentencepiece tokenizers include the white space before a word,
        # WordPiece tokens never do.
        self._holds_space = _holds_space(backend)
        self._words = Words(self._count) if divides_words(backend) else None

    def _id(self, name: str, token: str) -> int:
        number: int | None = self._backend.token_to_id(token)
        if number is None:
            raise ModelError(f"{name} has no token {token!r}", "correct milepost.json of the model")
        return number

    def encode(self, sentences: Sequence[str]) -> list[Tokens]:
        """Tokenize each sentence; a sentence of only white space has no tokens.

        White space around a sentence is ignored, and the span of a token excludes leading white
        space.
        """
        clean = [*map(whole, sentences)]
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
        """Count, for each sentence: token ids, number of tokens with letters, number of letters.

        An unknown token counts as a token but adds no letters. With BERT's tokenizer this is much
        faster than ``encode``, because each distinct word is tokenized once.
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
        """Count tokens with letters, and their letters, among some of a sentence's tokens."""
        tokens = known = 0
        for number, start, end in zip(ids, starts, ends, strict=True):
            word = text[start:end]
            # Vowel signs of Thai or Hindi are not letters, but words contain them.
            letters = len(word) if word.isalpha() else sum(map(str.isalpha, word))
            if letters:
                tokens += 1
                known += letters if number != self.unknown else 0
        return tokens, known

    def _backend_encode(self, sentences: Sequence[str]) -> list[Encoding]:
        found: list[Encoding] = self._backend.encode_batch(sentences, add_special_tokens=False)
        return found

    def _plain(self, sentence: str, encoding: Encoding) -> Tokens:
        """Return the tokens of an encoding, free of the BOS token and the landmark."""
        ids: list[int] = encoding.ids
        if self.landmark in ids or self.bos_id in ids:
            return self._apart(sentence, encoding)
        offsets = encoding.offsets
        return Tokens(ids, [a for a, _ in offsets], [b for _, b in offsets])

    def _apart(self, sentence: str, encoding: Encoding) -> Tokens:
        """Tokenize a text in which a literal "</s>" became the special token of that name.

        Unigram matches special tokens like any other piece of its vocabulary, so such a piece is
        tokenized letter by letter instead.
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
    # Some byte-level tokenizers trim offsets but still give tokens to the outer white space.
    return len(two.ids) != 2 * len(one.ids) or any(
        start < end and start in (0, 2) for start, end in two.offsets
    )


def _without_space(tokens: Tokens, sentence: str, whole: str) -> Tokens:
    """Map offsets in the stripped ``sentence`` to ``whole``, and skip leading white space."""
    margin = len(whole) - len(whole.lstrip())
    starts, ends = [], []
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        word = sentence[start:end].lstrip()
        # A token of only white space keeps its span.
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
