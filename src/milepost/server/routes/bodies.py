"""What bodies of requests have in common: null for a default, and one error, not thousands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from milepost.filters.tokens import MAX_LENGTH

MAX_TEXTS = 2048  # texts of one request, as OpenAI's
MAX_DOCUMENTS = 10_000  # documents that a request may name


def wrong_item(value: Any, most: int) -> str:
    """What is wrong with a list of texts, in words; "" for nothing.

    pydantic would collect an error for each item and each type it may have: a request of 10 MB
    took 20 seconds and 2 GB.
    """
    if not isinstance(value, list):
        return ""
    if len(value) > most:
        return f"{len(value):,} items; at most {most:,}"
    for number, item in enumerate(value):
        if not isinstance(item, str):
            if most == MAX_TEXTS and isinstance(item, int | list) and not isinstance(item, bool):
                return (
                    "token numbers; try: text instead (LangChain: check_embedding_ctx_length=False)"
                )
            return f"item {number} is not text"
    return ""


def texts(most: int, empty: str = "") -> BeforeValidator:
    """A validator of at ``most`` so many texts, whose first error is the only one.

    ``empty`` is what is said of an empty list or text; "" where it may be empty.
    """

    def checked(value: Any) -> Any:
        wrong = wrong_item(value, most)
        if not wrong and empty and (value in ([], "") or (isinstance(value, list) and "" in value)):
            wrong = empty
        if not wrong and not isinstance(value, str | list) and value is not None:
            wrong = "neither a text nor a list of texts"
        if wrong:
            raise PydanticCustomError("texts", "{wrong}", {"wrong": wrong})
        return value

    return BeforeValidator(checked)


_Names = Annotated[list[Annotated[str, Field(max_length=4096)]], Field(fail_fast=True)]
Documents = Annotated[
    _Names | None,
    texts(MAX_DOCUMENTS),
    Field(description="Ids, names, folders or patterns of documents; all if left out."),
]

WHERE = (
    'Search only documents that match a filter: kind = "pdf" and date >= 2023. Keys: document, '
    "folder, kind, title, author, date, year, language, and those of the documents; = != < <= > "
    ">=, in (…), not in (…), contains, matches, exists KEY, missing KEY, and, or, not, ( )."
)
Where = Annotated[Annotated[str, Field(max_length=MAX_LENGTH)] | None, Field(description=WHERE)]


class RequestBody(BaseModel):
    """A body whose optional fields may be null, as clients send what they have no value for.

    A whole number may be written 1.0, which is an integer in the schema of the API.
    A field that is not there is refused, since a filter of another name would filter nothing.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        known = cls.model_fields
        # One unknown field is told: pydantic would collect 100,000 errors of a mebibyte.
        unknown = next((key for key in given if key not in known and given[key] is not None), None)
        return {
            key: int(value) if isinstance(value, float) and value.is_integer() else value
            for key, value in given.items()
            if value is not None and (key in known or key == unknown)
        }
