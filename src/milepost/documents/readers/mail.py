"""Read mail (eml, mbox): subject, sender, recipients, date, text, and attachments as sections."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from quopri import decodestring

from milepost.documents.encoding import decode
from milepost.documents.readers import calendars, html, metadata
from milepost.documents.readers.builder import TextBuilder
from milepost.errors import MilepostError, UnreadableFile
from milepost.properties import Properties
from milepost.types import Document, ReadOptions

_SHOWN = ("From", "To", "Cc", "Date")
_OF_MAILS = (*_SHOWN, "Subject", "Content-Type", "MIME-Version", "Message-ID")
_MAX_PARTS = 500  # nested parts, because the parser takes quadratic time
_STUB = 1000  # characters of the longest text that only says that there is another one
_WORDS = re.compile(r"\w{3,}")
_LINKS = re.compile(r"https?://\S+")
_TAGS = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^>]*>", re.I | re.S)
_SOURCE = re.compile(r"<(?:!doctype|html|head|body|meta|style|table|center|div|p)\b[^<>]*>", re.I)
_COUNT = re.compile(rb"\d+[ \t]*\r?\n")
_LOCKED = ("application/pgp-encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_PGP = "-----BEGIN PGP MESSAGE-----"
_ENCRYPTED = "the mail is encrypted: its text cannot be read"
_MAX_NAMED = 5  # attachments that a note names
_BORDER = re.compile(
    rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n)|(?<=\n\r\n))From [^\r\n]*?"
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d\d?|\d\d? +[A-Z][a-z]{2})"
    rb",?(?: +\d{4})? +\d\d?:\d\d(?::\d\d)?(?: +(?:[A-Z]{1,5}|[+-]?\d{4}))*[ \t]*\r?\n"
)
"""A line that begins a mail: it ends with a date and a time."""

_LOOSE = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\r\n\r\n))From [^\r\n]*\d\r?\n(?=[\w-]+:)")
"""The same in mailboxes of programs that write another date."""

_NAMES = rb"Return-Path|Received|Delivered-To|From|To|Date|Subject"
_HEADER = re.compile(rb"(?:%b):" % _NAMES, re.I)
_BEFORE = re.compile(
    rb"(?![\x21-\x39\x3b-\x7e]+:|From )(?:[^\r\n]+\r?\n){1,20}?"
    rb"(?=(?:%b|Message-ID|MIME-Version):)" % _NAMES,
    re.IGNORECASE,
)
"""Lines in front of the headers that are none, such as the answer of a server."""

_SPLIT = re.compile(r"\?=\s+=\?")
"""Between the parts of an encoded word."""

_NAME = re.compile(r'name="?((?<=")[^"]+|[^";]+)')
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


@dataclass(slots=True)
class Letter:
    """One mail, independent of its file format."""

    subject: str = ""  # the decoded subject
    date: str = ""  # the day on which it was sent; empty if it is not known
    # names and values of the headers to show
    headers: list[tuple[str, str]] = field(default_factory=list)
    # texts in order, and whether each is HTML
    bodies: list[tuple[str, bool]] = field(default_factory=list)
    # names and contents, or mails; None if the content is not in the file
    attachments: list[tuple[str, bytes | Letter | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what is in the mail and cannot be read
    has_headers: bool = True  # whether it has a header that only mails and their parts have


def _parsed(data: bytes) -> Letter | None:
    """Parse a mail; None if it has too many parts or its structure cannot be parsed."""
    data = _plain(data)
    if data.count(b"boundary=") > _MAX_PARTS:
        return None
    with suppress(Exception):
        # The newer policy has bugs that make it fail on some malformed mails.
        message = message_from_bytes(data, policy=policy.compat32)
        letter = Letter(header(message, "Subject"), _date(message))
        letter.headers = [(label, header(message, label)) for label in _SHOWN]
        letter.has_headers = any(message[label] for label in _OF_MAILS)
        _collect(message, letter)
        if any(_PGP in body for body, _ in letter.bodies):
            letter.notes.append(_ENCRYPTED)
        return letter
    return None


def _plain(data: bytes) -> bytes:
    """Remove what other programs write in front of the headers; UTF-16 becomes UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        with suppress(UnreadableFile):
            data = decode(data, "a mail")[0].encode("utf-8")
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").removeprefix(b">")
    if count := _COUNT.match(data):  # Apple Mail: the length of the mail, then its properties
        data = data[count.end() :]
        end = data.rfind(b"<?xml")
        return data[:end] if end >= 0 and b"<plist" in data[end:] else data
    before = _BEFORE.match(data)
    return data[before.end() :] if before else data


