"""Decode bytes: byte order marks, UTF-8, the encoding that the file declares, then a guess."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from contextlib import suppress

from milepost.documents.guessing import COMMON, guess_latin, guess_letters
from milepost.errors import UnreadableFile
from milepost.wording import counted

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_MEANT = {
    "shift_jis": "cp932",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
"""Supersets that browsers use instead of the declared encoding."""

_SEVEN_BIT = ("iso2022", "hz", "utf_7", "utf-7")
_JAPANESE = re.compile(rb"\x1b\$(?:[@B]|\([DQ])")
_KOREAN = re.compile(rb"\x1b\$\)C")
_HZ = re.compile(rb"~\{((?:[\x21-\x77][\x21-\x7d])+)~\}")
_CODE_PAGE = re.compile(r"(?:x-)?(?:cp|dos|ibm|windows)[-_]?(\d{3,5})|(?:x-)?(.+?)(?:-[ie])?", re.I)
"""Names that programs invent for encodings."""


_CONTROL = bytes(sorted({*range(32), 127} - {8, 9, 10, 11, 12, 13, 27}))
_DROPPED = re.compile("[\0\ufeff\ud800-\udfff]")
_NEWLINES = re.compile("\r(?:\r?\n)?")  # "\r\r\n" is a newline of Windows, converted twice


def decode(data: bytes, name: str, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    r"""Decode a text file; ``declared`` is the encoding that an HTML meta tag or an XML line names.

    Newlines become ``\n``; NULs, byte order marks and lone surrogates are dropped. The notes say
    which encoding was guessed, and how much could not be decoded.

    Raises:
        UnreadableFile: the bytes are not text.

    >>> decode(b"caf\xc3\xa9\r\n", "menu.txt")
    ('café\n', ())
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _tolerant(data[len(mark) :], encoding)
    if (codec := _seven_bit(data, declared)) is not None:
        return _tolerant(data, codec)
    if guess := _utf32(data) or _utf16(data):
        text, notes = _tolerant(data, guess)
        return text, (f"read as {guess}, a guess", *notes)
    _refuse_binary(data, name)
    said = _known(declared)
    for encoding in ("utf-8", said or "utf-8"):
        with suppress(UnicodeDecodeError):
            return clean(data.decode(encoding)), ()
    return _damaged(data, said) or _guess(data, name)


def _known(declared: str | None) -> str | None:
    """Find the codec of a declared encoding; None if Python has none, or for UTF-16 and UTF-32."""
    if not declared:
        return None
    name = declared.strip()
    known = _CODE_PAGE.fullmatch(name)
    for each in (name, f"cp{known[1]}" if known and known[1] else known and known[2]):
        with suppress(LookupError, ValueError):
            "".encode(each or "-")  # rejects hex, zip and other codecs that do not encode text
            codec = codecs.lookup(each or "-").name
            # A file whose declaration is readable as ASCII is neither UTF-16 nor UTF-32, and those
            # who declare ASCII have not looked.
            is_no_help = codec.startswith(("utf-16", "utf-32", "ascii"))
            return None if is_no_help else _MEANT.get(codec, codec)
    return None


def _seven_bit(data: bytes, declared: str | None) -> str | None:
    """Find the encoding of a text whose bytes are those of ASCII, but not its letters."""
    if not data.isascii():
        return None
    codec = _known(declared)
    if codec is not None and codec.startswith(_SEVEN_BIT):
        return codec
    if _KOREAN.search(data):
        return "iso2022_kr"
    if _JAPANESE.search(data):
        return "iso2022_jp_2"
    blocks = _HZ.findall(data)
    if blocks and data.count(b"~{") == len(blocks) and len(max(blocks)) > 1:
        try:
            data.decode("hz")
        except UnicodeDecodeError:
            return None
        return "hz"
    if b"+" in data:  # most texts with it are no UTF-7
        with suppress(UnicodeDecodeError):
            return "utf_7" if _is_writing(data.decode("utf_7")) else None
    return None


