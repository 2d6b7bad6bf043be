"""Errors as HTTP answers, in the form that OpenAI's clients read."""

from __future__ import annotations

import errno
import logging
import re
from typing import TYPE_CHECKING

from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from milepost import errors
from milepost._display import plain

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from milepost.server.documents.library import Library

log = logging.getLogger("milepost.server")

_STATUS: dict[type[errors.MilepostError], int] = {
    errors.BadQuestion: 422,
    errors.UnknownDocument: 404,
    errors.UnreadableFile: 422,
    errors.InputError: 422,
    errors.IndexBusy: 503,
    errors.WrongModel: 503,
    errors.StorageFull: 507,
    errors.MissingExtra: 501,
}


class Fault(BaseModel):
    """What is wrong; the fields are those of OpenAI's errors."""

    message: str
    type: str
    param: str | None
    code: int


class Failure(BaseModel):
    """An error."""

    error: Fault


class HttpError(errors.MilepostError):
    """A request that is answered with a status, and headers, of its own."""

    def __init__(
        self, status: int, problem: str, hint: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(problem, hint)
        self.status, self.headers = status, headers


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # that nothing can be written, whatever it is

_TYPE = re.compile(r"constrained-|function-|list\[")
"""What pydantic adds to the place of an error: the type that was tried."""

_LONGEST = 1_000  # characters of a message: part of it may be what a client sent


def shown(message: str) -> str:
    """A message as JSON can hold it, of bounded length: names of files may hold any bytes."""
    said = plain(message)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def answer(
    status: int, message: str, headers: dict[str, str] | None = None, param: str | None = None
) -> JSONResponse:
    """An error as an answer; ``param`` is the field of the request that it is about."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    error = {"message": shown(message), "type": kind, "param": param, "code": status}
    return JSONResponse({"error": error}, status, headers)


def no_such_address(path: str) -> JSONResponse:
    """Say that nothing is there, and what tells where something is."""
    return answer(404, f"there is nothing at {path:.200}; try: GET /openapi.json")


def add_handlers(app: FastAPI) -> None:
    """Let an application answer with these errors; other exceptions get status 500 and a log."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    app.add_exception_handler(errors.MilepostError, _milepost)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unexpected)


async def _milepost(request: Request, error: errors.MilepostError) -> JSONResponse:
    if isinstance(error, HttpError):
        return answer(error.status, str(error), error.headers)
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    if status == 500:
        log.error("%s", error)
    library: Library = request.app.state.milepost.library
    later = {"Retry-After": "2"} if status == 503 else None
    return answer(status, library.without_path(message_of(error)), later)


def message_of(error: errors.MilepostError) -> str:
    """What an error says to those who use an index that is open."""
    if isinstance(error, errors.WrongModel):  # --rebuild, its hint, was what led to it
        return "the index was made anew with another model; try: restart the server"
    return str(error)


async def _invalid(request: Request, error: RequestValidationError) -> JSONResponse:
    # What was sent is not repeated: it may be long, or secret.
    # Of a value that may be of several types, the error that went deepest into it says most.
    first = max(error.errors(), key=lambda each: len(each["loc"]))
    parts = [str(part) for part in first["loc"] if not _TYPE.match(str(part))]
    where = ".".join(parts[:4])[:100]
    said = first.get("msg", "")
    if "UploadFile" in said:
        said = "a file with a name is needed; try: curl -F file=@PATH"
    if first["type"] == "extra_forbidden":
        said = "there is no such field" + _known(request, parts[0])
    if first["type"] == "json_invalid":
        where, said = "body", f"not JSON: {first['ctx']['error']} (character {parts[1]})"
    if where == "body" and first["type"] in ("model_attributes_type", "dict_type"):
        said = "not a JSON object; try: {…} with Content-Type: application/json"
    return answer(422, f"{where}: {said}", param=where)


def _known(request: Request, part: str) -> str:
    """A hint with the fields that a part of a request to this address, body or query, may have."""
    route = request.scope["route"]
    body = route.body_field
    fields = getattr(body.field_info.annotation, "model_fields", {}) if body else {}
    if part == "query":
        fields = [each.alias for each in route.dependant.query_params]
    return f"; try: {', '.join(fields)}" if fields else ""


async def _http(request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        return _not_allowed(request)
    if error.status_code == 404:  # Starlette's: ours say which document or model is not there
        return no_such_address(request.url.path)
    # An upload is spooled to the disk while it is parsed, and FastAPI makes 400 of any failure.
    cause = error.__cause__
    if isinstance(cause, ValueError | RecursionError):
        return answer(422, "body: not JSON in UTF-8, or nested too deep, or with too long a number")
    if isinstance(cause, OSError) and cause.errno in FULL:
        return answer(507, "no space is left for temporary files; try: free some space")
    if isinstance(cause, OSError) and cause.errno in (errno.EMFILE, errno.ENFILE):
        return answer(503, "the server has too many open files", {"Retry-After": "2"})
    return answer(error.status_code, str(error.detail), dict(error.headers or {}))


def _not_allowed(request: Request) -> Response:
    """Say which methods an address has; Starlette names those of its first route alone."""
    from starlette.routing import Match

    methods = [
        method
        for method in ("GET", "POST", "DELETE")
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
        )
    ]
    more = ["HEAD", "OPTIONS"] if "GET" in methods else ["OPTIONS"]
    headers = {"Allow": ", ".join(methods + more)}
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=headers)
    return answer(405, f"{request.method:.20} is not one of {headers['Allow']}", headers)


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, OSError) and error.errno in FULL:
        log.error("no space is left: %s", error)
        return answer(507, "no space is left on the disk; try: free some space")
    log.error("a request failed", exc_info=error)
    return answer(500, "the server failed on this request; its log has the reason")
