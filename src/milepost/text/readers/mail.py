"""Read mail (eml, mbox): subject, sender, recipients, date, text, and attachments as sections."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime

from milepost.errors import MilepostError, UnreadableFile
from milepost.properties import Properties
from milepost.text.encoding import decode
from milepost.text.readers import html, metadata
from milepost.text.readers.builder import TextBuilder
from milepost.types import Document, ReadOptions

_SHOWN = ("From", "To", "Cc", "Date")
_MAX_PARTS = 500  # nested parts, because the parser takes quadratic time
_MAX_NAMED = 5  # attachments that a note names
_BORDER = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\d\r?\n(?=[\w-]+:)")
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


@dataclass(slots=True)
class Letter:
    """One mail, independent of its file format.

    Attributes:
        subject: the decoded subject.
        date: when it was sent, or None.
        headers: names and values of the headers to show.
        bodies: texts in order, and whether each is HTML.
        attachments: names and contents; None if the content is not in the file.
    """

    subject: str = ""
    date: datetime | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[tuple[str, bool]] = field(default_factory=list)
    attachments: list[tuple[str, bytes | None]] = field(default_factory=list)


def read_eml(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read one mail.

    Raises:
        UnreadableFile: the file has neither headers nor text of a mail.
    """
    letter = _letter(data)
    if letter is None or not (letter.headers or letter.subject):
        raise UnreadableFile(f"{name} is not a mail: it has no headers", "save it as txt")
    return replace(written([letter], name, source, options), properties=about(letter))


def about(letter: Letter) -> Properties:
    """Return the properties of one mail."""
    headers = dict(letter.headers)
    return metadata.properties(
        title=letter.subject,
        author=headers.get("From"),
        date=f"{letter.date:%Y-%m-%d}" if letter.date else None,
        own={"to": headers.get("To")},
    )


def read_mbox(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read all mails of a mailbox in the order of the file."""
    starts = [(match.start(), match.end()) for match in _BORDER.finditer(data)]
    if not starts:
        raise UnreadableFile(f"{name} is not a mailbox: no line begins a mail", "save it as txt")
    ends = [start for start, _ in starts[1:]] + [len(data)]
    parts = (data[begin:end] for (_, begin), end in zip(starts, ends, strict=True))
    letters = (_letter(_QUOTED.sub(rb"\1", part)) for part in parts)
    return written(letters, name, source, options)


def written(
    letters: Iterable[Letter | None], name: str, source: str | None, options: ReadOptions
) -> Document:
    """Write mails as a document; None stands for a damaged mail."""
    text = TextBuilder()
    unread: list[str] = []
    notes: list[str] = []
    damaged = 0
    for letter in letters:
        if letter is None:
            damaged += 1
            continue
        text.place("message", f"{letter.date:%Y-%m-%d}" if letter.date else "unknown date")
        text.add(letter.subject or "No subject", level=1)
        text.add(" | ".join(f"{label}: {value}" for label, value in letter.headers if value))
        for body, is_html in letter.bodies:
            if is_html:
                html.write(body, text)
            else:
                text.include(Document(name, body.strip("\n")))
        for label, content in letter.attachments:
            try:
                _attach(label, content, text, notes, options)
            except MilepostError:
                unread.append(label)
    if damaged:
        notes.append(f"mails that are damaged and were not read: {damaged}")
    if unread:
        more = f" and {len(unread) - _MAX_NAMED} more" if len(unread) > _MAX_NAMED else ""
        notes.append(f"attachments that were not read: {', '.join(unread[:_MAX_NAMED])}{more}")
    return text.document(name, source, tuple(notes))


def _attach(
    label: str, content: bytes | None, text: TextBuilder, notes: list[str], options: ReadOptions
) -> None:
    """Add an attachment as a section; its name is added even if the content cannot be read."""
    from milepost.text.readers.formats import read_bytes

    text.place("attachment", label)
    text.add(f"Attachment: {label}")
    document = read_bytes(content or b"", label, None, options)
    text.include(document)
    notes += [f"{label}: {note}" for note in document.notes]


def _letter(data: bytes) -> Letter | None:
    """Parse a mail; None if it has too many parts or its structure cannot be parsed."""
    if data.count(b"boundary=") > _MAX_PARTS:
        return None
    # The newer policy decodes more, but its bugs make it fail on some malformed mails.
    for rules in (policy.default, policy.compat32):
        with suppress(Exception):
            message = message_from_bytes(data, policy=rules)
            letter = Letter(_header(message, "Subject"), _date(message))
            letter.headers = [(label, _header(message, label)) for label in _SHOWN]
            letter.headers = [(label, value) for label, value in letter.headers if value]
            _collect(message, letter)
            return letter
    return None


def _header(message: Message, label: str) -> str:
    """Decode a header into one line."""
    value = message[label]
    if value is not None and message.policy is policy.compat32:
        value = make_header(decode_header(str(value)))
    words = str(value or "").encode("utf-8", "replace").decode("utf-8")
    return " ".join(words.split())


def _date(message: Message) -> datetime | None:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return parsedate_to_datetime(_header(message, "Date"))
    return None


def _collect(part: Message, letter: Letter) -> None:
    """Add the texts and attachments of a part to a letter, in order."""
    kind = part.get_content_maintype()
    if part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        whole = inner[0] if isinstance(inner, list) and inner else None
        if isinstance(whole, Message):
            label = _header(whole, "Subject") or "mail"
            letter.attachments.append((f"{label}.eml", whole.as_bytes()))
    elif part.is_multipart():
        parts = [each for each in part.get_payload() if isinstance(each, Message)]
        for each in _chosen(parts) if part.get_content_subtype() == "alternative" else parts:
            _collect(each, letter)
    elif kind == "text" and part.get_content_disposition() != "attachment":
        letter.bodies.append((_text(part), part.get_content_subtype() == "html"))
    elif label := _file_name(part):
        content = part.get_payload(decode=True)
        letter.attachments.append((label, content if isinstance(content, bytes) else None))


def _chosen(parts: list[Message]) -> list[Message]:
    """Choose among alternatives of one text: the plain one unless it is empty, else the richest."""
    for part in parts:
        if part.get_content_type() == "text/plain" and _text(part).strip():
            return [part]
    return parts[-1:]


def _text(part: Message) -> str:
    """Decode the text of a part by its declared or detected encoding."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content:
        return ""
    charset = part.get_content_charset()
    try:
        if part.get_content_subtype() == "html" and not charset:
            return html.decode_page(content, "a part")[0]
        return decode(content, "a part", charset)[0]
    except UnreadableFile:  # the bytes are not text
        return ""


def _file_name(part: Message) -> str:
    """Return the name of an attachment; empty for an image inside the text."""
    label = " ".join((part.get_filename() or "").encode("utf-8", "replace").decode().split())
    return label or ("attachment" if part.get_content_disposition() == "attachment" else "")
