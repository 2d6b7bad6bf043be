"""What is known of a document, for lists and citations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from milepost.server.documents import references

if TYPE_CHECKING:
    from milepost.store import DocumentInfo


class Author(BaseModel):
    """A person, or an institution."""

    family: str
    given: str = Field(description="Empty for an institution.")


class Reference(BaseModel):
    """A work that a document is a copy of: what Zotero says of it, else the file itself."""

    title: str = Field(description="Empty where the file has none.")
    authors: list[Author]
    date: str | None = Field(description="YYYY, YYYY-MM or YYYY-MM-DD.")


def reference_of(info: DocumentInfo) -> Reference | None:
    """The reference of a document; None where nothing but its name is known."""
    known = references.reference_of(info)
    if known is None:
        return None
    return Reference(
        title=known.title,
        authors=[Author(family=family, given=given) for family, given in known.authors],
        date=known.date,
    )