def header(message: Message, label: str) -> str:
    """Return a header in one line; empty if there is none."""
    raw = next((str(v) for k, v in message.raw_items() if k.lower() == label.lower()), "")
    if any(letter == "\x1b" or "\udc80" <= letter <= "\udcff" for letter in raw):
        charset = next((c for part in message.walk() if (c := part.get_content_charset())), None)
        raw = _unescaped(raw, charset)
    try:
        words = str(policy.default.header_fetch_parse(label, raw))
    except Exception:  # the parser of the standard library fails on some malformed headers
        words = raw
    if label != "Date" and (_SPLIT.search(raw) or ("(" in raw and "(" not in words)):
        # The parser drops names, joe@x.org (Joe Smith), and puts spaces into long ones.
        words = str(make_header(decode_header(raw)))
    return _one_line(words)


def _unescaped(raw: str, charset: str | None = None) -> str:
    """Decode bytes that are not those of ASCII, in the encoding of the text or in any other."""
    data = raw.encode("utf-8", "surrogateescape")
    try:
        return decode(data, "a header", charset)[0]
    except UnreadableFile:  # bytes of no text
        return data.decode("utf-8", "replace")


def _one_line(words: str) -> str:
    return " ".join(words.encode("utf-8", "replace").decode().split())


def _date(message: Message) -> str:
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        return f"{parsedate_to_datetime(header(message, 'Date')):%Y-%m-%d}"
    return ""


def _collect(part: Message, letter: Letter) -> None:
    kind = part.get_content_type()
    if kind == "message/rfc822":
        _forwarded(part, letter)
    elif kind in _LOCKED or (part.get_filename() or "").lower() == "smime.p7m":
        signed = "signed-data" in str(part.get_param("smime-type") or "")
        letter.notes.append(
            "the mail is signed in a form whose text cannot be read" if signed else _ENCRYPTED
        )
    elif kind == "multipart/encrypted":
        letter.notes.append(_ENCRYPTED)
    elif kind == "message/delivery-status":  # blocks of headers
        letter.bodies.append(("".join(map(str, part.get_payload())), False))
    elif part.is_multipart():
        parts = [each for each in part.get_payload() if isinstance(each, Message)]
        for each in _chosen(parts) if kind == "multipart/alternative" else parts:
            _collect(each, letter)
    elif part.get_content_maintype() == "multipart":
        letter.bodies.append((_text(part), False))  # its parts were not found
    elif kind == "text/calendar":
        _attached(part, letter, _file_name(part) or "invite.ics")
    elif part.get_content_maintype() == "text" and not (_is_file(part) and _file_name(part)):
        letter.bodies.append((_text(part), part.get_content_subtype() == "html"))
    elif label := _file_name(part):
        _attached(part, letter, label)


def _attached(part: Message, letter: Letter, label: str) -> None:
    """Add an attachment; an invitation that is both a part and a file of a mail is added once."""
    content = _content(part, label)
    entries = calendars.identities(content or b"")
    known = (
        calendars.identities(each) for _, each in letter.attachments if isinstance(each, bytes)
    )
    if not entries or not any(entries <= each for each in known):
        letter.attachments.append((label, content))


def _forwarded(part: Message, letter: Letter) -> None:
    """Add an attached mail.

    Some programs encode it, although the standard forbids it, or attach a text without headers.
    """
    inner = part.get_payload()
    whole = inner[0] if isinstance(inner, list) and inner else None
    if not isinstance(whole, Message):
        return
    content = whole.as_bytes()
    encoding = str(part.get("Content-Transfer-Encoding") or "").strip().lower()
    said = str(dict(whole.raw_items()).get("Content-Type"))
    is_encoded = not whole.keys() or "=3D" in said
    if encoding in ("base64", "quoted-printable") and is_encoded:
        with suppress(ValueError):
            content = b64decode(content) if encoding == "base64" else decodestring(content)
        label = _file_name(part) or "mail"
    else:
        label = header(whole, "Subject") or "mail"
    head = BytesHeaderParser().parsebytes(content)
    if content.strip() and not any(head[name] for name in _OF_MAILS):
        content = b"MIME-Version: 1.0\n%b%b" % (b"" if head.keys() else b"\n", content)
    letter.attachments.append((f"{label.removesuffix('.eml')}.eml", content))


