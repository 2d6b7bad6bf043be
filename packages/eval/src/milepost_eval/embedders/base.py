"""The protocol of models (texts in, unit vectors out), and helpers of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

from milepost.errors import InputError, first_line
from milepost.types import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LONE = re.compile(r"[\ud800-\udfff]")


class Embedder(Protocol):
    """A model that gives one vector per text."""

    name: str
    """As in ``chunk:400@NAME``."""

    @property
    def fingerprint(self) -> str:
        """Everything the vectors depend on: the model's content, precision, lengths."""

    def texts(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """Each text read alone.

        Returns:
            ``(n, d)`` unit vectors, zeros for a text without tokens; and the tokens read, special
            ones not counted, nor what the model cuts off.
        """

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Questions: ``(n, d)`` unit vectors."""


class ContextEmbedder(Embedder, Protocol):
    """A model whose tokens can be seen in the context of a whole text."""

    def context(self) -> str:
        """``fingerprint``, and whatever else ``within`` depends on: how long its windows are."""

    def within(
        self, text: str, spans: Sequence[Span]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """Late chunking (Günther et al., arXiv 2409.04701): a span's mean of its tokens' states.

        ``v_s = (1/|T_s|) Σ_{t ∈ T_s} h_t``, ``T_s`` the tokens that start inside the span, ``h_t``
        the last states computed over the whole text, in windows where it is longer than the
        model reads at once.

        Args:
            text: the whole text.
            spans: of it, in any order; they may overlap.

        Returns:
            Means ``(n, d)``, not normalised, zeros for a span without tokens; tokens of each span
            ``(n,)``; tokens of the text that were read, each counted once, whatever overlap of
            windows contain them.
        """


def reads_context(embedder: Embedder) -> TypeGuard[ContextEmbedder]:
    """Whether a model has token states of a whole text.

    Asked of the class: a protocol's ``isinstance`` would read properties, in any order, and those
    of a model that is not installed say so instead.
    """
    return callable(getattr(type(embedder), "within", None))


class SpanSums:
    """Sums of token states over spans, fed piece by piece, so that no text's states are kept.

    Args:
        spans: of the text, in any order; they may overlap.
        dimensions: width of the states.
    """

    def __init__(self, spans: Sequence[Span], dimensions: int) -> None:
        import numpy as np

        self._spans = np.array(spans, np.int64).reshape(-1, 2)
        self._sums = np.zeros((len(self._spans), dimensions), np.float32)
        self._counts = np.zeros(len(self._spans), np.float32)
        self.tokens = 0

    def add(self, starts: NDArray[np.int64], states: NDArray[np.float32]) -> None:
        """Take in tokens: where each starts, ascending, ``(t,)``, and its state, ``(t, d)``."""
        import numpy as np

        self.tokens += len(starts)
        first = np.searchsorted(starts, self._spans[:, 0])
        last = np.searchsorted(starts, self._spans[:, 1])
        for number in np.flatnonzero(first < last).tolist():
            self._sums[number] += states[first[number] : last[number]].sum(axis=0)
        self._counts += np.maximum(last - first, 0)

    def means(self) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """See ``ContextEmbedder.within``."""
        import numpy as np

        counts = np.maximum(self._counts, np.float32(1))
        return np.divide(self._sums, counts[:, None]), self._counts, self.tokens


def loaded(folder: Path, library: str, load: Callable[[], Any]) -> Any:
    """Call ``load`` and turn its errors into one line.

    Args:
        folder: the model's.
        library: that loads it, for the message.
        load: calls the library, whose readers of weights raise bare errors.

    Raises:
        InputError: the library refuses the folder, with its first line.
    """
    try:
        return load()
    except Exception as error:
        first = first_line(error)
        raise InputError(
            f"{folder} cannot be loaded by {library}: {first}", "the folder of a complete model"
        ) from error


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows brought to length 1; a row of zeros stays one."""
    import numpy as np

    rows = vectors.astype(np.float32, copy=False)
    norms: NDArray[np.float32] = np.linalg.norm(rows, axis=1, keepdims=True)
    made: NDArray[np.float32] = np.divide(rows, np.where(norms > 1e-12, norms, np.float32(np.inf)))
    return made


def whole_characters(text: str) -> str:
    """The text with lone surrogates replaced one for one: tokenizers refuse them."""
    return _LONE.sub("\ufffd", text)
