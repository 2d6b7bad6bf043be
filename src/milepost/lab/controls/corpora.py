"""Texts made by rule, whose structure is known: controls and toy languages.

Nonsense and brackets are the controls of MonoByte (arXiv 2209.11035): text without meaning, and
text with nothing but nesting. The toy languages share one grammar and no byte, so what carries
over between them is structure. The morphology has held-out pairs of stem and suffix and a known
ceiling. All are ASCII, and the same for the same seed.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost.model.bytes.tokenizer import SENTINEL, SENTINELS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import numpy as np

DEPTH = 8
"""Deepest nesting of brackets."""

LANGUAGES = 4
"""Toy languages that fit into printable ASCII without a shared byte."""

# Each language has so many characters: letters, then the space, then the full stop.
_LETTERS, _ALPHABET = 21, 23
_NOUNS, _VERBS, _ADJECTIVES = 10, 6, 4


def nonsense_word(number: int) -> str:
    """Three digits in base 26, least significant first: 0 aaa, 1 baa, 26 aba, 676 aab."""
    letters = string.ascii_lowercase
    return letters[number % 26] + letters[number // 26 % 26] + letters[number // 676 % 26]


def nonsense(size: int, seed: int = 0) -> bytes:
    """At least ``size`` bytes of paragraphs: 10±3 sentences of 10±5 words out of 15 drawn ones.

    Which 15 of 5,000 words a sentence draws from is all that can be learned.
    """
    rng = _generator(seed)
    parts: list[str] = []
    held = 0
    while held < size:
        sentences = []
        for _ in range(int(rng.integers(7, 14))):
            words = (nonsense_word(number) for number in _few(rng, 5000))
            sentences.append(" ".join(words) + ".")
        parts.append(" ".join(sentences) + "\n")
        held += len(parts[-1])
    return "".join(parts).encode()


def brackets(size: int, seed: int = 0) -> bytes:
    """At least ``size`` bytes of nested pairs ``a … A``, at most ``DEPTH`` deep, a row a line."""
    rng = _generator(seed)
    letters = string.ascii_lowercase
    rows: list[str] = []
    held = 0
    while held < size:
        row = (letters[n] if opens else letters[n].upper() for n, opens in _nested(rng, 26))
        rows.append("".join(row) + ".\n")
        held += len(rows[-1])
    return "".join(rows).encode()


def nonsense_symbols(count: int, kinds: int, seed: int = 0) -> list[int]:
    """Sentences as ``nonsense`` has them of so many kinds of words, one behind the other.

    Args:
        count: symbols.
        kinds: of symbols, 0 to ``kinds - 1``.
        seed: of the draw.
    """
    rng = _generator(seed)
    found: list[int] = []
    while len(found) < count:
        found += _few(rng, kinds)
    return found[:count]


def bracket_symbols(count: int, kinds: int, seed: int = 0) -> list[int]:
    """Rows as ``brackets`` has them, one behind the other: n is closed by ``n + kinds // 2``.

    Args:
        count: symbols.
        kinds: of symbols, at least 2; where they are odd the last is none.
        seed: of the draw.
    """
    rng = _generator(seed)
    pairs = kinds // 2
    found: list[int] = []
    while len(found) < count:
        found += [n if opens else n + pairs for n, opens in _nested(rng, pairs)]
    return found[:count]


def balanced(row: str) -> bool:
    """Whether every letter is closed by its own capital, in the right order."""
    stack: list[str] = []
    for character in row:
        if character.islower():
            stack.append(character)
        elif character.isupper() and (not stack or stack.pop() != character.lower()):
            return False
    return not stack


def permuted(data: bytes, seed: int = 0) -> bytes:
    """The same text with its bytes renamed by one permutation: nothing shared but structure.

    Only bytes under the marks of gaps are renamed, among themselves.
    """
    import numpy as np

    usable = SENTINEL - SENTINELS + 1 - 3
    table = np.arange(256, dtype=np.uint8)
    table[:usable] = _generator(seed + 7919).permutation(usable)
    return table[np.frombuffer(data, np.uint8)].tobytes()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a toy language.

    Attributes:
        text: with its full stop.
        agrees: whether subject and verb have the same number.
    """

    text: str
    agrees: bool


