"""What bodies of requests have in common: null for a default, lists that are refused at once."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, ClassVar

from fastapi import Request, Response
from fastapi.exceptions import HTTPException
from fastapi.routing import APIRoute
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError, from_json

MAX_TEXTS = 2048  # texts of one request, as OpenAI's
MAX_DOCUMENTS = 10_000  # documents that a request may name

_FIELDS = 100
"""Fields of a body whose beginning is looked at; clients send some that are not read here."""

_HEAD = 1 << 16
"""Bytes of a larger body that are looked at first, then twice as many and so on: to read all of it
takes up to 70 ms a MB."""

_NESTED = 10_000  # characters of a list or object that is not read here


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
Documents = Annotated[_Names | None, texts(MAX_DOCUMENTS)]
"""Ids or names of documents; None for all."""


class RequestBody(BaseModel):
    """A body whose optional fields may be null, as clients send what they have no value for.

    A whole number may be written 1.0, which is an integer in the schema of the API.
    A field that is not there is refused, since a filter of another name would filter nothing.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    lists: ClassVar[dict[str, int]] = {"documents": MAX_DOCUMENTS}
    """Fields with lists of texts, and how long they may be."""

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {
            key: int(value) if isinstance(value, float) and value.is_integer() else value
            for key, value in given.items()
            if value is not None
        }


def _wrong_beginning(head: Any, model: type[RequestBody]) -> str:
    """What is wrong with the beginning of a body, in words; "" for nothing."""
    if not isinstance(head, dict):
        return "body: not an object"
    if len(head) > _FIELDS:
        return f"body: more than {_FIELDS} fields"
    for name, value in head.items():
        if name in model.lists:
            wrong = wrong_item(value, model.lists[name])
        else:
            nested = isinstance(value, list | dict)
            if name not in model.model_fields and model.model_config["extra"] == "ignore":
                nested = nested and len(str(value)) > _NESTED
            wrong = "neither a list nor an object is taken here" if nested else ""
        if wrong:
            return f"body.{name}: {wrong}"
    return ""


class _Quick(Request):
    """A request whose large body is refused by its beginning where that is wrong already."""

    model: type[RequestBody]

    async def json(self) -> Any:
        body = (await self.body()).removeprefix(BOM_UTF8)
        size = _HEAD
        while size < len(body):
            with suppress(ValueError):  # a character may be cut in two
                head = from_json(body[:size], allow_partial=True)
                if wrong := _wrong_beginning(head, self.model):
                    raise HTTPException(422, wrong)
            size *= 2
        try:
            return from_json(body)
        except ValueError as error:
            raise HTTPException(422, f"body: not JSON in UTF-8: {error}") from None


class JsonRoute(APIRoute):
    """A route that reads bodies in this way."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        """See FastAPI."""
        handle = super().get_route_handler()
        model = self.body_field.field_info.annotation if self.body_field else None
        if not (isinstance(model, type) and issubclass(model, RequestBody)):
            return handle

        async def quickly(request: Request) -> Response:
            quick = _Quick(request.scope, request.receive)
            quick.model = model
            answer: Response = await handle(quick)
            return answer

        return quickly
