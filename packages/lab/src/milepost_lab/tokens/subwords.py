"""A vocabulary of subwords, learned from the documents that the language models learn from.

Byte-level BPE (Sennrich et al. 2016, arXiv 1508.07909; over bytes, so that no text has an unknown
token). Merges stop at the borders of ``split_words``, so every arm is asked for the same words.
White space is therefore a token of its own, where most published vocabularies join one blank to
the word behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from milepost.errors import InputError
from milepost_lab.model.bytes.tokenizer import END, OFFSET, PAD
from milepost_lab.model.bytes.words import split_words
from milepost_lab.tokens.units import Window

_SPECIAL = ("<pad>", "<end>")  # of the same ids as in milepost_lab.model.bytes.tokenizer
_LEAST = len(_SPECIAL) + 256


class Vocabulary:
    """Subwords of training documents.

    Ids 0 and 1 are padding and end, as for bytes; then come all bytes and the merges.

    Args:
        texts: training documents.
        size: ids at most; a small text has fewer different merges.

    Attributes:
        first_bytes: ``(size,)`` int64, of each id the byte id of its first byte (see
            ``milepost_lab.model.bytes.tokenizer``); padding and end are their own.

    Raises:
        InputError: a size that does not hold all bytes.
    """

    def __init__(self, texts: Sequence[str], size: int) -> None:
        if size < _LEAST:
            raise InputError(f"a vocabulary of {size} subwords", f"{_LEAST} or more: all bytes")
        self._tokenizer = Tokenizer(models.BPE())
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(
            add_prefix_space=False, use_regex=False
        )
        trainer = trainers.BpeTrainer(
            vocab_size=size,
            special_tokens=list(_SPECIAL),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        words = (word.text for text in texts for word in split_words(text))
        self._tokenizer.train_from_iterator(words, trainer)
        self.first_bytes = self._first_bytes(size)
        self._ids_of = cache(self._encode)

    def __len__(self) -> int:
        """Ids that are in use."""
        return int(self._tokenizer.get_vocab_size())

    def ids(self, window: Window) -> list[list[int]]:
        """Ids of the subwords of each word of a window, in order."""
        return [self._ids_of(word.text) for word in window.words]

    def places(self, window: Window) -> list[tuple[int, int]]:
        """Of each word of a window its first subword and the one behind its last."""
        return list(pairwise(accumulate(map(len, self.ids(window)), initial=0)))

    def _encode(self, word: str) -> list[int]:
        found: list[int] = self._tokenizer.encode(word).ids
        return found

    def _first_bytes(self, size: int) -> NDArray[np.int64]:
        found = np.full(size, END)
        found[PAD] = PAD
        letters = _bytes_of_letters()
        for token, number in self._tokenizer.get_vocab().items():
            if token not in _SPECIAL:
                found[number] = letters[token[0]] + OFFSET
        return found


def _bytes_of_letters() -> dict[str, int]:
    """The byte that each letter of the byte-level alphabet stands for.

    Bytes that are printable in Latin-1 stand for themselves; the others, in order, are the letters
    from 256 on (Radford et al. 2019, GPT-2's ``bytes_to_unicode``).
    """
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    printable = [letter for letter in letters if ord(letter) < 256]
    taken = {ord(letter) for letter in printable}
    others = [byte for byte in range(256) if byte not in taken]
    known = {letter: ord(letter) for letter in printable}
    return known | dict(zip(letters[len(printable) :], others, strict=True))
