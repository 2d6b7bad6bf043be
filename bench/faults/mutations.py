"""What is done to good files: each mutation takes a generator, a name and bytes, and gives both.

The same seed makes the same bytes. Files that no original becomes are in ``crafted.py``.
"""

import io
import random
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from faults import crafted
from faults.originals import mail, packed
from milepost.documents import SUFFIXES as KNOWN

HUGE = (0, -1, 255, 65_535, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 10**30, 99_999_999)
SUFFIXES = (*sorted(suffix[1:] for suffix in KNOWN), "txt", "py", "bin")


@dataclass(frozen=True)
class Case:
    """A hostile file: its name pretends a suffix; ``kind`` is the mutation of ``original``."""

    name: str
    data: bytes
    kind: str
    original: str


def make(seed: int, number: int, small: Mapping[str, bytes], large: Mapping[str, bytes]) -> Case:
    """Case ``number`` of an endless series."""
    rng = random.Random(f"{seed}:{number}")
    kind = rng.choices(list(MUTATIONS), [weight for weight, _ in MUTATIONS.values()])[0]
    pool = large if large and rng.random() < LARGE_SHARE else small
    original = rng.choice(sorted(pool))
    name, data = MUTATIONS[kind][1](rng, original, pool[original], small)
    return Case(f"{number:05}-{name}", data, kind, original)


LARGE_SHARE = 0.02
"""Share of the cases that are made from large files, which take seconds to read."""

Made = tuple[str, bytes]
Small = Mapping[str, bytes]
Mutation = Callable[[random.Random, str, bytes, Small], Made]


