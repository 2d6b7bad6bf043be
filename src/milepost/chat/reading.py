"""The body of an answer: at once as JSON, or piece by piece as server-sent events."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Generator
from typing import Any

_LARGEST = 4 << 20  # bytes of an answer

REFUSED = "refused: "
"""What the reason of an answer begins with where the model refuses; its words follow."""

Reading = Callable[[http.client.HTTPResponse, float], Generator[str, None, str]]
"""A response and a timeout in seconds to pieces of an answer, and why they end."""


def whole(answer: http.client.HTTPResponse, timeout_s: float) -> Generator[str, None, str]:
    """The text of an answer that comes at once, as one piece, and why it ended."""
    text, reason = _text_of(_read_whole(answer, timeout_s))
    yield text
    return reason


def streamed(answer: http.client.HTTPResponse, timeout_s: float) -> Generator[str, None, str]:
    """Pieces of text as they come; an endpoint that does not stream gives one.

    A ``TimeoutError``: no event comes within ``timeout_s``, whatever else does.
    """
    if answer.headers.get_content_type() == "application/json":
        return (yield from whole(answer, timeout_s))
    reason, refusal, size, events = "", "", 0, 0
    end = time.monotonic() + timeout_s
    while line := answer.readline(_LARGEST + 1):
        size += len(line)
        if size > _LARGEST:
            raise ValueError("longer than any answer")
        if not line.startswith(b"data:"):  # comments keep the connection open and say nothing
            if time.monotonic() > end:
                raise TimeoutError(f"nothing for {timeout_s:g} s")
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return _reason(reason or "stop", refusal)
        piece, ended, refused = _delta(data)
        events += 1
        refusal += refused
        end = time.monotonic() + timeout_s
        reason = ended or reason
        if piece:
            yield piece
    if not events:
        raise ValueError("no events of a chat completion")
    if not reason:
        raise http.client.HTTPException("the connection ended")
    return _reason(reason, refusal)


def _reason(reason: str, refusal: str) -> str:
    return REFUSED + " ".join(refusal.split())[:200] if refusal.strip() else reason


def _delta(data: bytes) -> tuple[str, str, str]:
    """The text of an event, why the answer ends there, and a refusal's text, each "" for none."""
    try:
        event: Any = json.loads(data)
    except RecursionError as error:
        raise ValueError("an event is nested without end") from error
    if not isinstance(event, dict):
        raise ValueError("an event is not an object")  # noqa: TRY004 - all of these are one mistake
    if wrong := event.get("error"):
        said = wrong.get("message", "") if isinstance(wrong, dict) else wrong
        raise http.client.HTTPException(" ".join(str(said).split())[:200] or "an error")
    try:
        choices = event["choices"]
        if not choices:  # the counts of tokens come last, without a choice
            return "", "", ""
        delta, reason = choices[0].get("delta") or {}, choices[0].get("finish_reason")
        content, refusal = delta.get("content"), delta.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError("no choices[0].delta") from error
    if not isinstance(content, str | None):
        raise ValueError("its content is not text")  # noqa: TRY004
    return content or "", str(reason or ""), str(refusal or "")


def _read_whole(answer: http.client.HTTPResponse, timeout_s: float) -> bytes:
    """The body of an answer, unless it is too long, late (``TimeoutError``) or breaks off."""
    end = time.monotonic() + timeout_s
    found = bytearray()
    # The socket's own timeout starts anew with every byte.
    while part := answer.read1(1 << 16):
        found += part
        if len(found) > _LARGEST:
            raise ValueError("longer than any answer")
        if time.monotonic() > end:
            raise TimeoutError(f"no whole answer within {timeout_s:g} s")
    if answer.length:  # read1 does not say that the connection ended early
        raise http.client.IncompleteRead(bytes(found), answer.length)
    return bytes(found)


def _text_of(data: bytes) -> tuple[str, str]:
    """The text of a completion, and why it ended: ``stop`` where that is not said."""
    try:
        choice = json.loads(data)["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        refusal = message.get("refusal")
        is_said = refusal or (reason or "stop") != "stop"  # why there may be no content
        content = message.get("content") if is_said else message["content"]
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no choices[0].message.content") from error
    if not isinstance(content, str | None):
        raise ValueError("its content is not text")  # noqa: TRY004 - all of these are one mistake
    return content or "", _reason(str(reason or "stop"), str(refusal or ""))
