"""Options for reading files; an index stores them for each file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from milepost.errors import InputError

Hidden = Literal["drop", "keep"]
Ocr = Literal["auto", "never", "always"]

OnPage = Callable[[int, int], None]
"""Called before text recognition of a page with the pages done and the pages in total."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading files.

    Attributes:
        hidden: whether to drop or keep text in PDFs that is invisible on the page.
        ocr: pages whose text is recognised: those with an image and hardly any text (``auto``),
            none or all.

    >>> str(ReadOptions(hidden="keep")), str(ReadOptions())
    ('hidden=keep', '')
    """

    hidden: Hidden = "drop"
    ocr: Ocr = "never"

    def __post_init__(self) -> None:
        for name, words in (("hidden", get_args(Hidden)), ("ocr", get_args(Ocr))):
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
        """Parse the output of ``str``; options of newer versions are ignored."""
        known = {each.name for each in fields(cls)}
        pairs = (word.partition("=")[::2] for word in written.split())
        values: dict[str, Any] = {name: value for name, value in pairs if name in known}
        return cls(**values)

    def changed(self, **values: Any) -> ReadOptions:
        """Return a copy with other values; None keeps a value."""
        return replace(self, **{name: value for name, value in values.items() if value is not None})


READ_DEFAULTS = ReadOptions()
