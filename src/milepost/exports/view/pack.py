"""Named arrays and texts in one run of bytes, and bytes as characters that HTML leaves alone.

    length of the header (4 bytes), header (JSON), sections

A section is deflated: the browser itself inflates it (``page/pack.js``).
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALPHABET = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"&<')
"""91 characters that are the same in HTML as in a string: 13 bits in two of them."""

_LINE = 8192


class Pack:
    """Sections under names; ``facts`` of the header are anything that JSON holds."""

    def __init__(self) -> None:
        self.facts: dict[str, Any] = {}
        self._sections: dict[str, dict[str, Any]] = {}
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, name: str, data: bytes) -> None:
        """Add bytes, deflated."""
        self._keep(name, _deflated(data, zlib.Z_DEFAULT_STRATEGY), {})

    def add_json(self, name: str, value: Any) -> None:
        """Add what JSON can hold; lone surrogates become escapes."""
        written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        self.add(name, written.encode("ascii"))

    def add_table(self, name: str, table: NDArray[np.uint8 | np.int8]) -> None:
        """Add a table of ``(rows, columns)`` bytes, column by column.

        That is smaller, because numbers of one column are alike. Runs of one number are all that
        repeats in them: to look for more takes seconds and makes hardly anything smaller.
        """
        data = _deflated(table.T.tobytes(), zlib.Z_RLE)
        self._keep(name, data, {"columns": table.shape[1]})

    def _keep(self, name: str, data: bytes, facts: dict[str, Any]) -> None:
        self._sections[name] = {"at": self._size, "bytes": len(data), **facts}
        self._parts.append(data)
        self._size += len(data)

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each section."""
        return {name: facts["bytes"] for name, facts in self._sections.items()}

    def to_bytes(self) -> bytes:
        """Everything."""
        head = {"facts": self.facts, "sections": self._sections}
        header = json.dumps(head, ensure_ascii=True, separators=(",", ":")).encode("ascii")
        return b"".join((struct.pack("<I", len(header)), header, *self._parts))


def _deflated(data: bytes, strategy: int) -> bytes:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, strategy)
    return squeezer.compress(data) + squeezer.flush()


def as_characters(data: bytes) -> str:
    """Bytes as characters of ``ALPHABET``, in lines: 1.23 characters a byte.

    The page takes 13 bits from two characters; what is left over at the end it passes over.
    """
    padded = np.frombuffer(data + bytes(-len(data) % 13), np.uint8)
    bits = np.unpackbits(padded).reshape(-1, 13)
    numbers = bits @ (1 << np.arange(12, -1, -1, dtype=np.int64))
    letters = np.frombuffer(ALPHABET.encode("ascii"), np.uint8)
    pairs = np.stack((letters[numbers // 91], letters[numbers % 91]), axis=1).tobytes()
    text = pairs.decode("ascii")
    return "\n".join(text[at : at + _LINE] for at in range(0, len(text), _LINE))


def varints(values: NDArray[np.int64]) -> bytes:
    """Numbers of 0 or more, seven bits to a byte, the lowest first; the last byte is below 128."""
    shifts = np.arange(0, max(1, int(values.max(initial=0)).bit_length()), 7)
    left = values[:, None] >> shifts
    octets = (left & 127) | ((left > 127) << 7)
    return bytes(octets[(left > 0) | (shifts == 0)].astype(np.uint8))
