"""Words of messages that depend on a number."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A number and what it counts, in the plural unless it is one.

    >>> counted(1, "document"), counted(2000, "sentence")
    ('1 document', '2,000 sentences')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