def _content(part: Message, label: str) -> bytes | None:
    """Decode an attachment; a text becomes UTF-8, because only the mail says its encoding."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return None
    charset = part.get_content_charset()
    if charset and content and part.get_content_maintype() == "text":
        with suppress(UnreadableFile):
            return decode(content, label, charset)[0].encode("utf-8")
    return content


def _chosen(parts: list[Message]) -> list[Message]:
    """Choose among alternatives of one text; attachments among them are no alternatives.

    It is the plain one, unless that is empty or only says that there is another one, or another one
    has more in it: attachments, and the texts between them.
    """
    files = [part for part in parts if _is_file(part)]
    forms = [part for part in parts if part not in files]
    for part in forms:
        kinds = [inner.get_content_type() for inner in part.walk()]
        texts = kinds.count("text/plain") + kinds.count("text/html")
        is_more = any(map(_is_file, part.walk())) or texts > 1
        if is_more and part.is_multipart() and "multipart/alternative" not in kinds:
            return [part, *files]
    for part in forms:
        if part.get_content_type() == "text/plain" and (words := _text(part).strip()):
            return [forms[-1] if _is_stub(words, forms[-1]) else part, *files]
    return [*forms[-1:], *files]


def _is_file(part: Message) -> bool:
    """Whether a part is attached or an invitation, not a text or a picture inside of it."""
    kind = part.get_content_type()
    if kind in ("message/rfc822", "text/calendar"):
        return True
    is_attached = part.get_content_disposition() == "attachment"
    is_picture = part.get_content_maintype() == "image"
    if part.is_multipart() or (is_picture and (part["Content-ID"] or not is_attached)):
        return False
    named = bool(part.get_filename()) and kind not in ("text/plain", "text/html")
    return named or is_attached


def _is_stub(words: str, other: Message) -> bool:
    """Whether a text is the source of HTML beside it, or short with hardly a word or few of it."""
    pages = [part for part in other.walk() if part.get_content_type() == "text/html"]
    if pages and _SOURCE.match(words):
        return True
    if not pages or len(words) > _STUB:
        return False
    page = set(_WORDS.findall(_TAGS.sub(" ", _text(pages[0])).lower()))
    own = set(_WORDS.findall(_LINKS.sub(" ", words.lower())))
    is_other = 2 * len(own & page) < len(own) <= 2 * len(page)
    return bool(page) and (is_other or len(page) > 2 * len(own))


def _text(part: Message) -> str:
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or not content:
        return ""
    charset = part.get_content_charset()
    try:
        if part.get_content_subtype() == "html" and not charset:
            return html.decode_page(content, "a part")[0]
        said = decode(content, "a part", charset)[0]
        is_joined = [str(part.get_param(key)).lower() for key in ("format", "delsp")]
        return _flowed(said) if is_joined == ["flowed", "yes"] else said
    except UnreadableFile:  # the bytes are not text
        return ""


def _flowed(said: str) -> str:
    """Join lines where the space at the end of a line is not part of the text (RFC 3676)."""
    lines: list[str] = []
    open_depth = -1  # of the quotation whose last line goes on; -1 if none does
    for line in said.split("\n"):
        words = line.lstrip(">")
        depth, words = len(line) - len(words), words.removeprefix(" ")
        if depth == open_depth and words != "-- ":  # which begins a signature
            lines[-1] = lines[-1][:-1] + words
        else:
            lines.append(line)
        open_depth = depth if words.endswith(" ") and words != "-- " else -1
    return "\n".join(lines)


def _file_name(part: Message) -> str:
    """Return the name of an attachment; empty for an image inside the text."""
    label = part.get_filename() or ""
    if "\ufffd" in label:  # bytes that are not ASCII: the parser has replaced them
        raw = _NAME.search(";".join(str(value) for _, value in part.raw_items()))
        label = _unescaped(raw[1]) if raw else label
    label = _one_line(str(make_header(decode_header(label))))
    return label or ("attachment" if part.get_content_disposition() == "attachment" else "")


def read_eml(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read one mail; a file with neither headers nor text of a mail is refused."""
    letter = _parsed(data)
    if letter is None or not letter.has_headers:
        raise UnreadableFile(f"{name} is not a mail: it has no headers", "save it as txt")
    return replace(written([letter], name, source, options), properties=about(letter))


def about(letter: Letter) -> Properties:
    """Return the properties of one mail."""
    headers = dict(letter.headers)
    return metadata.properties(
        title=letter.subject,
        author=headers.get("From"),
        date=letter.date,
        own={"to": headers.get("To")},
    )


def read_mbox(data: bytes, name: str, source: str | None, options: ReadOptions) -> Document:
    """Read all mails of a mailbox in the order of the file."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    starts = [match.span() for match in _BORDER.finditer(data)]
    starts = starts or [match.span() for match in _LOOSE.finditer(data)]
    if not starts and _HEADER.match(data):
        starts = [(0, 0)]  # one mail, without a line that begins it
    if not starts:
        raise UnreadableFile(f"{name} is not a mailbox: no line begins a mail", "save it as txt")
    ends = [start for start, _ in starts[1:]] + [len(data)]
    parts = (data[begin:end] for (_, begin), end in zip(starts, ends, strict=True))
    letters = (_parsed(_QUOTED.sub(rb"\1", part)) for part in parts)
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
        text.place("message", letter.date or "unknown date")
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
    label: str,
    content: bytes | Letter | None,
    text: TextBuilder,
    notes: list[str],
    options: ReadOptions,
) -> None:
    """Add an attachment as a section; its name is added even if the content cannot be read."""
    from milepost.documents.readers.formats import read_bytes

    text.place("attachment", label)
    text.add(f"Attachment: {label}")
    if isinstance(content, Letter):
        document = written([content], label, None, options)
    elif (content or b"").lstrip().startswith(_PGP.encode()):
        notes.append(f"{label} is encrypted: its text cannot be read")
        return
    else:
        document = read_bytes(content or b"", label, None, options)
    text.include(document)
    notes += [f"{label}: {note}" for note in document.notes]
