"""What the tools give, as records that become JSON; their fields are the tools' output schemas.

Names are those of the HTTP API and of ``--json``. An agent pays for every token: a passage has the
short id of its document, whose name stands once in the result, and what is null is left out.
"""

from __future__ import annotations

from pydantic import BaseModel, Field


class Table(BaseModel):
    """What names the rows of a table."""

    caption: str | None = None
    columns: list[str] = Field(default_factory=list)


class Evidence(BaseModel):
    """Whole sentences of one document that answer the question."""

    text: str
    id: str = Field(description="Id of the document.")
    start: int = Field(description="Offset in the document's text.")
    end: int = Field(description="Offset behind the text.")
    score: float = Field(description="Probability, 0 to 1, that this is evidence.")
    page: int | None = None
    place: str | None = Field(
        default=None,
        description="Page, slide, sheet and row … in words; `hidden text` cannot be seen on it.",
    )
    heading: str | None = None
    lead_in: str | None = Field(
        default=None,
        description="What introduces the list whose item this is, or the question in front.",
    )
    table: Table | None = Field(default=None, description="Whose rows the text has.")


class Searched(BaseModel):
    """What `search` gives."""

    passages: list[Evidence] = Field(description="Best first.")
    best_score: float = Field(description="Probability of the best passage, returned or not.")
    names: dict[str, str] = Field(
        default_factory=dict, description="Name of the document of each id."
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
    page: int | None = None
    place: str | None = Field(default=None, description="Page, slide … where the text begins.")
    heading: str | None = None
    next: int | None = Field(
        default=None, description="`start` of what comes after; none at the end."
    )
    notes: list[str] = Field(default_factory=list)


class Changed(BaseModel):
    """What a checked text and a document have in place of each other; one may be empty."""

    given: str
    text: str
    kind: str | None = Field(default=None, description="In which exact point a claim differs.")


class Match(BaseModel):
    """A place of a document that holds the checked text, word for word or nearly."""

    text: str
    id: str = Field(description="Id of the document.")
    start: int
    end: int
    page: int | None = None
    place: str | None = None
    heading: str | None = None
    similarity: float = Field(description="Share of the words that are there.")
    differences: list[Changed] = Field(
        default_factory=list, description="What was given, and what the document has instead."
    )


class Part(BaseModel):
    """A sentence of a checked text that is not there as a whole."""

    text: str
    verdict: str


class Checked(BaseModel):
    """What `check` gives."""

    verdict: str = Field(
        description="verbatim, near, stitched (pieces of several places), found elsewhere (in a "
        "document not named), supported, contradicted, related (read the passages) or not found."
    )
    places: list[Match] = Field(
        description="Where it is, or the sentence that decides, with what differs."
    )
    parts: list[Part] = Field(
        default_factory=list, description="The verdict on each of several sentences."
    )
    passages: list[Evidence] = Field(description="Passages about it.")
    best_score: float = Field(description="Probability of the best passage, returned or not.")
    names: dict[str, str] = Field(
        default_factory=dict, description="Name of the document of each id."
    )
    notes: list[str] = Field(default_factory=list)


class Listed(BaseModel):
    """A document in a list."""

    id: str
    name: str
    characters: int
    sentences: int
    notes: list[str] = Field(default_factory=list)


class Documents(BaseModel):
    """What `documents` gives."""

    documents: list[Listed]
    total: int
    cursor: int | None = Field(default=None, description="For the documents that come after these.")
    notes: list[str] = Field(default_factory=list)
