"""Any sentence-transformers model: texts alone, and late chunking over long ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from milepost._optional import require
from milepost.errors import InputError
from milepost.types import Span
from milepost_eval.embedders.base import SpanSums, loaded, unit, whole_characters
from milepost_eval.embedders.fingerprints import fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DTYPES = ("float32", "bfloat16")

_BATCH = 32
_TOGETHER = 4096
"""Tokens of the windows of late chunking that are read at once: eight of 512."""
_LONGEST = 8192
"""Tokens of a window at most, whatever the model allows: attention grows with the square."""


class SentenceTransformerEmbedder:
    """A model folder run by sentence-transformers on the CPU, loaded when it is first used.

    Questions and texts get the prompts that the model defines for them. Texts are cut where the
    model cuts them: that is what its users get.

    Args:
        name: what systems call it.
        folder: as sentence-transformers writes it.
        dtype: ``float32`` or ``bfloat16``, which is faster where the CPU knows it.
        window: tokens of a window of late chunking, special ones included; None for as many as
            the model reads of a text, 8,192 at most. Many models have more positions than they
            were trained to use: all-MiniLM-L6-v2 has 512, reads 256 and was trained on 128, and
            finds far less in windows of 512.
        overlap: tokens of context on each side of what a window owns; None for an eighth of it.

    Raises:
        InputError: the dtype is unknown.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        dtype: str = "float32",
        window: int | None = None,
        overlap: int | None = None,
    ) -> None:
        self.name = name
        self._folder, self._dtype = folder, checked_dtype(dtype)
        self._given_window, self._given_overlap = window, overlap

    @cached_property
    def fingerprint(self) -> str:
        """Content of the folder, dtype and windows; the folder's settings include lengths."""
        windows = f"{self._given_window} {self._given_overlap}"
        return f"{fingerprint(self._folder)} {self._dtype} {windows}"

    def context(self) -> str:
        """See ``ContextEmbedder.context``."""
        return f"{self.fingerprint} window {self._window}"

    @cached_property
    def model(self) -> Any:
        """The ``SentenceTransformer``."""
        library = require("sentence_transformers", extra="rivals")
        settings = {"device": "cpu", "model_kwargs": {"torch_dtype": self._dtype}}
        with no_bars():
            return loaded(
                self._folder,
                "sentence-transformers",
                lambda: library.SentenceTransformer(str(self._folder), **settings),
            )

    def texts(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int]:
        """See ``Embedder.texts``."""
        given = [whole_characters(text) for text in texts]
        return self._encoded(self.model.encode_document, given), self._count(given)

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See ``Embedder.questions``."""
        return self._encoded(self.model.encode_query, [whole_characters(text) for text in texts])

    def pooled(
        self, texts: Sequence[str], pooling: Literal["cls", "mean"], *, questions: bool = False
    ) -> tuple[NDArray[np.float32], int]:
        """Texts cut where the model cuts them, pooled as asked and not as the model was made.

        Args:
            texts: what is read.
            pooling: the first token's state, or the mean of all.
            questions: read with the prompt of questions.

        Returns:
            See ``texts``.
        """
        import numpy as np

        given = [whole_characters(text) for text in texts]
        encode = self.model.encode_query if questions else self.model.encode_document
        states = encode(
            given, batch_size=_BATCH, show_progress_bar=False, output_value="token_embeddings"
        )
        rows = [each[0].float() if pooling == "cls" else each.float().mean(0) for each in states]
        found = np.array([row.numpy() for row in rows], np.float32)
        return unit(found.reshape(len(given), -1)), self._count(given)

    def within(
        self, text: str, spans: Sequence[Span]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
        """See ``ContextEmbedder.within``.

        A text longer than a window is read in several that overlap, each token owned by one (the
        macro chunks of the paper). The prompt of documents opens every window.

        Raises:
            InputError: the model ends in a projection, so that token states and vectors of
                questions are not in one space; or windows have no room for text.
        """
        import numpy as np

        if any(type(module).__name__ == "Dense" for module in self.model):
            raise InputError(
                f"{self.name} projects its vectors after pooling, so its tokens cannot be chunked "
                "late",
                "a model that ends in pooling, or chunk:SIZE",
            )
        ids, starts = self._tokens(whole_characters(text))
        sums = SpanSums(spans, self.model.get_embedding_dimension())
        before, after = self._frame
        room = self._window - len(before) - len(after)
        if room < 1:
            raise InputError(
                f"a window of {self._window} tokens has no room for text", "a longer window"
            )
        windows = list(owned_windows(len(ids), room, self._overlap(room)))
        together = max(1, _TOGETHER // self._window)
        for at in range(0, len(windows), together):
            group = windows[at : at + together]
            rows = [[*before, *ids[first:last], *after] for first, _, _, last in group]
            for states, (first, own_first, own_last, _) in zip(
                self._states(rows), group, strict=True
            ):
                skip = len(before) + own_first - first
                own = states[skip : skip + own_last - own_first]
                sums.add(np.array(starts[own_first:own_last], np.int64), own)
        return sums.means()

    @cached_property
    def _window(self) -> int:
        """Tokens of a window of late chunking."""
        if self._given_window is not None:
            return self._given_window
        network = self.model[0].auto_model
        positions = getattr(network.config, "max_position_embeddings", None) or 512
        # RoBERTa and its kin count positions from the one after the padding's.
        table = getattr(getattr(network, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        most = positions - (0 if padding is None else padding + 1)
        return min(_LONGEST, most, self.model.max_seq_length or most)

    def _overlap(self, room: int) -> int:
        given = self._given_overlap
        # Both sides together may take at most two thirds of a window.
        return min(self._window // 8 if given is None else given, room // 3)

    @cached_property
    def _frame(self) -> tuple[list[int], list[int]]:
        """What opens and what closes a window: special tokens, and the prompt of documents."""
        tokenizer, probe = self.model.tokenizer, "a"
        alone = tokenizer(probe, add_special_tokens=False)["input_ids"]
        framed = tokenizer(probe)["input_ids"]
        at = next(n for n in range(len(framed)) if framed[n : n + len(alone)] == alone)
        prompts = self.model.prompts
        known = [prompts[key] for key in ("document", "passage", "corpus") if key in prompts]
        prompt = [*known, prompts.get(self.model.default_prompt_name) or ""][0]
        words = tokenizer(prompt, add_special_tokens=False)["input_ids"] if prompt else []
        return [*framed[:at], *words], framed[at + len(alone) :]

    def _tokens(self, text: str) -> tuple[list[int], list[int]]:
        """Ids of the whole text, and the position of each token's first character."""
        found = self.model.tokenizer(
            text,
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=False,
            verbose=False,  # that it is longer than the model reads at once is what windows are for
        )
        starts = []
        for start, end in found["offset_mapping"]:
            # Some tokenizers give the space before a word to the word.
            blank = len(text[start:end]) - len(text[start:end].lstrip())
            starts.append(start + (blank if blank < end - start else 0))
        return found["input_ids"], starts

    def _states(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Last states of some windows, padded to the longest."""
        torch = require("torch", extra="rivals")
        longest = max(map(len, rows))
        padding = self.model.tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        with torch.inference_mode():
            seen = self.model[0]({"input_ids": ids, "attention_mask": mask})
        states: NDArray[np.float32] = seen["token_embeddings"].float().numpy()
        return states

    def _encoded(self, encode: Any, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.model.get_embedding_dimension()), np.float32)
        # bfloat16 has three digits: lengths are 1 only after a second normalisation.
        return unit(np.asarray(encode(texts, batch_size=_BATCH, show_progress_bar=False)))

    def _count(self, texts: Sequence[str]) -> int:
        """Tokens that are read of the texts: those behind the model's maximum are not."""
        if not texts:
            return 0
        tokenizer = self.model.tokenizer
        most = self.model.max_seq_length
        if not callable(tokenizer):  # a bare one of `tokenizers`, of static vectors
            return sum(map(len, tokenizer.encode_batch(list(texts), add_special_tokens=False)))
        room = None if most is None else most - tokenizer.num_special_tokens_to_add()
        found = tokenizer(list(texts), add_special_tokens=False, verbose=False)["input_ids"]
        return sum(len(ids) if room is None else min(len(ids), room) for ids in found)


def owned_windows(count: int, room: int, overlap: int) -> Iterator[tuple[int, int, int, int]]:
    """Windows over ``count`` tokens: ``first, own_first, own_last, last``; each has one owner.

    What is not owned is context of ``overlap`` tokens on both sides. The last window starts
    early enough to be full: its context costs nothing more.

    >>> list(owned_windows(10, 6, 1))
    [(0, 0, 5, 6), (4, 5, 10, 10)]
    """
    own_first = 0
    while own_first < count:
        first = max(0, own_first - overlap)
        if count - first <= room:
            yield max(0, count - room), own_first, count, count
            return
        own_last = first + room - overlap
        yield first, own_first, own_last, first + room
        own_first = own_last


def checked_dtype(dtype: str) -> str:
    """Check the name of a dtype and return it.

    Raises:
        InputError: it is unknown.
    """
    if dtype not in DTYPES:
        raise InputError(f"unknown dtype {dtype!r}", f"one of {', '.join(DTYPES)}")
    return dtype


@contextmanager
def no_bars() -> Iterator[None]:
    """Hide what transformers prints for every model it loads: bars, and a table of its weights."""
    logging = require("transformers.utils.logging", extra="rivals")
    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()
