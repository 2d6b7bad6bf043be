"""Read plain text: source code, lightweight markup, logs and any other text file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate, pairwise
from pathlib import PurePath

from milepost.documents.encoding import clean, decode
from milepost.documents.readers.builder import caption_in, labels, table_marks
from milepost.documents.readers.column_names import column_names
from milepost.table_rows import cells_of
from milepost.types import Document, Mark

_SIGN = r"[=\-~^\"'`*+#:.]"
_UNDERLINED = re.compile(
    rf"^(?:(?P<over>({_SIGN})\2{{2,}})[ \t]*\n[ \t]*)?"
    rf"(?P<words>[^\s].*)\n(?P<line>({_SIGN})\5{{2,}})[ \t]*$",
    re.MULTILINE,
)
_EQUAL_SIGNS = re.compile(r"(={1,6})[ \t]+(\S.*)")
_BLOCK = re.compile(r"([-=.*+_/])\1{3,}")
"""A line that opens a block in AsciiDoc, if another one like it closes it."""
_LINE = re.compile(r"^.*$", re.MULTILINE)
_UNDERLINE = re.compile(r"([-=~^+])\1+")
_LINES = "=-~^+"  # by the level of their headings

_SIGNS = {
    ".org": re.compile(r"^(\*{1,6})[ \t]+(\S.*)$", re.MULTILINE),
    ".mediawiki": re.compile(r"^(={1,6})[ \t]*([^\s=].*?)[ \t]*\1[ \t]*$", re.MULTILINE),
    ".pod": re.compile(r"^(=head[1-6])[ \t]+(\S.*)$", re.MULTILINE),
    ".textile": re.compile(r"^(h[1-6])(?:\([^()\n]*\))?\.[ \t]+(\S.*)$", re.MULTILINE),
    ".tex": re.compile(
        r"^[ \t]*\\(part|chapter|(?:sub){0,2}section)\*?(?:\[[^\]\n]*\])?"
        r"\{((?:[^{}\n]|\{[^{}\n]*\})+)\}",
        re.MULTILINE,
    ),
}
"""What headings begin with, by the suffix of the file, and their words."""
_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$~]")

_MAX_HEADING = 110  # maximum characters of a heading; longer lines in capitals are notices
_MIN_CAPITALS = 4  # minimum letters of a heading in capitals; initials have fewer
_MANY_CAPITALS = 10  # of them small letters may be among: "CHANGES SINCE 2.6b, 5 October"
_ENDS = (".", ",", ";", ":", "!", "?")
_BANNER = re.compile(r"[ \t]*(?:[#*=~+/-]+[ \t]+)?(\S.*?)(?:[ \t]+[#*=~+/-]+)?[ \t]*")
"""A line, and the words in a banner: ### LIKE THIS ###."""
_CODE = re.compile(r"[=<>{}_$@\\|]|\w\(|\( |::| {3}")
_NUMBERED = re.compile(
    r"(?:chapter|part|book|section|appendix|act|scene)\s+(?:[ivxlcdm]+|\d+)\b"
    r"(?! (?-i:[a-z]).*[.!?:;]$)",  # "Part 2 of it was lost."
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"^(?<![^\n]\n)((?:\d{1,2}\.)*\d{1,2})\.?[ \t]+[^\W\d_].{2,60}[^\s.,;:!?](?=[ \t]*\n[ \t]*\n)",
    re.MULTILINE,
)
_MIN_COUNTED = 3  # numbered headings of a text; two may be a list

_DRAWN = re.compile(
    r"(?:^[ \t]*\+(?:[-=:]+\+)+[ \t]*(?:\n|\Z)(?:[ \t]*\|.*(?:\n|\Z))*){2,}", re.MULTILINE
)
_ABOVE = 300  # characters above a table in which its caption is looked for
_ROW = re.compile(r"^(?=[^\n]*\S)", re.MULTILINE)
_STRING = re.compile(r'"[^"\\\n]*+(?:\\.?[^"\\\n]*+)*+(?:"|$)')
"""A string of JSON; one that is not closed reaches up to the end of its line."""
_CONTROL = re.compile(r"[\0-\x09\x0b-\x1f]")


def read_plain(data: bytes, name: str, source: str | None) -> Document:
    """Read a text file; its headings are underlined, or numbered or in capitals and alone."""
    text, notes = decode(data, name)
    return Document(name, text, tuple(_headings(text)), source, notes=notes)


def _headings(text: str) -> Iterator[Mark]:
    """Yield underlined lines, and lines between blank lines: "Chapter 3 …" (1), or capitals (2).

    Labels in capitals are left out: the names in front of what is said in a play, for one.
    """
    found = list(_lone_lines(text))
    lone = labels(mark.value for mark in found if mark.level == 2)
    found = [mark for mark in found if mark.level == 1 or mark.value not in lone]
    found += [*_underlined(text, alone=True), *_counted(text)]
    marks = {mark.offset: mark for mark in found}
    yield from (marks[offset] for offset in sorted(marks))


def _counted(text: str) -> Iterator[Mark]:
    """Yield lines between blank lines whose numbers ascend through the text: "2.1 Scope"."""
    lines = list(_COUNTED.finditer(text))
    numbers = [tuple(map(int, line[1].split("."))) for line in lines]
    if len(lines) >= _MIN_COUNTED and all(before < after for before, after in pairwise(numbers)):
        for line, number in zip(lines, numbers, strict=True):
            yield Mark(line.start(), "heading", line[0], min(6, 1 + len(number)))


