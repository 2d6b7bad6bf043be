"""Read mail (eml, mbox): subject, sender, recipients, date, text, and attachments as sections."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from milepost.documents.readers import html, metadata
from milepost.documents.readers.builder import TextBuilder
from milepost.documents.readers.letters import Letter, parse_letter
from milepost.errors import MilepostError, UnreadableFile
from milepost.properties import Properties
from milepost.types import Document, ReadOptions

_MAX_NAMED = 5  # attachments that a note names
_BORDER = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n)|(?<=\n\r\n))From [^\r\n]*?"
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [^\r\n]*\d\d?:\d\d[^\r\n]*\r?\n"
)
"""A line that begins a mail: it has the day of the week and the time."""

_LOOSE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\d\r?\n(?=[\w-]+:)")
"""The same in mailboxes of programs that write another date."""

_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_eml(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read one mail.

    Raises:
        UnreadableFile: the file has neither headers nor text of a mail.
    """
    letter = parse_letter(data)
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
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    starts = [(match.start(), match.end()) for match in _BORDER.finditer(data)]
    starts = starts or [(match.start(), match.end()) for match in _LOOSE.finditer(data)]
    if not starts:
        raise UnreadableFile(f"{name} is not a mailbox: no line begins a mail", "save it as txt")
    ends = [start for start, _ in starts[1:]] + [len(data)]
    parts = (data[begin:end] for (_, begin), end in zip(starts, ends, strict=True))
    letters = (parse_letter(_QUOTED.sub(rb"\1", part)) for part in parts)
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
        notes += letter.notes
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
    from milepost.documents.readers.formats import read_bytes

    text.place("attachment", label)
    text.add(f"Attachment: {label}")
    document = read_bytes(content or b"", label, None, options)
    text.include(document)
    notes += [f"{label}: {note}" for note in document.notes]
