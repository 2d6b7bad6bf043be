"""Read Outlook messages (msg) in the same way as other mail, by ``mail.py``."""

from __future__ import annotations

import codecs
import io
from dataclasses import replace
from functools import cache
from typing import Any

from milepost.documents.readers.fonts import code_page
from milepost.documents.readers.mail import Letter, about, written
from milepost.errors import UnreadableFile, first_line
from milepost.types import Document, ReadOptions

_DISPLAY_NAME = 0x3001


def read_msg(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read a message: subject, sender, recipients, date, text and attachments."""
    from oxmsg import Message

    know_code_pages()
    try:
        message = Message.load(io.BytesIO(data))
        letter = _letter(message)
    except Exception as error:  # olefile, struct and codecs raise different errors
        why = f"{name} is damaged: {first_line(error)[:100]}"
        raise UnreadableFile(why, "save it again from Outlook") from error
    return replace(written([letter], name, source, options), properties=about(letter))


@cache
def know_code_pages() -> None:
    """Let Python know the names of East Asian code pages that ``oxmsg`` asks for: windows-950.

    Python has these encodings as cp950 and the like.
    """

    def search(name: str) -> codecs.CodecInfo | None:
        family, _, number = name.partition("_")
        codec = code_page(number) if family == "windows" and number.isdigit() else None
        return codecs.lookup(codec) if codec else None

    codecs.register(search)


def _letter(message: Any) -> Letter:
    date = message.sent_date
    people = [
        f"{person.name} <{person.email_address}>" if person.email_address else person.name
        for person in message.recipients
    ]
    letter = Letter(" ".join(message.subject.split()), date)
    letter.headers = [
        ("From", " ".join((message.sender or "").split())),
        ("To", ", ".join(" ".join(person.split()) for person in people)),
        ("Date", f"{date:%Y-%m-%d %H:%M}" if date else ""),
    ]
    body = message.body or ""
    if body.strip():
        letter.bodies.append((_clean(body), False))
    elif page := message.html_body:
        letter.bodies.append((_clean(page), True))
    else:
        letter.notes.append("the mail has no text in a form that is read")
    for attachment in message.attachments:
        label = attachment.file_name or attachment.properties.str_prop_value(_DISPLAY_NAME)
        letter.attachments.append(
            (" ".join((label or "attachment").split()), attachment.file_bytes)
        )
    return letter


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode("utf-8", "replace").decode("utf-8")
