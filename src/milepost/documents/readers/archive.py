"""Open zip containers (docx, epub …); refuse damaged and encrypted ones and zip bombs."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterator
from functools import lru_cache
from html.entities import html5
from urllib.parse import unquote
from xml.etree import ElementTree

from milepost.errors import UnreadableFile

_REFERENCE = re.compile(rb"&(?!#\d+;|#x[0-9a-fA-F]+;)(\w+;)?")
_ENTITY = re.compile(rb"<!ENTITY", re.I)
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"

MAX_BYTES = 1 << 30
"""Maximum unpacked size of an archive; larger ones are refused as zip bombs."""


class Archive:
    """The parts of a zip file, read one at a time; ``name`` is for messages."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise _broken(name, str(error)) from error
        self.parts = frozenset(self._zip.namelist())
        self._lowered: dict[str, str] = {}
        if sum(part.file_size for part in self._zip.infolist()) > MAX_BYTES:
            raise UnreadableFile(
                f"{name} unpacks to more than {MAX_BYTES >> 20} MiB",
                "unpack it and use the parts that you need",
            )

    def find(self, part: str) -> str | None:
        """Return the name of a part, whose letters may differ in case; None if there is none."""
        if part in self.parts:
            return part
        if not self._lowered:
            self._lowered = {_unescaped(name).lower(): name for name in self.parts}
        return self._lowered.get(_unescaped(part).lower())

    def read(self, part: str) -> bytes:
        """Read one part."""
        try:
            with self._zip.open(part) as file:
                return file.read()
        except KeyError as error:
            raise _broken(self.name, f"its part {part} is missing") from error
        except RuntimeError as error:  # raised by zipfile if a password is needed
            raise UnreadableFile(
                f"{self.name} is encrypted", "save it without a password"
            ) from error
        except Exception as error:  # damaged streams raise zlib.error, EOFError, BadZipFile …
            raise _broken(self.name, f"its part {part} is damaged") from error

    def xml(self, part: str) -> ElementTree.Element:
        """Parse one part; raises UnreadableFile as ``read`` and ``parsed`` do."""
        return parsed(self.read(part), self.name, part)

    def xml_or_none(self, part: str, notes: list[str] | None = None) -> ElementTree.Element:
        """Parse one part; a missing or damaged one is empty, and is named in ``notes``."""
        try:
            return self.xml(part)
        except UnreadableFile as error:
            if notes is not None:
                notes.append(error.problem)
            return ElementTree.Element("none")

    def elements(self, part: str, tags: Collection[str]) -> Iterator[ElementTree.Element]:
        """Yield the elements of a part with some local names, each emptied after its use."""
        data = self.read(part)
        _refuse_entities(data, self.name, part)
        try:
            for _, node in ElementTree.iterparse(io.BytesIO(data)):
                if local(node) in tags:
                    yield node
                    node.clear()
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            raise _broken(self.name, f"{part}, {error}") from error


def parsed(data: bytes, name: str, part: str) -> ElementTree.Element:
    """Parse XML; of alternatives for several versions of Office, only the first is kept.

    Errors name the file and the part of it. Entities, which can unpack to any size, are refused.
    """
    _refuse_entities(data, name, part)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # encodings, too
        try:
            root = ElementTree.fromstring(_REFERENCE.sub(_escaped, data))
        except (ElementTree.ParseError, LookupError, ValueError):
            raise _broken(name, f"{part}, {error}") from error
    if b"AlternateContent" in data:  # of Office alone
        for node in root.iter(_ALTERNATIVES):
            del node[1:]
    return root


def _refuse_entities(data: bytes, name: str, part: str) -> None:
    if _ENTITY.search(data):
        raise UnreadableFile(
            f"{name} is not safe to read: it defines XML entities in {part}",
            "save it again with the program that made it",
        )


def _escaped(match: re.Match[bytes]) -> bytes:
    """Write a bare ampersand, or a letter that only HTML names, as XML does."""
    name = (match[1] or b"").decode("ascii")
    letters = html5.get(name, "")
    if letters and letters not in "<>&":
        return "".join(f"&#{ord(letter)};" for letter in letters).encode()
    return b"&amp;" + match[0][1:] if not letters else match[0]


def _broken(name: str, why: str) -> UnreadableFile:
    return UnreadableFile(f"{name} is damaged: {why}", "open and save it again")


def _unescaped(name: str) -> str:
    """Return a name as programs write it that escape letters or use the other slash."""
    return unquote(name).replace("\\", "/")


def local(node: ElementTree.Element) -> str:
    """Return an element's name without its namespace, which differs between format versions."""
    return _without_namespace(node.tag)


@lru_cache(maxsize=1024)  # a large sheet asks a million times
def _without_namespace(tag: str) -> str:
    return tag.rpartition("}")[2]


def attribute(node: ElementTree.Element, name: str) -> str | None:
    """Return the value of an attribute in any namespace."""
    key = _keys(tuple(node.keys())).get(name)
    return None if key is None else node.get(key)


def attributes(node: ElementTree.Element) -> dict[str, str]:
    """Return all attributes that are in a namespace by their names without it."""
    return {name: node.attrib[key] for name, key in _keys(tuple(node.keys())).items()}


@lru_cache(maxsize=1024)
def _keys(keys: tuple[str, ...]) -> dict[str, str]:
    """Map the names of attributes without their namespace to those with it; the first counts."""
    return {key.rpartition("}")[2]: key for key in reversed(keys) if "}" in key}


def number(said: str | None, default: int, digits: int = 5) -> int:
    """Return a number of so many digits at most; ``default`` if an attribute says otherwise."""
    return int(said) if said and said.isdigit() and len(said) <= digits else default


def every(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """List all elements with a local name, in document order."""
    return [node for node in root.iter() if _without_namespace(node.tag) == name]


def path_in(folder: str, link: str) -> str:
    """Resolve a link in a part of ``folder`` to the path of its target."""
    return posixpath.normpath(posixpath.join(folder, unquote(link.partition("#")[0])))