class ToyLanguage:
    """A language of one grammar: subject, sometimes a phrase in between, verb, object.

        subject phrase? verb object .       noun = stem + number, verb = stem + number

    The verb agrees with the subject, not with the noun in between. Words are drawn with the
    frequencies of Zipf's law. All languages have the same grammar and, letter by letter, the same
    words: language 1 is language 0 in other characters.

    Args:
        number: which alphabet, from 0 to 3.
    """

    def __init__(self, number: int) -> None:
        if not 0 <= number < LANGUAGES:
            raise InputError(f"there is no toy language {number}", f"0 to {LANGUAGES - 1}")
        first = 33 + _ALPHABET * number
        letters = [chr(first + n) for n in range(_LETTERS)]
        self.space, self.stop = chr(first + _LETTERS), chr(first + _LETTERS + 1)
        rng = _generator(1)  # the same words in every language
        stems: list[str] = []
        while len(stems) < _NOUNS + _VERBS + _ADJECTIVES:
            # Consonant and vowel by turns, from the same places of every alphabet.
            stem = "".join(
                letters[int(rng.integers(5)) if place % 2 else 5 + int(rng.integers(14))]
                for place in range(int(rng.integers(3, 6)))
            )
            if stem not in stems:
                stems.append(stem)
        self.nouns, self.verbs = stems[:_NOUNS], stems[_NOUNS : _NOUNS + _VERBS]
        self.adjectives = stems[_NOUNS + _VERBS :]
        self.numbers = (letters[19], letters[20])
        self.number = number

    def sentence(self, rng: np.random.Generator, *, agrees: bool = True) -> Sentence:
        """One sentence, drawn; where it does not agree the verb has the other number."""
        count = int(rng.integers(2))
        words = [*self._nominal(rng, count)]
        if rng.random() < 0.25:
            # A noun of the other number stands in between: the nearest noun misleads.
            words += self._nominal(rng, 1 - count)
        verb = self.verbs[_zipf(rng, _VERBS)] + self.numbers[count if agrees else 1 - count]
        words += [verb, *self._nominal(rng, int(rng.integers(2)))]
        return Sentence(self.space.join(words) + self.stop, agrees)

    def text(self, size: int, seed: int = 0, without: Collection[str] = ()) -> bytes:
        """At least ``size`` bytes of sentences, all of them well formed and none of ``without``."""
        rng = _generator(seed)
        parts: list[str] = []
        held = 0
        while held < size:
            sentence = self.sentence(rng).text
            if sentence not in without:
                parts.append(sentence)
                held += len(sentence)
        return "".join(parts).encode()

    def _nominal(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        if rng.random() < 0.3:
            yield self.adjectives[_zipf(rng, _ADJECTIVES)]
        yield self.nouns[_zipf(rng, _NOUNS)] + self.numbers[count]


@dataclass(frozen=True, slots=True)
class Morphology:
    """Text of stems and suffixes, some pairs of which occur in the test only.

    Attributes:
        train: text without a held-out pair.
        test: documents with them.
        held_out: the words that only the test has.
        ceiling: share of words that the best guess gets right: the suffix follows from the word
            before, the stem's successor comes with this probability.
    """

    train: tuple[str, ...]
    test: tuple[str, ...]
    held_out: frozenset[str]
    ceiling: float


def morphology(
    size: int, seed: int = 0, *, stems: int = 40, suffixes: int = 10, sure: float = 0.8
) -> Morphology:
    """Draw a morphology and its texts.

    After stem i comes stem next(i) with probability ``sure``, else any other; after suffix j comes
    suffix j + 1. Of all pairs a fifth is held out; training text begins a new sentence where one
    would come.

    Args:
        size: bytes of training text, about; the test has a fifth of it.
        seed: of everything.
        stems: how many, of 2 to 5 letters, at most 1,000.
        suffixes: how many, of 1 to 3 letters, at most 100.
        sure: see above.
    """
    rng = _generator(seed)
    # Two alphabets, so that no word can be read in two ways; lengths differ, so that no fixed
    # stride falls on the document_offsets.
    roots = _drawn(rng, stems, string.ascii_lowercase[:16], (2, 5))
    ends = _drawn(rng, suffixes, string.ascii_lowercase[16:], (1, 3))
    following = rng.permutation(stems)
    pairs = rng.permutation(stems * suffixes)[: stems * suffixes // 5]
    hidden = {(int(pair) // suffixes, int(pair) % suffixes) for pair in pairs}

    def document(length: int, *, held_out: bool) -> str:
        words: list[str] = []
        held = 0
        root, end = int(rng.integers(stems)), int(rng.integers(suffixes))
        while held < length:
            if not held_out and (root, end) in hidden:
                if words and words[-1] != ".":
                    words.append(".")
                root, end = int(rng.integers(stems)), int(rng.integers(suffixes))
                continue
            words.append(roots[root] + ends[end])
            held += len(words[-1]) + 1
            goes = rng.random() < sure
            other = int(rng.integers(1, stems))
            root = int(following[root]) if goes else int((following[root] + other) % stems)
            end = (end + 1) % suffixes
        return " ".join(words)

    share = 2000
    train = tuple(document(share, held_out=False) for _ in range(max(1, size // share)))
    test = tuple(document(share, held_out=True) for _ in range(max(1, size // share // 5)))
    words = frozenset(roots[root] + ends[end] for root, end in hidden)
    return Morphology(train, test, words, sure)


def _few(rng: np.random.Generator, kinds: int) -> list[int]:
    """The words of a sentence: 10±5 out of 15 drawn ones."""
    few = rng.integers(0, kinds, 15).tolist()
    count = int(rng.integers(5, 16))
    return [few[n] for n in rng.integers(0, 15, count)]


def _nested(rng: np.random.Generator, pairs: int) -> Iterator[tuple[int, bool]]:
    """A row of brackets: which pair, and whether it is opened."""
    stack: list[int] = []
    length, done = int(rng.integers(20, 81)), 0
    while stack or done < length:
        opens = done < length and len(stack) < DEPTH and (not stack or rng.random() < 0.5)
        if opens:
            stack.append(int(rng.integers(pairs)))
        yield (stack[-1] if opens else stack.pop()), opens
        done += 1


def _drawn(
    rng: np.random.Generator, count: int, letters: str, lengths: tuple[int, int]
) -> list[str]:
    """So many different strings of these letters, of lengths from the first to the second."""
    found: dict[str, None] = {}
    while len(found) < count:
        length = int(rng.integers(lengths[0], lengths[1] + 1))
        found["".join(letters[int(n)] for n in rng.integers(0, len(letters), length))] = None
    return list(found)


def _zipf(rng: np.random.Generator, count: int) -> int:
    """A number under ``count``; n comes with a weight of 1 / (n + 1)."""
    import numpy as np

    weights = 1 / np.arange(1, count + 1)
    return int(np.searchsorted(np.cumsum(weights / weights.sum()), rng.random(), side="right"))


def _generator(seed: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(seed)
