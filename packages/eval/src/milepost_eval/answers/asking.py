"""Messages to an answer: from the cache, else from the endpoint, which is then kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from milepost.chat import Endpoint, Message, NoResponse
from milepost.errors import MilepostError
from milepost_eval.answers.kept import KeptAnswers, Sampling, key_of

_IN_A_ROW = 8
"""Useless answers without a useful one between them, after which no more is asked.

Then it is not the question that is at fault.
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of asking.

    Attributes:
        text: the answer; "" where it was refused or empty.
        cut: it ended at the limit of tokens.
        refused: what the endpoint said where it refused this request; else "".
    """

    text: str
    cut: bool = False
    refused: str = ""


class Asker:
    """Asks a language model for what is not kept yet.

    Args:
        endpoint: where the language model is.
        kept: where answers are kept.
        sampling: what is sent beside the messages.

    Attributes:
        model: the language model, as the endpoint names it.
        received: number of answers that came from the endpoint; they are in the cache now.
    """

    def __init__(self, endpoint: Endpoint, kept: KeptAnswers, sampling: Sampling) -> None:
        self.model = endpoint.model
        self.received = 0
        self._endpoint, self._kept, self._sampling = endpoint, kept, sampling
        self._asked: set[str] = set()
        self._refusals = 0
        self._wordless: int | None = 0  # None once there was an answer with words

    @property
    def answers(self) -> int:
        """Number of different answers so far, from the cache and from the endpoint."""
        return len(self._asked)

    def ask(self, messages: Sequence[Message]) -> Reply:
        """The answer to some messages.

        A refusal is not kept, so that the next run asks again: the reason may be gone.

        Raises:
            MilepostError: the endpoint cannot be reached, refuses all requests, or gives nothing
                that can be read; or the limit of tokens leaves no room for answers.
            InputError: the cache cannot be used.
        """
        key = key_of(self._endpoint, messages, self._sampling)
        found = self._kept.get(key)
        if found is None:
            try:
                found = self._endpoint.complete(
                    messages, self._sampling.temperature, self._sampling.max_tokens
                )
            except NoResponse as error:
                return self._refused(error)
            self._kept.put(key, self._endpoint.model, found)
            self.received += 1
        # A kept answer, too, shows that the endpoint takes such requests.
        self._refusals = 0
        reply = Reply(without_thinking(found.text), cut=found.reason == "length")
        if key not in self._asked:
            self._asked.add(key)
            self._check_room(reply)
        return reply

    def _check_room(self, reply: Reply) -> None:
        """Stop where a limit cuts all answers before they begin: every further one is paid for."""
        if reply.text:
            self._wordless = None
        elif reply.cut and self._wordless is not None:
            self._wordless += 1
            if self._wordless >= _IN_A_ROW:
                raise MilepostError(
                    f"{self._endpoint.url}: the first {self._wordless} answers were cut before "
                    "their first word",
                    "a larger --answer-tokens, without --model-defaults: the model thinks first",
                )

    def _refused(self, error: NoResponse) -> Reply:
        self._refusals += 1
        if not error.refused:
            raise MilepostError(
                f"{self._endpoint.url}: {error}",
                "check that --endpoint speaks OpenAI's protocol (it often ends in /v1)",
            ) from error
        if self._refusals >= _IN_A_ROW:
            raise MilepostError(
                f"{self._endpoint.url}: {error} ({self._refusals} times in a row)",
                "check --model-name; --model-defaults if it refuses temperature or max_tokens, "
                "smaller --tokens if its context is short",
            ) from error
        return Reply("", refused=str(error))


def without_thinking(text: str) -> str:
    """The answer without what a reasoning model wrote before it; "" where it never came to it.

    >>> without_thinking("<think>Paris or Rome?</think> Rome")
    'Rome'
    """
    _, closed, answer = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return answer.strip()
