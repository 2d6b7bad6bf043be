"""A text without what a quotation may change unnoticed, and for each character where it was.

Folded away: white space, hyphens and dashes, invisible characters, case, the shape of quotation
marks, ligatures and other forms of the same letter, composed and decomposed letters, the marks of
notes, and the signs of markup between the words. What is left is compared character by character;
``gaps.py`` then looks at what was between the characters.

Superscripts, subscripts and fractions are not folded: 10² is not 102.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape

from milepost._numpy import NDArray, np
from milepost.language.patterns import is_dash
from milepost.language.tex import signs_of_tex

_SINGLE = "'`\u00b4\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\uff07"
_DOUBLE = '"\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\u301f\uff02'
# A double quotation mark is two single ones, as in ``TeX''. Persian is also typed with letters of
# Arabic, and with a stroke that only makes words wider.
_SHAPES = {
    **dict.fromkeys(_SINGLE, "'"),
    **dict.fromkeys(_DOUBLE, "''"),
    "\u064a": "\u06cc",
    "\u0643": "\u06a9",
    "\u0640": "",
    "İ": "i",
}

_SIGN, _REST, _EDGE = "\ufdd0", "\ufdd1", "\ufdd2"  # no characters

_NOT_SHOWN = dict.fromkeys(map(ord, (_SIGN, _REST, _EDGE)))

_KEPT_FORMS = {"<super>", "<sub>", "<fraction>", "<circle>"}


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as it is compared.

    Attributes:
        text: as it was.
        letters: its folded characters.
        places: ``(len(letters),)`` int64: the code point of ``text`` that each comes from.
        bare: the text, with ``_SIGN`` in place of each sign of markup, ``_EDGE`` of one of TeX, and
            ``_REST`` behind what is shown for one.
    """

    text: str
    letters: str
    places: NDArray[np.int64]
    bare: str

    def gap(self, at: int) -> str:
        """What the text has between letters ``at`` and ``at + 1``; -1 is its beginning."""
        start = int(self.places[at]) + 1 if at >= 0 else 0
        return self.bare[start : int(self.places[at + 1])].translate(_NOT_SHOWN)

    def notes(self, at: int) -> list[str]:
        """The marks of notes, but for those of Markdown, behind letter ``at``."""
        found = _NOTE.finditer(self.text, int(self.places[at]) + 1, int(self.places[at + 1]))
        return [mark for note in found for mark in re.findall(r"\w+", note[0])]

    def start(self, at: int) -> int:
        """Where in the text letter ``at`` begins, with the signs of TeX directly around it."""
        start = int(self.places[at])
        while start and self.bare[start - 1] == _EDGE:
            start -= 1
        return start

    def end(self, at: int) -> int:
        """Where it ends, with the signs of TeX that close behind it."""
        end = int(self.places[at]) + 1
        while self.bare.startswith((_REST, _EDGE), end):
            if self.bare[end] == _EDGE and self.text[end] in "\\ ":
                break
            end += 1
        return end


@cache
def _folded(character: str) -> str:
    return unicodedata.normalize("NFD", _plain(character).casefold().replace("ı", "i"))