def _utf32(data: bytes) -> str | None:
    """Detect UTF-32 without a byte order mark: hardly anything else can be decoded as it."""
    if len(data) % 4 or len(data) < 8:
        return None
    for encoding in ("utf-32-le", "utf-32-be"):
        with suppress(UnicodeDecodeError):
            if all(c.isprintable() or c.isspace() for c in data[:4096].decode(encoding)):
                return encoding
    return None


def _utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: each space or Latin letter contains one NUL byte."""
    sample = data[: min(len(data), 65_536) & ~1]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > max(1, 0.03 * len(sample) / 2) and others <= zeros / 20:
            text = sample.decode(encoding, "ignore")
            sense = sum(c.isprintable() or c.isspace() for c in text)
            if sense >= 0.97 * len(text) >= 0.95 * len(sample) / 2:
                return encoding
    return _wide_utf16(data)


def _wide_utf16(data: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark and without Latin letters.

    Texts in other encodings look like Chinese if they are read as UTF-16, but do not have the
    common characters of it, or all their letters in one alphabet.
    """
    sample = data[:4096]
    if len(data) % 2:
        return None
    with suppress(UnicodeDecodeError):
        sample.decode("utf-8")
        if len(sample.translate(None, _CONTROL)) == len(sample):
            return None
    for encoding in ("utf-16-le", "utf-16-be"):
        if _is_writing(sample.decode(encoding, "replace")):
            return encoding
    return None


def _is_writing(text: str) -> bool:
    """Whether letters beyond ASCII make sense: they are of one alphabet, or common in Chinese."""
    letters = [letter for letter in text if letter > "\x7f"]
    blocks = Counter(ord(letter) >> 8 for letter in letters if letter < "\u3100")
    common = sum(letter in COMMON for letter in letters)
    return (
        sum(c.isprintable() or c.isspace() for c in text) >= 0.97 * len(text)
        and "\ufffd" not in text
        and (max(blocks.values(), default=0) > 0.9 * len(letters) or common > 0.15 * len(letters))
        and (common > 1 or len(letters) > 4)
    )


def _refuse_binary(data: bytes, name: str) -> None:
    sample = data[:65_536]
    strange = len(sample) - len(sample.translate(None, _CONTROL))
    if strange > 0.02 * len(sample) or sample.count(0) > 0.001 * len(sample) + 1:
        raise UnreadableFile(
            f"{name} is a binary file, not text", "convert it to text, PDF, HTML, docx or epub"
        )


def _tolerant(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    text = data.decode(encoding, "replace")
    lost = text.count("\ufffd")
    if lost and encoding.startswith("utf"):  # the file may contain the character itself
        lost -= data.count("\ufffd".encode(encoding))
    if lost <= 0:
        return clean(text), ()
    return clean(text), (f"{counted(lost, 'place')} could not be decoded as {encoding}",)


def _damaged(data: bytes, declared: str | None) -> tuple[str, tuple[str, ...]] | None:
    """Decode as UTF-8 or as declared if few bytes are invalid; None if many are."""
    text, notes = _tolerant(data, "utf-8")
    lost = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore")) - lost
    if foreign > 10 * lost:
        return text, notes
    if declared:
        text, notes = _tolerant(data, declared)
        if text.count("\ufffd") < 0.01 * len(text):
            return text, notes
    return None


def _guess(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    found = guess_letters(data) or guess_latin(data)
    guess = found or "cp1252"
    text, notes = _tolerant(data, guess)
    if found is None and text.count("\ufffd") > 0.01 * len(text):
        raise UnreadableFile(f"{name}: unknown text encoding", "save it as UTF-8")
    return text, (f"read as {guess}, a guess", *notes)


def clean(text: str) -> str:
    r"""Make newlines ``\n``; drop NULs, byte order marks and lone surrogates."""
    return _DROPPED.sub("", _NEWLINES.sub("\n", text))
