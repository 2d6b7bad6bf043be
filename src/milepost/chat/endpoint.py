"""A language model behind an OpenAI-compatible endpoint: ``POST URL/chat/completions``."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from milepost.chat.connection import Connection
from milepost.chat.reading import streamed, whole
from milepost.chat.thinking import apart, without_thoughts

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer.

    Attributes:
        text: the whole of it.
        reason: why it ended: ``stop``, ``length`` (it was cut) …
    """

    text: str
    reason: str


class Endpoint(Connection):
    """Asks a language model; see ``Connection`` for its arguments."""

    ending = "/chat/completions"

    def ask(self, messages: Sequence[Message], temperature: float | None = None) -> str:
        """The answer's text; see ``complete``."""
        return self.complete(messages, temperature).text

    def complete(
        self,
        messages: Sequence[Message],
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Completion:
        """The answer, once it is whole.

        No temperature and no limit of tokens is sent unless one is given: what they are called
        and which values are allowed differs from model to model.

        Args:
            messages: what is asked.
            temperature: the model's; None leaves it to the endpoint.
            max_tokens: of the answer; None leaves it to the endpoint.

        Raises:
            NoResponse: this request cannot be answered, or its answers cannot be read.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        pieces = self._tried(self._data(messages, temperature, max_tokens), whole)
        text = ""
        while True:
            try:
                text += next(pieces)
            except StopIteration as end:
                return Completion(without_thoughts(text), end.value)

    def stream(
        self, messages: Sequence[Message], temperature: float | None = None
    ) -> Generator[str, None, str]:
        """The answer's text piece by piece, as it is written; what was thought is a ``Thought``.

        A request is sent again only as long as nothing of an answer has come. Closing the
        generator closes the connection, so that the endpoint can stop.

        Returns:
            The generator's value is why the answer ended: ``stop``, ``length`` (it was cut) …

        Raises:
            NoResponse: this request cannot be answered, its answers cannot be read, or one has
                broken off.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        return apart(self._tried(self._data(messages, temperature, stream=True), streamed))

    def _data(
        self,
        messages: Sequence[Message],
        temperature: float | None,
        max_tokens: int | None = None,
        *,
        stream: bool = False,
    ) -> bytes:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if temperature is not None:
            body["temperature"] = temperature
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        if stream:
            body["stream"] = True
        return json.dumps(body).encode()