def fold(text: str) -> Folded:
    r"""Fold a text; linear in its length, some 100 ms a million characters.

    >>> fold("The ﬁrst self-\ncontained CELL").letters
    'thefirstselfcontainedcell'
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    if not len(codes):
        return Folded(text, "", np.empty(0, np.int64), text)
    of_tex = [*signs_of_tex(text), *_entities(text)]
    if of_tex:
        codes = codes.copy()
        for start, _, sign in of_tex:
            codes[start] = ord(sign or _EDGE)
    seen = np.zeros(int(codes.max()) + 1, np.bool_)
    seen[codes] = True
    different = np.flatnonzero(seen)
    pieces = [_folded(chr(code)) for code in different.tolist()]
    longest = max(1, *map(len, pieces))
    table = np.zeros((len(pieces), longest), "<u4")
    for row, piece in zip(table, pieces, strict=True):
        row[: len(piece)] = [ord(letter) for letter in piece]
    number = np.zeros(len(seen), np.int64)
    number[different] = np.arange(len(different))
    rows = number[codes]
    sizes = np.array([len(piece) for piece in pieces])[rows]
    places = np.repeat(np.arange(len(codes)), sizes)
    within = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    left_out, bare = list(signs(text)), text
    if left_out or of_tex:
        kept = np.ones(len(codes), np.bool_)
        for start, end in left_out:
            kept[start:end] = False
        shown = np.where(kept, codes, ord(_SIGN)).astype("<u4")  # an address may have dashes
        for start, end, sign in of_tex:
            kept[start + bool(sign) : end] = False
            rest = _REST if sign.strip() else _SIGN if sign else _EDGE
            shown[start + bool(sign) : end] = ord(rest)
        chosen = kept[places]
        places, within = places[chosen], within[chosen]
        bare = shown.tobytes().decode("utf-32-le", "surrogatepass")
    folded = table[rows[places], within]
    letters = folded.tobytes().decode("utf-32-le", "surrogatepass")
    # The letters are decomposed, so this only puts combining marks into their canonical order.
    return Folded(text, unicodedata.normalize("NFD", letters), places, bare)


def unstyled(text: str) -> str:
    """A text folded as ``fold`` does, but for case."""
    return "".join(_plain(character) for character in text)


@lru_cache(maxsize=1 << 12)
def _plain(character: str) -> str:
    if character.isspace() or is_dash(character):
        return ""
    if character in _SHAPES:
        return _SHAPES[character]
    if unicodedata.category(character) in ("Cf", "Cc") or "\ufe00" <= character <= "\ufe0f":
        return ""
    return "".join(
        _SHAPES.get(each, each)
        for each in _forms(character)
        if not (each.isspace() or is_dash(each))
    )


def _forms(character: str) -> str:
    """A character decomposed; forms that mean something else stay."""
    decomposed = unicodedata.decomposition(character).split()
    if not decomposed:
        return unicodedata.normalize("NFD", character)  # Hangul has no table
    if decomposed[0] in _KEPT_FORMS:
        return character
    codes = decomposed[1:] if decomposed[0].startswith("<") else decomposed
    return "".join(_forms(chr(int(code, 16))) for code in codes)


_PREFIX = re.compile(
    r"^[ \t]*((?:>[ \t]?)+|#+|//[/!]?|--+|;+|%+|\*|/\*+"
    r"|(?:\*>|!+|REM|dnl|'|\"|[.']\\\")(?!\w))(?=[ \t\n]|\w|$)",
    re.MULTILINE,
)
# What may not stand before a sign is said behind it: a pattern that begins with signs is fast.
_STARS = re.compile(r"(\*(?<![\w*\\]\*)\*{0,2})(?=[^\s*])[^*]{1,400}?(?<=[^\s*\\])(\1)(?![\w*])")
_LINES = re.compile(r"(_(?<![\w_\\]_)_?)(?=[^\s_])[^_\n]{1,400}?(?<=[^\s_\\])(\1)(?![\w_])")
_TICKS = re.compile(r"(?<!`)(`{1,2})(?![`\s])[^`'\n]{1,200}?(\1)(?!`)")
_LINK = re.compile(r"(!?\[)[^\[\]]{1,400}(\]\((?:[^()\s]*[./:#][^()\s]*)(?:[ \t]+\"[^\"\n]*\")?\))")
_RST_LINK = re.compile(r"(`)[^`<>]{1,400}(\s<[^<>`\s]{1,400}>`_{1,2}(?!\w))")
_REF_LINK = re.compile(r"(?<![\w\])\[])(!?\[)[^\[\]]{1,400}(\]\[(?!\d+\])[^\[\]\n]{0,60}\])")
_ADDRESS = re.compile(r"(<)(?:https?://|mailto:)[^<>\s]{1,400}(>)")
_ORG_LINK = re.compile(
    r"(\[\[(?=[^\[\]\n:][^\[\]\n]{0,400}?[./:#*]|[#*])[^\[\]\n]{1,400}\]\[)[^\[\]]{1,400}(\]\])"
)
_ORG_CODE = r"({0}(?<![^\s(]{0}))(?=[^\s~=\d/?])[^~={1}]{{1,200}}?(?<=\S)({0})(?=[\s.,;:!?)]|$)"
_WIKI_LINK = re.compile(
    r"(\[\[(?<![\w\])\[]\[\[)(?:[^\s\[\]|][^\[\]|\n]{0,200}\|(?!\|)"
    r"|(?=[^\W\d][\w .'#-]{2,200}\])))[^\[\]|\n]{1,400}(\]\])"
)
_WIKI_ADDRESS = re.compile(r"(\[https?://[^\s\[\]<>\"']{1,400}[ ])[^\[\]]{1,400}(\])(?!\()")
_WIKI_FONT = re.compile(r"(''(?<![\w'\\]'')'?)(?=\w)(?:[^'\n]|'(?!')){1,400}?(?<=\S)(\1)(?![\w'])")
_ASCIIDOC_LINK = (
    r"({0}(?<!\w{0})[^\s\[\]<>()|\"'\\]{{1,400}}\[(?=[^\W\d]))[^\[\]]{{1,400}}?(\^?\])(?!\()"
)
_ASCIIDOC_PLACE = re.compile(
    r"(<<(?<![\w<)\]]<<)[^\W\d][^\s,<>]{0,100},\s*)[^<>]{1,400}(>>)(?![>\w])"
)
_RST_ROLE = re.compile(
    r"(:(?<![\w:]:)[A-Za-z][\w:+.-]{0,40}:`)[^`<>]{1,400}?(\s<[^<>`\s]{1,400}>`|`)(?!`)"
)
_ROFF_FONT = re.compile(
    r"(\\f(?:[BIR]|\([A-Z]{2}|\[[A-Z]+\]))(?:[^\n\\]|\\-){1,400}(\\f(?:[RP]|\[[PR]?\]))"
)
_PAIRS = (
    ("*", _STARS),
    ("_", _LINES),
    ("`", _TICKS),
    ("](", _LINK),
    (">`_", _RST_LINK),
    ("][", _REF_LINK),
    ("<", _ADDRESS),
    ("]]", _ORG_LINK),
    ("=", re.compile(_ORG_CODE.format("=", r"\s"))),
    ("~", re.compile(_ORG_CODE.format("~", r"\n"))),
    ("]]", _WIKI_LINK),
    ("[http", _WIKI_ADDRESS),
    ("''", _WIKI_FONT),
    *(
        (sign, re.compile(_ASCIIDOC_LINK.format(sign)))
        for sign in ("http:", "https:", "link:", "xref:")
    ),
    ("<<", _ASCIIDOC_PLACE),
    (":`", _RST_ROLE),
    (r"\f", _ROFF_FONT),
)
"""What a text holds that may have one of the pairs of signs, and its pattern."""
_ESCAPE = re.compile(r"\\(?=[*_#\[\]-]|[`~](?![A-Za-z{\\]))")  # not \\`a of TeX
_ENTITY = re.compile(
    r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});|<[bB][rR][ ]?/?>"
)
_DOTTED = re.compile("[iIıİ][\u0300-\u036f]+")
"""Turkish has i and ı, in capitals İ and I: neither the dot nor its lack counts."""
_TWICE = re.compile(r"'(?<=[^\W\d_]'')(?=[^\W\d_])")  # of don''t, in YAML and SQL
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,40}\]")
_MARK = r"(?:[1-9]\d{0,2}|[a-z]{1,2}\d{1,2}|[a-cf-h])"  # no ending that an editor adds: find[s]
_MARKS = rf"{_MARK}(?:\s?[,;–-]\s?{_MARK})*\]"
_UNIT = r"\s?(?:%|°|degree|second|minute|hour|day|month|year|[cdkmnµ]?[gms]\b)"
_NOTE = re.compile(
    r"\[(?:(?<=[^\W_]{2}\[)|(?<=[.,;!?%)\"”’»。，、」]\[)"
    rf"|(?<=[\w,;%)\"”’»][ ]\[)(?=\d[^\[\]]*\](?!{_UNIT}))){_MARKS}"
    rf"(?:[,–-]?[ ]?\[{_MARKS})*(?![\w(\[])"
)
"""Marks of notes behind words: ``word[3]``, ``word [1, 2]``; "[5] days" are none."""
_TAG = re.compile(
    r"<(/?)(a|abbr|b|cite|code|dfn|em|font|i|ins|kbd|mark|samp|small|span|strong|tt|u|var)"
    r"(?:\s[^<>]{1,400})?>"
)


def signs(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sign of markup that is not part of the words.

    They are the prefixes of lines that go on in a quoted mail or a comment (``>``, ``#``, ``//``),
    and the signs of emphasis, code, links, notes and escapes in Markdown, links and roles in
    reStructuredText, links and code in Org, AsciiDoc and wikis, fonts of manual pages, and HTML
    around words.
    """
    if "\n" in text:
        yield from _prefixes(text)
    for sign, pattern in _PAIRS:
        if sign in text:
            yield from _pairs(pattern, text)
    for sign, pattern in (("\\", _ESCAPE), ("''", _TWICE), ("[^", _FOOTNOTE), ("[", _NOTE)):
        if sign in text:
            yield from (match.span() for match in pattern.finditer(text))
    if "\u0307" in text:
        for match in _DOTTED.finditer(text):
            yield from ((at, at + 1) for at in range(*match.span()) if text[at] == "\u0307")
    if "</" in text:
        yield from _tags(text)


