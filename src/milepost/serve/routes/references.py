"""What Zotero knows of a document, for citations."""

from __future__ import annotations

from pydantic import BaseModel, Field

from milepost.text.zotero import attachment_of


class Author(BaseModel):
    """A person, or an institution."""

    family: str
    given: str = Field(description="Empty for an institution.")


class Reference(BaseModel):
    """A work that a document is a copy of."""

    title: str
    authors: list[Author]
    date: str | None = Field(description="YYYY, YYYY-MM or YYYY-MM-DD.")


def reference_of(source: str | None) -> Reference | None:
    """The reference of a file in Zotero's storage; None for any other document."""
    known = attachment_of(source) if source is not None else None
    if known is None:
        return None
    return Reference(
        title=known.reference.title,
        authors=[Author(family=family, given=given) for family, given in known.reference.authors],
        date=known.reference.date,
    )
