"""WordPiece remembered word by word: the tokenizer's own answers, without asking it twice.

BERT's tokenizer divides a text at white space and marks before anything else, so that the text
between two of them has the same tokens everywhere. Most words of a text have been seen
before, and looking them up is several times faster than the tokenizer. Beside a transformer that
is little; beside a model of static vectors it is half of all time.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Backend

Seen = tuple[Sequence[int], int, int]
"""Token ids of a word, how many of them have letters, how many letters those have together."""

# What BERT's pre-tokenizer cuts off: marks of ASCII, and what Unicode calls punctuation. Those of
# Latin scripts will do: what is left out here only makes longer words, never wrong ones.
_MARKS = re.escape(
    string.punctuation
    + "".join(
        chr(code)
        for code in (*range(0xA1, 0xC0), *range(0x2010, 0x205F))
        if unicodedata.category(chr(code)).startswith("P")
    )
)
_WORD = re.compile(rf"[{_MARKS}]|[^ \t\n\r{_MARKS}]+")
_MOST = 1_000_000  # letters of all words remembered: some 40 MB
_SHIFT = 1 << 32


@dataclass(slots=True)
class _Memory:
    letters: int = 0
    ids: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # Both counts of ``Seen`` in one number, so that a sentence's is a plain sum.
    counts: dict[str, int] = field(default_factory=dict)


class Words:
    """Tokens of sentences, each word asked for once.

    Args:
        ask: tokens of words, by a tokenizer that ``divides_words``.
    """

    def __init__(self, ask: Callable[[Sequence[str]], Iterable[Seen]]) -> None:
        self._ask = ask
        self._memory = _Memory()

    def encode(self, sentences: Sequence[str]) -> list[Seen]:
        """The tokenizer's own result for each sentence."""
        divided = [_WORD.findall(sentence) for sentence in sentences]
        memory = self._knowing(set(chain.from_iterable(divided)))
        ids, counts = memory.ids.__getitem__, memory.counts.__getitem__
        return [
            (
                list(chain.from_iterable(map(ids, words))),
                *divmod(sum(map(counts, words)), _SHIFT),
            )
            for words in divided
        ]

    def _knowing(self, words: set[str]) -> _Memory:
        """A memory that has all these words. Another thread may begin a new one meanwhile."""
        memory = self._memory
        if memory.letters > _MOST:
            memory = self._memory = _Memory()
        new = list(words.difference(memory.counts))
        for word, (ids, tokens, letters) in zip(new, self._ask(new), strict=True):
            memory.ids[word] = tuple(ids)
            memory.counts[word] = tokens * _SHIFT + letters
            memory.letters += len(word)
        return memory


def divides_words(backend: Backend) -> bool:
    """Whether a tokenizer is BERT's, which joins nothing across white space and marks."""
    parts = (backend.model, backend.normalizer, backend.pre_tokenizer)
    kinds = [type(part).__name__ for part in parts]
    # A token that a user has added may have white space and marks in it.
    return kinds == ["WordPiece", "BertNormalizer", "BertPreTokenizer"] and all(
        token.special for token in backend.get_added_tokens_decoder().values()
    )
