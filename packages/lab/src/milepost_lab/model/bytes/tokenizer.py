"""Convert bytes to ids and back, as ByT5: pad 0, end 1, unknown 2, byte ``b`` is ``b + 3``.

The marks of gaps (sentinels) count down from 258, as in ByT5: ids of bytes that never occur in
UTF-8. There are eleven such bytes (0xFF to 0xF5); a twelfth mark would be a byte that occurs. Other
implementations count down from 383 or up from 259, so their models are incompatible.
"""

from __future__ import annotations

from collections.abc import Iterable

from milepost.errors import InputError

PAD, END, UNKNOWN, OFFSET = 0, 1, 2, 3

VOCABULARY = 384
"""Number of ids of the published models: 259 used and 125 unused."""

SENTINEL = 258
"""The mark of the first gap; the next is one lower."""

SENTINELS = 11
"""Number of consecutive bytes, from 0xFF downwards, that never occur in UTF-8."""


def encode(text: str | bytes, *, end: bool = True) -> list[int]:
    """Convert a text to ids without normalization: ``"olá"`` → [114, 111, 198, 164, 1].

    Args:
        text: a string, read as UTF-8, or bytes as they are.
        end: append ``END``.

    Raises:
        InputError: the string contains a lone surrogate, which has no bytes.
    """
    ids = [byte + OFFSET for byte in as_bytes(text)]
    return [*ids, END] if end else ids


def decode(ids: Iterable[int]) -> bytes:
    """Convert ids to bytes; ids that are not bytes (pad, end, unknown, unused) are left out.

    The marks of gaps are ids of bytes, so fill the gaps first.
    """
    return bytes(i - OFFSET for i in ids if OFFSET <= i < OFFSET + 256)


def as_bytes(text: str | bytes) -> bytes:
    """Encode a text as UTF-8; bytes are returned unchanged.

    Raises:
        InputError: the string contains a lone surrogate.
    """
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"the text holds half a character at offset {error.start}",
            "read the file as UTF-8 again",
        ) from None


def sentinel(number: int) -> int:
    """Return the mark of gap ``number``, counted from 0: 258, then 257 and so on.

    Raises:
        InputError: there are more gaps than bytes that never occur.
    """
    if not 0 <= number < SENTINELS:
        raise InputError(
            f"gap {number + 1} has no mark: only {SENTINELS} bytes never occur in UTF-8",
            "read shorter windows or make longer gaps",
        )
    return SENTINEL - number


def clip(data: bytes, most: int) -> bytes:
    """Cut data to at most ``most`` bytes, never inside a UTF-8 character."""
    return data if len(data) <= most else data[: _border(data, most)]


def window_at(data: bytes, place: int, most: int) -> bytes:
    """Return at most ``most`` bytes, from the start of the character at byte ``place``."""
    start = _border(data, place)
    return clip(data[start : start + most + 1], most)


def windows(data: bytes, most: int) -> list[bytes]:
    """Cut data into pieces of at most ``most`` bytes, each beginning at a character.

    Bytes that are not UTF-8 are cut at ``most``.
    """
    pieces: list[bytes] = []
    place = 0
    while place < len(data):
        piece = clip(data[place : place + most + 1], most) or data[place : place + most]
        pieces.append(piece)
        place += len(piece)
    return pieces


def _border(data: bytes, place: int) -> int:
    """Find the start of the character at ``place``; ``place`` itself if it is not UTF-8."""
    for start in range(place, max(place - 4, -1), -1):
        if data[start] & 0xC0 != 0x80:
            return start
    return place
