"""Every error Milepost raises on purpose.

    MilepostError
    ├── InputError            a file, text or question that cannot be used
    │   ├── UnreadableFile    missing, empty, binary, encrypted, truncated …
    │   └── BadQuestion       empty, or without a letter or digit
    ├── ModelError            a model folder that is missing, damaged or of another schema
    ├── StoreError            an index that cannot be opened or written
    │   ├── NotAnIndex        the folder holds something else
    │   ├── WrongModel        the index was made by another model
    │   ├── NewerSchema       the index was made by a newer Milepost
    │   ├── OldSchema         the index was made by an older Milepost
    │   ├── IndexBusy         another process is writing
    │   ├── IndexDamaged      a checksum does not hold
    │   └── StorageFull       the disk (or quota) is full; the old state is whole
    └── MissingExtra          an optional dependency is not installed

A message has three parts: what happened, to which file or argument, and the command that
mends it. The command line prints it as one line and never a traceback.
"""

from __future__ import annotations

from collections.abc import Collection

# To compare a name with more than this takes seconds.
_COMPARED = 20_000


class MilepostError(Exception):
    """Root of the tree; ``str(error)`` is one line for people.

    Args:
        problem: what is wrong, naming the file or argument.
        hint: what to do next, a command where there is one; shown after the problem.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"{problem}; {hint}" if hint else problem)


class InputError(MilepostError):
    """A file, text or question that cannot be used."""


class UnreadableFile(InputError):
    """A file that gives no text: missing, empty, binary, encrypted, truncated."""


class BadQuestion(InputError):
    """A question that is empty or has neither letter nor digit."""


class ModelError(MilepostError):
    """A model folder that is missing, damaged, or of a schema this version does not know."""


class StoreError(MilepostError):
    """An index that cannot be opened or written."""


class NotAnIndex(StoreError):
    """The folder is not a Milepost index."""


class WrongModel(StoreError):
    """The index holds vectors of another model."""


class NewerSchema(StoreError):
    """The index was written by a newer Milepost."""


class OldSchema(StoreError):
    """The index was written by an older Milepost, in a form that this one does not read."""


class IndexBusy(StoreError):
    """Another process holds the index for writing."""


class IndexDamaged(StoreError):
    """A checksum in the index does not hold."""


class StorageFull(StoreError):
    """No space is left; the last committed state is whole."""


class MissingExtra(MilepostError):
    """A feature asks for an optional dependency that is not installed."""


def nearest(name: str, known: Collection[str]) -> str:
    """The nearest known name, as the beginning of a hint: ``did you mean 'NAME'? ``, or nothing.

    Upper and lower case do not count. Among very many names none is looked for.
    """
    if len(known) > _COMPARED:
        return ""
    from difflib import get_close_matches  # only errors need it

    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.casefold(), folded, 1, 0.4)
    return f"did you mean {folded[near[0]]!r}? " if near else ""
