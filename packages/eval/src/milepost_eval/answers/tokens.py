"""Length in tokens, and the beginning and end of a text that take so many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milepost.engine.tokenizer import Tokenizer

if TYPE_CHECKING:
    from milepost.engine.folder import ModelFolder


class TokenCounter:
    """Counts the tokens of one tokenizer, so that all systems are measured alike.

    Args:
        tokenizer: of a Milepost model. The language model's own may count somewhat more or less;
            it is not known.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @classmethod
    def of(cls, folder: ModelFolder) -> TokenCounter:
        """The counter of a model folder; its network is not loaded."""
        manifest = folder.manifest
        return cls(Tokenizer(folder.tokenizer, manifest.bos_token, manifest.landmark))

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return len(self._tokenizer.count([text])[0][0])

    def head(self, text: str, most: int) -> str:
        """The longest beginning of whole words that takes at most ``most`` tokens."""
        tokens = self._tokenizer.encode([text])[0]
        if len(tokens.ids) <= most:
            return text
        for kept in range(most, 0, -1):
            end, following = tokens.ends[kept - 1], tokens.starts[kept]
            # A part of a text may be divided otherwise than the whole, so it is counted again.
            if not _inside_word(text, end, following) and self.count(text[:end]) <= most:
                return text[:end]
        return ""

    def tail(self, text: str, most: int) -> str:
        """The longest end of whole words that takes at most ``most`` tokens."""
        tokens = self._tokenizer.encode([text])[0]
        if len(tokens.ids) <= most:
            return text
        for first in range(len(tokens.ids) - most, len(tokens.ids)):
            end, start = tokens.ends[first - 1], tokens.starts[first]
            if not _inside_word(text, end, start) and self.count(text[start:]) <= most:
                return text[start:]
        return ""


def _inside_word(text: str, end: int, start: int) -> bool:
    """Whether a token that ends at ``end`` and the next, from ``start``, are parts of one word.

    Letters without case (Chinese, Thai) side by side may be parted: spaces do not show their words.
    """
    pair = text[end - 1 : end] + text[start : start + 1]
    cased = all(each.isdigit() or each.lower() != each.upper() for each in pair)
    return end >= start and len(pair) == 2 and cased
