"""Read Outlook messages (msg) in the same way as other mail, by ``mail.py``.

A message is a folder of streams, one for each of its properties, with folders for recipients,
attachments and attached messages ([MS-OXMSG]); the numbers here are those of the properties.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email import message_from_string, policy
from typing import Any

from milepost.documents.encoding import clean, decode
from milepost.documents.readers.fonts import code_page
from milepost.documents.readers.mail import Letter, about, header, written
from milepost.errors import UnreadableFile, first_line
from milepost.types import Document, ReadOptions

_FIXED = "__properties_version1.0"
_STREAM = "__substg1.0_"
_KINDS = {1: "To", 2: "Cc", 3: "Bcc"}
_DEPTH = 20  # messages inside of messages


def read_msg(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read a message: subject, sender, recipients, date, text and attachments."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            letter = _letter(_Folder(container, "", 32))
    except Exception as error:  # olefile, struct and codecs raise different errors
        why = f"{name} is damaged: {first_line(error)[:100]}"
        raise UnreadableFile(why, "save it again from Outlook") from error
    return replace(written([letter], name, source, options), properties=about(letter))


class _Folder:
    """The properties of a message, a recipient or an attachment.

    ``path`` has a slash at its end; ``codec`` is that of texts that are not in Unicode.
    """

    def __init__(self, container: Any, path: str, head: int, codec: str | None = None) -> None:
        self._container, self.path = container, path
        listed = self._stream(_FIXED) or b""
        places = range(head, len(listed) - 15, 16)
        self._fixed = {
            struct.unpack_from("<H", listed, at + 2)[0]: listed[at + 8 : at + 16] for at in places
        }
        pages = (str(self.number(key)) for key in (0x3FDE, 0x3FFD))
        self.codec = next((found for page in pages if (found := code_page(page))), codec)

    def _stream(self, name: str) -> bytes | None:
        path = self.path + name
        return self._container.openstream(path).read() if self._container.exists(path) else None

    def number(self, key: int, form: str = "<I") -> int:
        """Return a number; 0 if it is not given."""
        held = self._fixed.get(key)
        return int(struct.unpack_from(form, held)[0]) if held else 0

    def date(self, key: int) -> datetime | None:
        """Return a date, stored in units of 100 ns since 1601."""
        since = timedelta(seconds=self.number(key, "<Q") // 10**7)
        return datetime(1601, 1, 1, tzinfo=UTC) + since if key in self._fixed else None

    def data(self, key: int) -> bytes | None:
        """Return bytes."""
        return self._stream(f"{_STREAM}{key:04X}0102")

    def text(self, *keys: int) -> str:
        """Return the first text that is given, else an empty one."""
        for key in keys:
            if wide := self._stream(f"{_STREAM}{key:04X}001F"):
                return clean(wide.decode("utf-16-le", "replace"))
            if narrow := self._stream(f"{_STREAM}{key:04X}001E"):
                with suppress(UnreadableFile):  # the bytes are not text
                    return decode(narrow.rstrip(b"\0"), "a text", self.codec)[0]
        return ""

    def line(self, *keys: int) -> str:
        """The same in one line."""
        return " ".join(self.text(*keys).split())

    def inner(self, kind: str) -> Iterator[_Folder]:
        """Yield the folders of recipients or attachments."""
        depth = self.path.count("/")
        for parts in self._container.listdir(streams=False, storages=True):
            path = "/".join(parts) + "/"
            if path.startswith(f"{self.path}__{kind}_version1.0") and len(parts) == depth + 1:
                yield _Folder(self._container, path, 8, self.codec)

    def attached(self) -> _Folder | None:
        """Return the message that is attached here, if any."""
        path = f"{self.path}{_STREAM}3701000D/"
        is_message = self._container.exists(path + _FIXED) and path.count("/") < _DEPTH
        return _Folder(self._container, path, 24, self.codec) if is_message else None


def _letter(folder: _Folder) -> Letter:
    date = folder.date(0x0039) or folder.date(0x0E06)
    letter = Letter(folder.line(0x0037), f"{date:%Y-%m-%d}" if date else "")
    sent = message_from_string(folder.text(0x007D), policy=policy.default)
    sender = _address(folder, 0x0C1A, 0x5D01, 0x0C1F) or folder.line(0x0042)
    people: dict[str, list[str]] = {kind: [] for kind in _KINDS.values()}
    for person in folder.inner("recip"):
        kind = _KINDS.get(person.number(0x0C15), "To")
        people[kind].append(_address(person, 0x3001, 0x39FE, 0x3003))
    letter.headers = [
        ("From", header(sent, "From") or sender),
        *((kind, ", ".join(named)) for kind, named in people.items()),
        ("Date", f"{date:%Y-%m-%d %H:%M}" if date else ""),
    ]
    if body := folder.text(0x1000).strip():
        letter.bodies.append((body, False))
    elif page := folder.text(0x1013):
        letter.bodies.append((page, True))
    elif raw := folder.data(0x1013):
        letter.bodies.append((decode(raw, "a text", folder.codec)[0], True))
    elif packed := folder.data(0x1009):
        from milepost.documents.readers.formats import read_bytes

        letter.bodies.append((read_bytes(_unpacked(packed), "the text").text, False))
    else:
        letter.notes.append("the mail has no text in a form that is read")
    for attachment in folder.inner("attach"):
        message = attachment.attached()
        label = (message and message.line(0x0037)) or attachment.line(0x3707, 0x3704, 0x3001)
        content = _letter(message) if message else attachment.data(0x3701)
        letter.attachments.append((label or "attachment", content))
    return letter


def _address(folder: _Folder, name: int, *addresses: int) -> str:
    """Write a person; what is no address but a place in a directory is left out."""
    found = next((each for key in addresses if "@" in (each := folder.line(key))), "")
    return f"{folder.line(name)} <{found}>".removesuffix(" <>").strip()


_KNOWN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n" rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)  # fmt: skip


def _unpacked(packed: bytes) -> bytes:
    """Unpack RTF: letters, and places of earlier text, of which some is known ([MS-OXRTFCP])."""
    if packed[8:12] != b"LZFu":
        return packed[16:]
    said, at = bytearray(_KNOWN), 16
    while at < len(packed):
        flags, at = packed[at], at + 1
        for bit in range(8):
            if at >= len(packed):
                break
            if not flags >> bit & 1:
                said.append(packed[at])
                at += 1
                continue
            place, at = int.from_bytes(packed[at : at + 2]), at + 2
            back = (len(said) - (place >> 4)) % 4096
            if not back:
                return bytes(said[len(_KNOWN) :])
            for _ in range((place & 15) + 2):
                said.append(said[-back])
    return bytes(said[len(_KNOWN) :])