def without_notes(text: str) -> str:
    """A text with white space in place of the marks of notes."""
    return _NOTE.sub(lambda note: " " * len(note[0]), text) if "[" in text else text


def _entities(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start and end of each letter that HTML names, and the letter; a break is a space."""
    for match in _ENTITY.finditer(text) if "&" in text or "<" in text else ():
        letter = unescape(match[0]) if match[0][0] == "&" else " "
        if len(letter) == 1:
            yield *match.span(), letter


def _pairs(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(text):
        if "\n\n" not in match[0]:
            yield match.span(1)
            yield match.span(2)


def _tags(text: str) -> Iterator[tuple[int, int]]:
    begun: list[re.Match[str]] = []
    for match in _TAG.finditer(text):
        if not match[1]:
            begun.append(match)
        while match[1] and begun:
            first = begun.pop()
            if first[2] == match[2]:
                yield first.span()
                yield match.span()
                break


def _prefixes(text: str) -> Iterator[tuple[int, int]]:
    """Yield the prefixes of lines whose line before has the same one."""
    block = "/*" in text
    end, before = -1, ""
    for match in _PREFIX.finditer(text):
        mark = match[1].strip().replace(" ", "").removeprefix("/" if "*" in match[1] else "")
        if mark == "*" and not block:
            continue
        if match.start() == end + 1 and mark[0] == before[:1]:
            yield match.span(1)
        before = mark
        end = text.find("\n", match.end())
        if end < 0:
            return
