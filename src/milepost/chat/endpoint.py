"""A language model behind an OpenAI-compatible endpoint: ``POST URL/chat/completions``."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from typing import Any

from milepost.chat.connection import Connection
from milepost.chat.reading import streamed, whole

Message = dict[str, str]


class Endpoint(Connection):
    """Asks a language model; see ``Connection`` for its arguments."""

    ending = "/chat/completions"

    def ask(self, messages: Sequence[Message], temperature: float | None = None) -> str:
        """The answer's text.

        No limit of tokens is sent, and no temperature unless one is given: what they are called
        and which values are allowed differs from model to model.

        Raises:
            Unanswered: this request cannot be answered, or its answers cannot be read.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        return "".join(self._tried(self._data(messages, temperature), whole))

    def stream(
        self, messages: Sequence[Message], temperature: float | None = None
    ) -> Generator[str, None, str]:
        """The answer's text piece by piece, as it is written.

        A request is sent again only as long as nothing of an answer has come. Closing the
        generator closes the connection, so that the endpoint can stop.

        Returns:
            The generator's value is why the answer ended: ``stop``, ``length`` (it was cut) …

        Raises:
            Unanswered: this request cannot be answered, its answers cannot be read, or one has
                broken off.
            MilepostError: the endpoint cannot be reached or refuses all requests.
        """
        return self._tried(self._data(messages, temperature, stream=True), streamed)

    def _data(
        self, messages: Sequence[Message], temperature: float | None, *, stream: bool = False
    ) -> bytes:
        body: dict[str, Any] = {"model": self.model, "messages": list(messages)}
        if temperature is not None:
            body["temperature"] = temperature
        if stream:
            body["stream"] = True
        return json.dumps(body).encode()
