"""Errors as HTTP answers, in the form that OpenAI's clients read."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from milepost.errors import (
    BadQuestion,
    IndexBusy,
    InputError,
    MilepostError,
    MissingExtra,
    StorageFull,
    UnknownDocument,
    UnreadableFile,
)

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    from milepost.library.documents import Library

log = logging.getLogger("milepost.serve")

_STATUS: dict[type[MilepostError], int] = {
    BadQuestion: 422,
    UnknownDocument: 404,
    UnreadableFile: 422,
    InputError: 422,
    IndexBusy: 409,
    StorageFull: 507,
    MissingExtra: 501,
}


class Refused(MilepostError):
    """A request that is answered with a status of its own.

    Args:
        status: the HTTP status.
        problem: what is wrong.
        hint: what to do instead.
        headers: of the answer.
    """

    def __init__(
        self, status: int, problem: str, hint: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(problem, hint)
        self.status, self.headers = status, headers


def body(status: int, message: str, **more: Any) -> dict[str, Any]:
    """The JSON of an error."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": status} | more}


def answer(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error as an answer."""
    return JSONResponse(body(status, message), status, headers)


def add_handlers(app: FastAPI) -> None:
    """Let an application answer with these errors; other exceptions get status 500 and a log."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    app.add_exception_handler(MilepostError, _milepost)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _invalid)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _http)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, _unexpected)


async def _milepost(request: Request, error: MilepostError) -> JSONResponse:
    if isinstance(error, Refused):
        return answer(error.status, str(error), error.headers)
    status = next((_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), 500)
    if status == 500:
        log.error("%s", error)
    library: Library = request.app.state.milepost.library
    return answer(status, library.without_path(str(error)))


async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
    # What was sent is not repeated: it may be long, or secret.
    found = error.errors()
    first = found[0]
    where = ".".join(str(part) for part in first["loc"])
    return JSONResponse(body(422, f"{where}: {first['msg']}", param=where), 422)


async def _http(_: Request, error: HTTPException) -> JSONResponse:
    return answer(error.status_code, str(error.detail), dict(error.headers or {}))


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    log.error("a request failed", exc_info=error)
    return answer(500, "the server failed on this request; its log has the reason")
