"""Read web pages that a browser saved as one file (mht, mhtml)."""

from __future__ import annotations

from email import message_from_bytes, policy

from milepost.errors import UnreadableFile
from milepost.text.readers import html
from milepost.text.readers.plain import read_plain
from milepost.types import Document


def read_saved_page(data: bytes, name: str, source: str | None) -> Document:
    """Read the page itself, without the frames and pictures that are saved with it.

    Raises:
        UnreadableFile: the file has no page.
    """
    message = message_from_bytes(data.lstrip(b"\xef\xbb\xbf\r\n\t "), policy=policy.compat32)
    for part in message.walk():
        kind = part.get_content_type()
        content = part.get_payload(decode=True) if kind.startswith("text/") else None
        if not isinstance(content, bytes) or kind not in ("text/html", "text/plain"):
            continue
        if kind == "text/plain" and not message.is_multipart() and "mime-version" not in message:
            break  # a text that only has the suffix
        charset = part.get_content_charset()
        if charset and charset != "utf-8":
            content = html.decoded(content, name, charset).encode("utf-8")
        read = html.read_html if kind == "text/html" else read_plain
        return read(content, name, source)
    raise UnreadableFile(f"{name} holds no web page", "save the page again, as HTML")
