"""Join the end of a printed line to the start of the next: a space, nothing, or no hyphen.

"hyphen-" + "ation"   → "hyphenation"      removed: the line break made it
"self-" + "contained" → "self-contained"   kept: the text has it elsewhere
"EIP-" + "155"        → "EIP-155"          kept before digits and capitals
"Vor- und" at a break → "Vor- und"         a hyphen in place of a missing word
"最低" + "限度"        → "最低限度"           scripts without spaces
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

HYPHENS = "-\u2010\u2011"
_SUSPENDED = {"and", "or", "to", "und", "oder", "bzw", "sowie", "bis", "et", "ou", "y", "o", "e"}
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*")
_LAST = re.compile(r"([^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*)[-\u2010\u2011]$")
_ADDRESS = re.compile(r"(?:https?:/|www\.)\S*[/\-_.=&?%]$|[\w.-]@$")
_ENDING = re.compile(
    "(?:ally|[ai]ble|[ae]nces?|arie?s|ation(?:al|s)?|[aei]r?ies|ed|edly|ful(?:ly)?|hood|[ia]l?i[sz]\\w+"
    "|ingl?y?s?|ions?|ities|ity|less|ly|ments?|ness(?:es)?|ously?|ships?|tions?|tive(?:ly)?|wards?)"
)
_DASHES = "–—"
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u31c0-\u9fff\uf900-\ufaff\ufe30-\ufe4f"
    "\uff01-\uff60\uffe0-\uffe6\U00020000-\U0003ffff]"
)


class LineJoiner:
    """Join the lines of one document, using counts of all its words."""

    def __init__(self, lines: Iterable[str]) -> None:
        """Count the words, hyphenated ones as one, without those cut by a line break."""
        texts = list(lines)
        words = _WORD.findall("\n".join(texts))
        self._words = Counter(_plain(" ".join(words)).split(" "))
        broken = False  # after a hyphen: then the first word of the line is the rest of another
        for text in texts:
            whole = not text or text[-1] not in HYPHENS
            if broken or not whole:
                words = _WORD.findall(text)
                if broken and _WORD.match(text):
                    self._words[_plain(words.pop(0))] -= 1
                if words and not whole and _WORD.match(text, len(text.rstrip(HYPHENS)) - 1):
                    self._words[_plain(words[-1])] -= 1
            broken = not whole

    def join(self, before: str, after: str) -> tuple[int, str]:
        """Number of characters to drop from the end of ``before``, and the text between the two."""
        if _UNSPACED.match(before[-1]) and _UNSPACED.match(after[0]):
            return 0, ""
        if _ADDRESS.search(before.rsplit(" ", 1)[-1]):
            return 0, ""
        if before[-1] in HYPHENS and len(before) > 1 and not before[-2].isspace():
            return self._hyphen(before, after)
        if before[-1] in _DASHES and before[-2:-1].isalnum() and after[0].isalnum():
            # "2018–" + "23", "work—" + "which"; but "2018–" + "today" is ambiguous: a space.
            return 0, "" if before[-1] == "—" or after[0].isdigit() else " "
        return 0, " "

    def _hyphen(self, before: str, after: str) -> tuple[int, str]:
        left, right = _LAST.search(before), _WORD.match(after)
        if right and _plain(right[0]) in _SUSPENDED:
            return 0, " "
        if left is None or right is None:
            return 0, "" if before[-2].isalnum() and after[0].isalnum() else " "
        head, tail = _plain(left[1]), _plain(right[0])
        whole, parted = self._words[head + tail], self._words[f"{head}-{tail}"]
        if not right[0][0].islower():  # "Porto-" + "Novo", but "state-" + "Root" in a text
            return (1, "") if whole and not parted else (0, "")  # that writes "stateRoot"
        if whole or parted:
            return (1, "") if whole > parted else (0, "")
        # Neither occurs elsewhere: a compound if both halves are words of this text.
        last, first = head.rsplit("-", 1)[-1], tail.split("-", 1)[0]
        # "human-" + "readable": never seen whole, but no ending that hyphenation leaves.
        word = self._words[first] or (left[1].islower() and not _ENDING.fullmatch(first))
        compound = min(len(last), len(first)) >= 4 and self._words[last] and word
        return (0, "") if compound or left[1].isupper() else (1, "")


def _plain(word: str) -> str:
    return word.casefold().replace("\u2010", "-").replace("\u2011", "-")
