"""Sentences to token ids with offsets; special tokens written in a text stay text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from milepost.errors import ModelError

if TYPE_CHECKING:
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
        source: the ``tokenizer.json``, or a tokenizer made in memory (which is changed).
        opening: the token that opens a window.
        landmark: the token that closes a sentence.

    Raises:
        ModelError: the file is damaged or lacks one of the tokens.
    """

    def __init__(self, source: Path | Backend, opening: str, landmark: str) -> None:
        backend = _loaded(source) if isinstance(source, Path) else source
        name = str(source) if isinstance(source, Path) else "the tokenizer"
        backend.no_truncation()
        backend.no_padding()
        # Without this a literal "[SEP]" in a document would become a landmark.
        backend.encode_special_tokens = True
        self._backend = backend
        self.opening = self._id(name, opening)
        self.landmark = self._id(name, landmark)
        unknown = backend.token_to_id("[UNK]")
        self.unknown: int | None = backend.token_to_id("<unk>") if unknown is None else unknown

    def _id(self, name: str, token: str) -> int:
        number: int | None = self._backend.token_to_id(token)
        if number is None:
            raise ModelError(f"{name} has no token {token!r}", "mend milepost.json of the model")
        return number

    def encode(self, sentences: Sequence[str]) -> list[Tokens]:
        """Tokens of each sentence; a sentence of white space alone has none."""
        return [
            Tokens(encoding.ids, [a for a, _ in offsets], [b for _, b in offsets])
            for encoding in self._backend.encode_batch(
                [_LONE.sub("\ufffd", sentence) for sentence in sentences],
                add_special_tokens=False,
            )
            for offsets in (encoding.offsets,)
        ]


def _loaded(path: Path) -> Backend:
    from tokenizers import Tokenizer as Loader

    try:
        backend: Backend = Loader.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise ModelError(f"{path} is no tokenizer: {error}", "reinstall the model") from error
    return backend
