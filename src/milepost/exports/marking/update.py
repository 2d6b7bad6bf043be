"""The bytes that are added to a PDF: an incremental update (ISO 32000-1, 7.5.6).

PDFium's own incremental save writes every object that it has read once more: fonts, contents,
pictures. That makes copies large, and viewers of signed files suspicious. From its output only the
pages that have new highlights are taken over, the highlights, and their appearances.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from milepost.documents.readers.pdf.records import in_sequence
from milepost.errors import InputError
from milepost.exports.marking.objects import Piece, entries, pieces, value_end

RESOURCES = b"/Resources<</ExtGState<</GS<</Type/ExtGState/BM/Multiply/ca 1/CA 1>>>>>>"
"""What the appearances refer to: a graphics state that multiplies."""

_START = re.compile(rb"startxref\s+(\d+)\s+%%EOF\s*$")
_TABLE = re.compile(rb"xref\b")
_STREAM = re.compile(rb"\d+\s+\d+\s+obj\b")
_TRAILER = (b"/Root", b"/Info", b"/Encrypt", b"/ID")
_TAIL = 2048  # bytes at the end of a file in which its last pointer is


def minimal_update(data: bytes, saved: bytes, count: int, name: str) -> bytes:
    """The PDF ``data``, and behind it an incremental update of what PDFium has ``saved``.

    With it come ``count`` new highlights. A damaged table of objects is refused.
    """
    is_table, previous = _last_table(data, name)
    try:
        written = {piece.number: piece for piece in pieces(saved, len(data))}
        trailer = _trailer(saved, written)
        size = int(trailer[b"/Size"])
        # PDFium numbers new objects one behind the other; an XRef stream of its own comes last.
        streams = [number for number in sorted(written) if written[number].stream]
        last = max(number for number in streams if not _is_table(written[number]))
        drawn = range(last - count + 1, last + 1)
        chosen = _changed(written, drawn)
    except (ValueError, KeyError, RecursionError) as error:
        raise _refused(name) from error
    appearances = [
        Piece(number, b"<<" + RESOURCES + written[number].value[2:], written[number].stream)
        for number in drawn
    ]
    if b"/Encrypt" not in trailer:  # else their texts are encrypted as parts of the page
        chosen, more = _apart(chosen, drawn, size)
        size += len(more)
        chosen += more
    out = bytearray(data)
    if not data.endswith((b"\n", b"\r")):
        out += b"\n"
    places: dict[int, int] = {}
    for piece in (*chosen, *appearances):
        places[piece.number] = len(out)
        out += b"%d 0 obj\n%s\n%s\nendobj\n" % (piece.number, piece.value, piece.stream)
    kept = b"".join(key + b" " + trailer[key] for key in _TRAILER if key in trailer)
    kept += b"/Prev %d" % previous
    start = len(out)
    if is_table:
        out += _table(places) + b"trailer\n<<%s/Size %d>>\n" % (kept, size)
    else:
        out += _stream(places, kept, size, start)
    out += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(out)


def _last_table(data: bytes, name: str) -> tuple[bool, int]:
    """Whether the newest table of objects is a plain one (else a stream), and where it is."""
    match = _START.search(data, max(0, len(data) - _TAIL))
    place = int(match[1]) if match else -1
    if data.startswith(b"%PDF-") and 0 <= place < len(data):
        if _TABLE.match(data, place):
            return True, place
        if _STREAM.match(data, place):
            return False, place
    raise _refused(name)


def _refused(name: str) -> InputError:
    return InputError(
        f"{name} is damaged at its end or beginning, so nothing can be added to it",
        "save a repaired copy, e.g. qpdf IN OUT",
    )


def _trailer(saved: bytes, written: dict[int, Piece]) -> dict[bytes, bytes]:
    tables = [piece.value for piece in written.values() if _is_table(piece)]
    return entries(tables[-1] if tables else saved[saved.rfind(b"\ntrailer") :])


def _is_table(piece: Piece) -> bool:
    """Whether an object is a table of objects; PDFium does not always write its type."""
    return bool(piece.stream) and b"/W[" in piece.value and b"/Size" in piece.value


def _changed(written: dict[int, Piece], drawn: range) -> list[Piece]:
    """The objects that refer to the new appearances: pages, or their lists of annotations."""
    references = re.compile(rb"/N (%s) 0 R" % b"|".join(b"%d" % number for number in drawn))
    found = [
        piece
        for piece in written.values()
        if not piece.stream and piece.number not in drawn and references.search(piece.value)
    ]
    held = sum(len(references.findall(piece.value)) for piece in found)
    if held != len(drawn):
        raise ValueError(f"{held} of {len(drawn)} highlights")
    return found


def _apart(chosen: Sequence[Piece], drawn: range, size: int) -> tuple[list[Piece], list[Piece]]:
    """Make each highlight an object of its own, numbered from ``size`` on, as the standard asks.

    The changed objects, which refer to them, come first.
    """
    changed: list[Piece] = []
    highlights: list[Piece] = []
    for piece in chosen:
        value = piece.value
        for number in drawn:
            # PDFium sorts keys, so a highlight begins with its appearance.
            at = value.find(b"<</AP<</N %d 0 R" % number)
            if at < 0:
                continue
            end = value_end(value, at)
            own = size + len(highlights)
            highlights.append(Piece(own, value[at:end]))
            value = value[:at] + b"%d 0 R " % own + value[end:]
        changed.append(Piece(piece.number, value))
    return changed, highlights


def _table(places: dict[int, int]) -> bytes:
    out = bytearray(b"xref\n")
    for run in in_sequence(sorted(places)):
        out += b"%d %d\n" % (run[0], len(run))
        out += b"".join(b"%010d 00000 n \n" % places[number] for number in run)
    return bytes(out)


def _stream(places: dict[int, int], kept: bytes, size: int, start: int) -> bytes:
    """A table of objects as a stream, which is an object itself, with the trailer's entries."""
    places = {**places, size: start}
    written = in_sequence(sorted(places))
    index = b" ".join(b"%d %d" % (run[0], len(run)) for run in written)
    rows = b"".join(
        b"\x01" + places[number].to_bytes(5, "big") + b"\0" for run in written for number in run
    )
    entry = b"<</Type/XRef%s/Size %d/W[1 5 1]/Index[%s]/Length %d>>" % (
        kept,
        size + 1,
        index,
        len(rows),
    )
    return b"%d 0 obj\n%s\nstream\n%s\nendstream\nendobj\n" % (size, entry, rows)