def _lone_lines(text: str) -> Iterator[Mark]:
    blank = True
    offset = 0
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        length = len(line.strip())
        alone = blank and not following.strip() and length <= _MAX_HEADING
        blank = not length
        if alone and (banner := _BANNER.fullmatch(line)):
            start, words = offset + banner.start(1), banner[1]
            if _NUMBERED.match(words):
                yield Mark(start, "heading", words, 1)
            elif _in_capitals(words):
                yield Mark(start, "heading", words, 2)
        offset += len(line) + 1


def _in_capitals(words: str) -> bool:
    capitals, letters = sum(map(str.isupper, words)), sum(map(str.isalpha, words))
    if _CODE.search(words) or capitals < max(_MIN_CAPITALS, 0.6 * letters):
        return False
    return words.isupper() or (capitals >= _MANY_CAPITALS and not words.endswith(_ENDS))


def read_rows(data: bytes, name: str, source: str | None) -> Document:
    """Read a text in which every line is a record."""
    text, notes = decode(data, name)
    blocks = tuple(match.start() for match in _ROW.finditer(text))
    return Document(name, text, source=source, notes=notes, blocks=blocks)


def read_json(data: bytes, name: str, source: str | None) -> Document:
    """Read JSON; escaped characters in its strings are decoded, and its lines are rows."""
    text, notes = decode(data, name)
    lines = [_STRING.sub(_decoded, line) for line in text.split("\n")]
    begins = accumulate((len(line) + 1 for line in lines), initial=0)
    marks = tuple(
        Mark(start, "row", str(number))
        for number, (line, start) in enumerate(zip(lines, begins, strict=False), 1)
        if any(map(str.isalnum, line))
    )
    blocks = tuple(mark.offset for mark in marks)
    return Document(name, "\n".join(lines), marks, source, notes=notes, blocks=blocks)


def _decoded(string: re.Match[str]) -> str:
    with suppress(ValueError):
        if "\\" in string[0]:
            return f'"{_CONTROL.sub(" ", clean(json.loads(string[0])))}"'
    return string[0]


def read_headed(data: bytes, name: str, source: str | None) -> Document:
    """Read a text whose headings are underlined (reStructuredText), or begin with signs."""
    text, notes = decode(data, name)
    suffix = PurePath(name).suffix.lower()
    if suffix in _SIGNS:
        headings = _signed(text, _SIGNS[suffix])
    else:
        headings = _underlined(text) if suffix in (".rst", ".rest") else _asciidoc(text)
    marks = sorted([*headings, *drawn_tables(text)], key=lambda mark: mark.offset)
    return Document(name, text, tuple(marks), source, notes=notes)


def _signed(text: str, signs: re.Pattern[str]) -> Iterator[Mark]:
    for match in signs.finditer(text):
        sign, words = match[1], match[2]
        if sign in _LEVELS:
            words = " ".join(_COMMAND.sub(" ", words).split())
        if words:
            level = int(sign[-1]) if sign[-1].isdigit() else len(sign)
            level = _LEVELS.index(sign) + 1 if sign in _LEVELS else level
            yield Mark(match.start(2), "heading", words.rstrip(), level)


def _asciidoc(text: str) -> Iterator[Mark]:
    """Yield headings outside of blocks: behind signs, or underlined with a line as long."""
    left = Counter(line.rstrip() for line in text.split("\n") if _BLOCK.fullmatch(line.rstrip()))
    block = ""
    before, title, start = "", "", 0  # the two lines above, and where the second one begins
    for match in _LINE.finditer(text):
        line, offset = match[0].rstrip(), match.start()
        if line in left:
            left[line] -= 1
        if block:
            block = "" if line == block else block
            line = ""
        elif signs := _EQUAL_SIGNS.fullmatch(line):
            yield Mark(offset + signs.start(2), "heading", signs[2], len(signs[1]))
        elif (
            _UNDERLINE.fullmatch(line)
            and abs(len(title) - len(line)) < 3
            and title[:1] not in ("", " ", "\t", "[", ".")
            and (not before or before[-1] == "]")
        ):
            yield Mark(start, "heading", title, _LINES.index(line[0]) + 1)
            line = ""
        elif left[line] > 0:
            block = line
        before, title, start = title, line, offset


def _underlined(text: str, *, alone: bool = False) -> Iterator[Mark]:
    """Yield headings; their level is the rank of their line, by the first time that it occurs.

    Args:
        text: the text.
        alone: leave out lines below others, and those that end as sentences do.
    """
    kinds: list[tuple[bool, str]] = []
    for match in _UNDERLINED.finditer(text):
        words = match["words"].rstrip()
        length = len(match["line"])
        if length < len(words) or not any(map(str.isalnum, words)):
            continue
        above = text[max(0, match.start() - 2) : match.start()].strip()
        if alone and (above or length > 2 * len(words) + 2 or words.endswith(_ENDS[:3])):
            continue
        kind = match["over"] is not None, match["line"][0]
        if kind not in kinds:
            kinds.append(kind)
        level = kinds.index(kind) + 1 + alone  # as that of headings in capitals
        yield Mark(match.start("words"), "heading", words, min(6, level))


def drawn_tables(text: str) -> Iterator[Mark]:
    """Yield the marks of tables that are drawn with bars, dashes and plus signs."""
    for table in _DRAWN.finditer(text):
        first, end = table.span()
        rows = [match.start() for match in _ROW.finditer(text, first, end)]
        lines = [*pairwise([*rows, end])]
        double = (k for k, line in enumerate(lines[:-1]) if "+=" in text[slice(*line)])
        head = next(double, 0)
        names = column_names([[text[a:b] for a, b in cells_of(text, *k)] for k in lines[1:head]])
        before = text[max(0, first - _ABOVE) : first].rstrip().rpartition("\n")[2]
        yield from table_marks(first, rows[head + 1], end, names, caption_in(before))
