"""Every error that Milepost raises on purpose; ``MilepostError`` is the root of the tree.

The text of an error is ``problem; try: hint``. The problem names the file or argument; the hint is
a command, a value or a short imperative. The command line prints it as one line without a
traceback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import PurePath
from typing import Literal

from milepost.wording import CONTROL

_SECRETS = re.compile(r"([a-z][a-z0-9+.-]+:/+)(?:[^/]*@)?([^?#]*).*", re.IGNORECASE | re.DOTALL)

# Of wrong names of commands, typing errors have 0.67 and more, other words mostly less than this.
_NEAR = 0.6

# Comparing a name with more names than this takes seconds.
_MAX_COMPARED = 20_000


class MilepostError(Exception):
    """Root of the tree; ``str(error)`` is one line.

    Args:
        problem: what is wrong, naming the file or argument.
        hint: what to do next: a command, a value or a short imperative; may be empty.

    >>> str(MilepostError("unknown command 'serch'", "milepost --help"))
    "unknown command 'serch'; try: milepost --help"
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        # Names of files may hold any characters: they must not break the line.
        self.problem = CONTROL.sub(_sign, problem)
        self.hint = CONTROL.sub(_sign, hint)
        super().__init__(f"{self.problem}; try: {self.hint}" if hint else self.problem)


def _sign(control: re.Match[str]) -> str:
    """What stands for a control character: a space for a new line, the sign that Unicode has."""
    code = ord(control[0])
    if control[0] in "\n\r\t":
        return " "
    return chr(0x2400 + code) if code < 32 else "\N{REPLACEMENT CHARACTER}"


class InputError(MilepostError):
    """A file, text or question that cannot be used."""


class UnreadableFile(InputError):
    """A file without readable text: missing, empty, binary, encrypted, truncated.

    Args:
        problem, hint: as in ``MilepostError``.
        remedy: with what the file could be read: its ``"password"``, or text recognition
            (``"ocr"``); None if with neither.
    """

    def __init__(
        self, problem: str, hint: str = "", remedy: Literal["password", "ocr"] | None = None
    ) -> None:
        super().__init__(problem, hint)
        self.remedy = remedy


def locked(name: str) -> UnreadableFile:
    """Say that a file needs its password."""
    return UnreadableFile(f"{name} is protected by a password", "save it without one")


class UnknownDocument(InputError):
    """A document that is not there."""


class BadQuestion(InputError):
    """A question that is empty or has neither a letter nor a digit."""


class WrongType(InputError, TypeError):
    """An argument of another type; a ``TypeError``, too, as Python's own functions raise."""


class ModelError(MilepostError):
    """A model folder that is missing, damaged, or of a schema this version does not know."""


class StoreError(MilepostError):
    """An index that cannot be opened or written."""


class NotAnIndex(StoreError):
    """The folder is not a Milepost index."""


class WrongModel(StoreError):
    """The index holds vectors of another model.

    Attributes:
        fingerprint: of the model that made it.
    """

    def __init__(self, problem: str, hint: str = "", fingerprint: str = "") -> None:
        super().__init__(problem, hint)
        self.fingerprint = fingerprint


class NewerSchema(StoreError):
    """The index was written by a newer Milepost."""


class OldSchema(StoreError):
    """The index was written by an older Milepost, in a form that this one does not read."""


class IndexBusy(StoreError):
    """Another process holds the index for writing, or its server does not answer now."""


class IndexDamaged(StoreError):
    """A checksum in the index does not match."""


class StorageFull(StoreError):
    """No space is left, or the index must not be written; the last commit is intact."""


class MissingExtra(MilepostError):
    """A feature needs an optional dependency that is not installed."""


class MissingPackage(MissingExtra):
    """A command or option needs one of Milepost's own packages that is not installed."""


class PackageMismatch(MilepostError):
    """One of Milepost's own packages is of another version than Milepost."""


def without_secrets(address: str) -> str:
    """An address without user, password and query; anything else as it is.

    >>> without_secrets("https://anna:secret@example.com/v1?key=1"), without_secrets("a?b.txt")
    ('https://example.com/v1', 'a?b.txt')
    """
    found = _SECRETS.fullmatch(address)
    if found is None:
        return address
    return found[1] + ("…" if "@" in found[2] else found[2])  # a password may hold a slash


def missing_file(path: object, more: str = "") -> UnreadableFile:
    """The error of a path that does not exist, or is an address; ``more`` is what follows."""
    shown = without_secrets(str(path))
    hint = "check the path"
    if shown.startswith(("http:/", "https:/")):
        hint = "download it first: web addresses are not read"
    elif shown.startswith(("postgres", "lance")) and ":/" in shown:
        hint = "--db ADDRESS: an index is no file"
    return UnreadableFile(f"{shown} does not exist{more}", hint)


def first_line(error: BaseException) -> str:
    """The first line of what another library says of its error, if it is about no object of its."""
    said = str(error).strip().partition("\n")[0]
    return said if said and "object at 0x" not in said else type(error).__name__


def in_words(error: BaseException) -> str:
    """One line about an error that is not of ours: its class, and what it says if it says any.

    >>> in_words(ValueError("no colour")), in_words(EOFError()), in_words(MemoryError())
    ('ValueError: no colour', 'EOFError', 'it needs more memory than there is')
    """
    if isinstance(error, MilepostError):
        return str(error)
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    kind, said = type(error).__name__, " ".join(first_line(error).split())
    return kind if said == kind else f"{kind}: {said}"


def nearest(name: str, known: Collection[str], part: Callable[[str], str] = str) -> str:
    """Start a hint with the known name nearest to ``name``: ``'NAME', or ``; empty if none is near.

    Only a ``part`` of each name is compared, and upper and lower case do not count. Very long lists
    of names are not searched.

    >>> nearest("serch", ["search", "index"]) + "milepost --help"
    "'search', or milepost --help"
    """
    if len(known) > _MAX_COMPARED:
        return ""
    from difflib import get_close_matches  # only errors need it

    folded = {part(each).casefold(): each for each in known}
    near = get_close_matches(part(name).casefold(), folded, 1, _NEAR)
    return f"{folded[near[0]]!r}, or " if near else ""


def nearest_file(name: str, known: Collection[str]) -> str:
    """Start a hint with the known file whose name is much like that of ``name``; see ``nearest``.

    Folders and suffixes do not count: those that many files share would make any of them near.

    >>> nearest_file("tea/nothere.pdf", ["tea/fedreg.pdf"]), nearest_file("fedrg", ["fedreg.pdf"])
    ('', "'fedreg.pdf', or ")
    """
    return nearest(name, known, lambda each: PurePath(each).stem)