def flip(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Change bytes, in the whole file or in its first or last kilobyte."""
    changed = bytearray(data)
    low, high = rng.choice(
        [(0, len(data)), (0, min(1024, len(data))), (max(0, len(data) - 1024), len(data))]
    )
    for _ in range(rng.choice([1, 3, 10, 100, 1000]) if data else 0):
        changed[rng.randrange(low, high)] = rng.randrange(256)
    return name, bytes(changed)


def cut(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    low, high = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return name, rng.choice([data[:low], data[low:], data[:low] + data[high:]])


def splice(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """The first part of one file and the last of another, or one inside the other."""
    other = small[rng.choice(sorted(small))]
    at, to = rng.randint(0, len(data)), rng.randint(0, len(other))
    return name, data[:at] + other[to:] + rng.choice([b"", data[at:]])


def repeat(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    low = rng.randint(0, len(data))
    part = data[low : low + rng.choice([1, 8, 100, 2000])]
    times = rng.choice([2, 50, 1000]) if len(part) <= 100 else rng.choice([2, 50])
    return name, data[:low] + part * times + data[low:]


def extension(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Give the file another suffix, or another letter case, or none."""
    suffix = rng.choice([*SUFFIXES, "", "PDF", "txt.", "ééé", "pdf.txt"])
    return f"{PurePath(name).stem}.{suffix}", data


def tiny(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Nothing, or the first bytes alone, or one kind of byte."""
    length = rng.choice([0, 0, 1, 4, 8, 30, 512])
    return name, rng.choice([data[:length], bytes(length), b"\xff" * length, b"\n" * length])


def counts(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Replace numbers, in the file and in the parts of a container."""
    if data.startswith(b"PK"):
        return name, inside(rng, data, _numbers) if rng.random() < 0.7 else _zip_fields(rng, data)
    return name, _numbers(rng, data) if rng.random() < 0.7 else _words(rng, data)


def parts(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Change what is inside a container, with right checksums; other files: swap two lines."""
    if data.startswith(b"PK"):
        plain = map(_on_bytes, (flip, cut, repeat))
        return name, inside(rng, data, rng.choice([*plain, _deeper, _numbers, _entities]))
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return name, b"\n".join(lines)


def nest(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """Put the file into archives or mails, several times."""
    kind = rng.choice(["zip", "eml", "eml", "mbox"])
    for depth in range(rng.choice([1, 1, 1, 2, 2, 2, 5, 5, 15])):
        data = packed({name: data}) if kind == "zip" else mail({name: data}, f"Level {depth}")
        name = f"{PurePath(name).stem[:40]}.{kind if kind == 'zip' else 'eml'}"
        if len(data) > 3_000_000:
            break
    if kind == "mbox":
        line = b"From a@b.example Mon Mar  2 10:00:00 2026\n"
        name, data = "box.mbox", (line + data + b"\n") * rng.choice([1, 3])
    return name, data


def made(rng: random.Random, name: str, data: bytes, small: Small) -> Made:
    """A file that was crafted to harm."""
    return crafted.one(rng)


def inside(
    rng: random.Random, data: bytes, change: Callable[[random.Random, bytes], bytes]
) -> bytes:
    """Change one or some parts of a zip file; the whole file where it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {part: archive.read(part) for part in archive.namelist()}
    except (zipfile.BadZipFile, OSError, RuntimeError, ValueError):
        return change(rng, data)
    names = sorted(part for part in parts if part.endswith(("ml", "rels", "opf")))
    for part in rng.sample(names, min(len(names), rng.choice([1, 1, 3]))):
        parts[part] = change(rng, parts[part])
    return packed(parts)


def _on_bytes(mutation: Mutation) -> Callable[[random.Random, bytes], bytes]:
    """A mutation of files as one of a part of a container."""
    return lambda rng, data: mutation(rng, "", data, {})[1]


def _deeper(rng: random.Random, data: bytes) -> bytes:
    """Nest an element of XML thousands of times."""
    tags = re.findall(rb"<([\w:]+)[^>]*>", data)
    if not tags:
        return data
    tag, times = rng.choice(tags), rng.choice([50, 500, 20_000])
    at = rng.choice([match.end() for match in re.finditer(rb"<%s[^>]*[^/]>" % tag, data)] or [0])
    return data[:at] + b"<%s>" % tag * times + b"</%s>" % tag * times + data[at:]


def _entities(rng: random.Random, data: bytes) -> bytes:
    return crafted.ENTITIES + re.sub(rb"<\?xml[^>]*>", b"", data).replace(b">", b">&l9;&file;", 3)


def _numbers(rng: random.Random, data: bytes) -> bytes:
    found = list(re.finditer(rb"(?<![\w#])\d+(?!\w)|(?<=\")[A-Z]{1,3}\d+(?=\")", data))
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 5, 50]))),
                        key=lambda match: -match.start()):  # fmt: skip
        value = b"%d" % rng.choice(HUGE)
        if match[0][:1].isalpha():
            value = rng.choice([b"XFD1048576", b"A0", b"ZZZ99999999", b"A" + value])
        data = data[: match.start()] + value + data[match.end() :]
    return data


def _words(rng: random.Random, data: bytes) -> bytes:
    """Replace four bytes by a number, as binary formats keep them."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 5, 20]) if len(data) > 4 else 0):
        at = rng.randrange(min(len(data), rng.choice([512, len(data)])))
        value = rng.choice(HUGE) % 2**32
        changed[at : at + 4] = value.to_bytes(4, rng.choice(["little", "big"]))
    return bytes(changed)


def _zip_fields(rng: random.Random, data: bytes) -> bytes:
    """Replace sizes, counts and offsets in the headers of a zip file."""
    changed = bytearray(data)
    places = [match.start() for match in re.finditer(rb"PK(\x01\x02|\x03\x04|\x05\x06)", data)]
    for place in rng.sample(places, min(len(places), rng.choice([1, 3, 20]))):
        at = place + rng.choice([6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 42])
        size = rng.choice([2, 4])
        changed[at : at + size] = (rng.choice(HUGE) % 256**size).to_bytes(size, "little")
    return bytes(changed)


MUTATIONS: dict[str, tuple[float, Mutation]] = {
    "bytes changed": (20, flip),
    "cut": (14, cut),
    "spliced": (14, splice),
    "repeated": (8, repeat),
    "counts": (12, counts),
    "parts changed": (14, parts),
    "nested": (6, nest),
    "wrong suffix": (5, extension),
    "nearly empty": (3, tiny),
    "crafted": (4, made),
}
"""Weight and function of each mutation."""
