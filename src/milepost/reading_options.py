"""How files are read, where they leave a choice; an index remembers it for each file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from milepost.errors import InputError

Hidden = Literal["drop", "keep"]
Ocr = Literal["auto", "never", "always"]

OnPage = Callable[[int, int], None]
"""Called before the text of a page is recognised: pages done, and pages to do in the document."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read, where they leave a choice.

    Attributes:
        hidden: what becomes of text in PDFs that a reader of the page cannot see.
        ocr: which pages are read from their pictures: those with a picture and hardly any text,
            none, or all.

    >>> str(ReadOptions(hidden="keep")), str(ReadOptions())
    ('hidden=keep', '')
    """

    hidden: Hidden = "drop"
    ocr: Ocr = "never"

    def __post_init__(self) -> None:
        for name, words in (("hidden", ("drop", "keep")), ("ocr", ("auto", "never", "always"))):
            value = getattr(self, name)
            if value not in words:
                hint = " or ".join(f"{name}={word!r}" for word in words)
                raise InputError(f"{name} is {value!r}", hint)

    def __str__(self) -> str:
        return " ".join(
            f"{each.name}={value}"
            for each in fields(self)
            if (value := getattr(self, each.name)) != each.default
        )

    @classmethod
    def parse(cls, written: str) -> ReadOptions:
        """Read what ``str`` has written; words of a newer version are passed over."""
        known = {each.name for each in fields(cls)}
        pairs = (word.partition("=")[::2] for word in written.split())
        values: dict[str, Any] = {name: value for name, value in pairs if name in known}
        return cls(**values)

    def changed(self, **values: Any) -> ReadOptions:
        """The same with other values; None leaves a value as it is."""
        return replace(self, **{name: value for name, value in values.items() if value is not None})


READ_DEFAULTS = ReadOptions()
