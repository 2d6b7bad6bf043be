"""Read rich text (RTF): paragraphs, lists, table rows, footnotes and text boxes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from milepost.documents.readers import rtf_words
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.fields import resolved, unresolved
from milepost.documents.readers.fonts import Fonts, code_page
from milepost.documents.readers.rtf_parts import Table, end_of_group, formula, information, typed
from milepost.documents.readers.scripts import END, LOWERED, RAISED, shown
from milepost.properties import EMPTY, Properties
from milepost.types import Document

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|[\r\n]+|([^\\{}\r\n]+)",
    re.DOTALL,
)
_OPENED = re.compile(r"\{\s*\Z")
_SPACES = re.compile(r"[ \t]+")
_RAISED = 4  # half points by which letters are moved that are superscripts or subscripts
_FIELD = 2000  # characters of the longest field that is looked at
_LETTERING = re.compile(r"gtextUNICODE\}\s*\{\\sv ([^{}]{1,300})\}")
"""Letters of WordArt."""


@dataclass(frozen=True, slots=True)
class _State:
    """The properties of a group; ``reads`` is False if its text is not part of the document."""

    reads: bool = True
    shape: bool = False
    hidden: bool = False
    struck: bool = False
    script: str = ""
    font: int = 0
    plain: int = 0  # the font of letters of which nothing is said
    fallback: int = 1
    in_table: bool = False
    nested: bool = False  # what is said of a row is of the inner table
    level: int = 0
    initial: bool = False  # a paragraph of large letters that begin the next one


@dataclass(slots=True)
class _Frame:
    """Text that is collected apart: the body, a footnote, a text box, the number of an item."""

    depth: int  # of the group that ends it
    kind: str = ""
    words: list[str] = field(default_factory=list)  # pieces of the paragraph
    bullet: str = ""  # number of the paragraph's list item
    # footnotes and text boxes of the paragraph, each a list of paragraphs
    after: list[TextBuilder] = field(default_factory=list)
    text: TextBuilder = field(default_factory=TextBuilder)  # the paragraphs so far
    table: Table = field(default_factory=Table)  # the rows of the open table
    inner: Table = field(default_factory=Table)  # the rows of a table in a cell
    begin: int = 0  # the piece of the paragraph with which that begins


def read_rtf(data: bytes, name: str, source: str | None) -> Document:
    """Read the visible text; the addresses of links are left out."""
    reader = _Reader()
    reader.read(data.decode("latin-1"))
    return reader.text.document(name, source, properties=reader.properties)


class _Reader:
    def __init__(self, codec: str = "cp1252") -> None:
        self._fonts = Fonts(codec)
        self._state = _State()
        self._stack: list[_State] = []
        self._frames = [_Frame(0)]
        self.text = self._frames[0].text
        self.properties: Properties = EMPTY
        self._decoder = self._fonts.decoder(0)
        self._skip = 0  # characters that stand for the last Unicode character
        self._optional = False  # after \*: a destination that is skipped if it is not known

    def read(self, raw: str) -> None:
        place: int | None = 0
        while place is not None:
            place = self._run(raw, place)
        while len(self._frames) > 1:
            self._close_frame()
        self._frames[0].table.row()  # the file may end inside of a row
        self._paragraph()
        self._frames[0].table.write(self.text)

    def _text_of(self, raw: str) -> str:
        """Read a text apart, with the encoding of the file."""
        reader = _Reader(self._fonts.codec)
        reader.read(raw)
        return reader.text.text

    def _run(self, raw: str, place: int) -> int | None:
        """Read from a place on; returns where to go on after bytes that are no text."""
        for match in _TOKEN.finditer(raw, place):
            word, code, symbol, brace, words = match[1], match[3], match[4], match[5], match[6]
            if words is not None:
                if self._state.reads:
                    self._plain(words)
            elif word is not None:
                number = int(match[2]) if match[2] else None
                if word == "bin":
                    return match.end() + max(0, number or 0)
                if word == "fonttbl" or (word in ("info", "moMath") and self._state.reads):
                    end = end_of_group(raw, match.end())
                    self._group(word, raw[match.end() : end])
                    return end
                if word == "fldinst" and self._state.reads:
                    self._field(raw, match.end())
                elif word == "sn" and (art := _LETTERING.match(raw, match.end())):
                    if self._stack and self._stack[-2:][0].shape:  # not of a head
                        lettering = TextBuilder()
                        lettering.add(self._text_of(art[1]))
                        self._frames[-1].after.append(lettering)
                elif word == "objdata":
                    self.text.leave_out(word, "an embedded object")
                self._word(word, number)
            elif brace is not None:
                self._brace(brace)
            elif code is not None:
                if self._skip:
                    self._skip -= 1
                elif self._state.reads:
                    self._bytes(bytes((int(code, 16),)))
            elif symbol == "*":
                # Elsewhere than at the start of a group it says nothing.
                at = match.start()
                self._optional = _OPENED.search(raw, max(0, at - 3), at) is not None
            elif symbol is not None and self._state.reads:
                self._symbol(symbol)
        return None

    def _group(self, word: str, group: str) -> None:
        """Read a whole group, which has a form of its own."""
        if word == "fonttbl":
            self._fonts.read(group)
            self._decoder = self._fonts.decoder(self._state.font)
        elif word == "info":
            self.properties = information(group, self._text_of)
        else:
            self._add(formula(group, self._text_of))

    def _field(self, raw: str, place: int) -> None:
        """Add what is shown of a field that has no result; its words begin at a place."""
        said, result, _ = raw[place : place + _FIELD].partition("\\fldrslt")
        words = self._text_of(said)
        shown = typed(said) or resolved(words)
        if not shown and (what := unresolved(words)):
            self.text.leave_out(words, what)
        if shown:
            begin = place + len(said) + len(result)
            if not result or not self._text_of(raw[begin : end_of_group(raw, begin)]).strip():
                self._add(shown)

    def _brace(self, brace: str) -> None:
        self._optional = False
        self._skip = 0
        if brace == "{":
            self._stack.append(self._state)
            return
        if len(self._frames) > 1 and self._frames[-1].depth == len(self._stack):
            self._close_frame()
        if self._stack:
            self._change(self._stack.pop())

    def _change(self, state: _State) -> None:
        if state.font != self._state.font:
            self._decoder = self._fonts.decoder(state.font)
        self._state = state

    def _plain(self, words: str) -> None:
        """Add characters, which may be the second byte of one that began with an escape."""
        words = words.replace("\0", "")
        if self._skip:
            skipped = min(self._skip, len(words))
            self._skip -= skipped
            words = words[skipped:]
        while words and self._decoder.getstate()[0]:
            self._bytes(words[0].encode("latin-1"))
            words = words[1:]
        if words.isascii():
            self._add(words)
        else:
            self._bytes(words.encode("latin-1"))

    def _bytes(self, data: bytes) -> None:
        if self._fonts.has_symbols(self._state.font):
            self._add(data.decode("latin-1"))
        else:
            self._add(self._decoder.decode(data))

    def _symbol(self, symbol: str) -> None:
        if symbol == "-":  # where a word may be divided
            return
        sign = rtf_words.SYMBOLS.get(symbol, "")
        if self._skip:
            self._skip -= 1
        elif sign == "\r":
            self._end_line()
        else:
            self._add(sign)

    def _add(self, words: str) -> None:
        state = self._state
        if not words or not state.reads or state.hidden:
            return
        if state.struck:
            held = self._frames[-1].words
            if words.strip() and (not held or held[-1]):
                self.text.leave_out(words)
                held.append("")  # the next pieces belong to the same place
            return
        words = self._fonts.shown(words, state.font)
        if state.script:
            words = f"{state.script}{words}{END}"
        self._frames[-1].words.append(words)

    def _word(self, word: str, number: int | None) -> None:
        optional, self._optional = self._optional, False
        if not optional and word not in rtf_words.KNOWN:
            return  # most words say how the text looks
        if not self._state.reads and not (self._state.shape and word in rtf_words.INSIDE):
            return
        if word in rtf_words.SKIPPED or (optional and word not in rtf_words.READ):
            self._state = replace(self._state, reads=False, shape=False)
        elif word in rtf_words.SIGNS and self._skip:
            self._skip -= 1
        elif word in rtf_words.SIGNS:
            self._add(rtf_words.SIGNS[word])
        elif word == "u" and number is not None:
            if -0x10000 < number < 0x10000:
                self._add(chr(number % 0x10000))
            self._skip = self._state.fallback
        elif word in rtf_words.ENDS:
            self._end(word)
        elif word in ("footnote", "shptxt", "dptxbxtext", "listtext", "pntext"):
            self._state = replace(self._state, reads=True, shape=False, in_table=False)
            self._frames.append(_Frame(len(self._stack), word))
        elif word in ("upr", "shpinst", "do"):
            self._state = replace(self._state, reads=False, shape=True)
        elif word == "ud":
            self._state = replace(self._state, reads=True, shape=False)
        elif word == "nesttableprops":
            self._state = replace(self._state, nested=True)
        elif word == "itap":
            frame = self._frames[-1]
            if (number or 0) > 1 and frame.inner.is_empty():
                frame.begin = len(frame.words)
        elif word in ("ansicpg", "mac", "pc", "pca"):
            page = {"mac": "10000", "pc": "437", "pca": "850"}.get(word, str(number))
            self._fonts.codec = code_page(page) or "cp1252"
            self._decoder = self._fonts.decoder(self._state.font)
        elif not self._table().define(word, number):
            self._change(_changed(self._state, word, number))

    def _table(self) -> Table:
        frame = self._frames[-1]
        return frame.inner if self._state.nested else frame.table

    def _end(self, word: str) -> None:
        frame = self._frames[-1]
        if word == "cell":
            is_outer = not frame.inner.is_empty()
            if is_outer:
                self._write_inner()
            words = " ".join(self._taken().split())
            if words or not is_outer:
                frame.table.cells.append(words)
            frame.bullet = ""
            frame.table.after += frame.after
            frame.after.clear()
        elif word == "nestcell":
            frame.inner.cells.append(" ".join(self._taken(frame.begin).split()))
        elif word == "nestrow":
            frame.inner.row()
        elif word == "row":
            frame.table.row()
        else:
            self._end_line()

    def _write_inner(self) -> None:
        """Write the row above a table in a cell, the words before that, and the table."""
        frame = self._frames[-1]
        after = frame.words[frame.begin :]
        del frame.words[frame.begin :]
        frame.table.row()
        self._paragraph()
        frame.inner.row()
        frame.inner.write(frame.text)
        frame.words += after
        frame.begin = 0

    def _end_line(self) -> None:
        """End a paragraph; those of a cell are joined."""
        if self._state.in_table and self._frames[-1].kind not in ("shptxt", "dptxbxtext"):
            self._frames[-1].words.append(" ")
        elif not self._state.initial:
            self._paragraph()

    def _taken(self, begin: int = 0) -> str:
        """Return the words collected for a paragraph, and begin the next one."""
        frame = self._frames[-1]
        joined = "".join(frame.words[begin:])
        joined = joined.replace(f"{END}{RAISED}", "").replace(f"{END}{LOWERED}", "")
        del frame.words[begin:]
        # Characters beyond the first plane are written as surrogate pairs.
        joined = joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return frame.bullet + shown(joined.replace("\xad", ""))

    def _paragraph(self) -> None:
        frame = self._frames[-1]
        bullet = frame.bullet
        words = self._taken()
        frame.bullet = ""
        lines = (_SPACES.sub(" ", line).strip() for line in words.split("\n"))
        words = "\n".join(line for line in lines if line)
        level = self._state.level
        if words.strip() and words.strip() != bullet.strip():
            frame.table.write(frame.text)
            frame.text.add(words, close=bool(bullet) and not level, level=level)
        elif not frame.table.cells:
            frame.table.write(frame.text)
        for inner in frame.after:
            frame.text.include(inner.document("", None))
        frame.after.clear()

    def _close_frame(self) -> None:
        """End a footnote, a text box or the number of a list item."""
        kind = self._frames[-1].kind
        if kind in ("listtext", "pntext"):
            number = " ".join(self._taken().split())
            self._frames.pop()
            is_number = any(map(str.isalnum, number)) and number != "o"
            if not (self._stack and self._stack[-1].in_table):
                self._frames[-1].bullet = f"{number} " if is_number else "- "
            elif is_number:
                self._frames[-1].words.append(f"{number} ")
            return
        self._paragraph()
        frame = self._frames.pop()
        frame.table.write(frame.text)
        self._frames[-1].after.append(frame.text)


def _changed(state: _State, word: str, number: int | None) -> _State:
    on = number != 0
    if word == "plain":
        return replace(state, hidden=False, struck=False, script="", font=state.plain)
    if word in rtf_words.SCRIPTS:
        return replace(state, script=rtf_words.SCRIPTS[word] if on else "")
    if word in ("up", "dn"):
        moved = (6 if number is None else number) >= _RAISED
        return replace(state, script=(RAISED if word == "up" else LOWERED) if moved else "")
    if word in ("v", "deleted"):
        return replace(state, hidden=on)
    if word in ("strike", "striked"):
        return replace(state, struck=on)
    if word in ("f", "deff") and number is not None:
        return replace(state, font=number, plain=number if word == "deff" else state.plain)
    if word == "uc" and number is not None:
        return replace(state, fallback=max(0, min(number, 100)))
    if word == "pard":
        return replace(state, in_table=False, level=0, initial=False)
    if word == "dropcapli":
        return replace(state, initial=True)
    if word == "intbl":
        return replace(state, in_table=True)
    if word == "outlinelevel" and number is not None and 0 <= number < 6:
        return replace(state, level=number + 1)
    return state
