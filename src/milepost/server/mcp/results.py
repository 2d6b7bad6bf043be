"""What the tools give, as records that become JSON; their fields are the tools' output schemas.

An agent pays for every token: a passage names its document by a short id, whose title stands once
in the result; where it ends follows from its text.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class Evidence(BaseModel):
    """Whole sentences of one document that answer the question."""

    text: str
    document: str = Field(description="Id of the document.")
    start: int = Field(description="Offset in the document's text.")
    score: float = Field(description="Probability, 0 to 1, that this is evidence.")
    place: str | None = Field(
        default=None,
        description="Page, slide, sheet and row … in words; `hidden text` cannot be seen on it.",
    )
    heading: str | None = None
    table: str | None = Field(
        default=None, description="Caption and columns of the table whose rows the text has."
    )

    @property
    def end(self) -> int:
        """Offset behind the text."""
        return self.start + len(self.text)


class Searched(BaseModel):
    """What `search` gives."""

    passages: list[Evidence] = Field(description="Best first.")
    documents: dict[str, str] = Field(default_factory=dict, description="Title of each id.")
    next: str | None = Field(
        default=None, description="Cursor of the passages that come after these."
    )
    notes: list[str] = Field(default_factory=list, description="What to know of this result.")


class Read(BaseModel):
    """What `read` gives."""

    text: str
    document: str
    id: str
    start: int
    end: int
    characters: int = Field(description="Length of the whole document.")
    place: str | None = Field(default=None, description="Page, slide … where the text begins.")
    heading: str | None = None
    next: int | None = Field(
        default=None, description="`start` of what comes after; none at the end."
    )
    notes: list[str] = Field(default_factory=list)


class Match(BaseModel):
    """A place of a document that holds the checked text, word for word or nearly."""

    text: str
    document: str = Field(description="Id of the document.")
    start: int
    place: str | None = None
    differences: list[tuple[str, str]] = Field(
        default_factory=list, description="What was given, and what the document has instead."
    )


class Checked(BaseModel):
    """What `check` gives."""

    verdict: str = Field(
        description="verbatim, near, stitched (pieces of several places), found elsewhere (in a "
        "document not named), supported, contradicted, related (read the passages) or not found."
    )
    places: list[Match] = Field(
        description="Where it is, or the sentence that decides, with what differs."
    )
    passages: list[Evidence] = Field(description="Passages about it.")
    documents: dict[str, str] = Field(default_factory=dict, description="Title of each id.")
    notes: list[str] = Field(default_factory=list)


class Listed(BaseModel):
    """A document in a list."""

    document: str
    id: str
    characters: int
    sentences: int
    notes: list[str] = Field(default_factory=list)


class Documents(BaseModel):
    """What `documents` gives."""

    documents: list[Listed]
    total: int
    next: str | None = None
    notes: list[str] = Field(default_factory=list)
