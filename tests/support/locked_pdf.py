"""Locks small PDFs with a password, as PDF 1.4 has it (RC4, 40 bits): lengths stay as they are."""

import hashlib
import re

_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_ALLOWED = -44
"""What a reader may do without the owner's password, as the standard counts it."""


def locked(pdf: bytes, password: str) -> bytes:
    """A file of ``write_pdf`` or ``scan`` that opens with a password alone; without an outline."""
    padded = (password.encode("ascii") + _PAD)[:32]
    owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
    name = hashlib.md5(pdf).digest()
    allowed = (_ALLOWED & 0xFFFFFFFF).to_bytes(4, "little")
    key = hashlib.md5(padded + owner + allowed + name).digest()[:5]

    def stream(match: re.Match[bytes]) -> bytes:
        number = int(match[2]).to_bytes(3, "little") + b"\0\0"
        return match[1] + _rc4(hashlib.md5(key + number).digest()[:10], match[3]) + match[4]

    hidden = re.sub(
        rb"((\d+) 0 obj\s*<<(?:(?!endobj).)*?>>\s*stream\n)(.*?)(\nendstream)",
        stream,
        pdf,
        flags=re.DOTALL,
    )
    entry = b"/ID [<%s> <%s>] /Encrypt << /Filter /Standard /V 1 /R 2 /P %d /O <%s> /U <%s> >>" % (
        name.hex().encode(),
        name.hex().encode(),
        _ALLOWED,
        owner.hex().encode(),
        _rc4(key, _PAD).hex().encode(),
    )
    return re.sub(rb"/Root \d+ 0 R", lambda root: root[0] + b" " + entry, hidden)


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
