"""Targets of distillation: what a teacher says of sentences and questions, and one kind of teacher.

The teacher of this module is a mean-pooled sentence encoder; ``landmark_teacher.py`` has Milepost's
own models, ``lexical_teacher.py`` words, which score and give no vectors.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from milepost.errors import ModelError
from milepost_train.choices import Context, Dtype
from milepost_train.data import Text
from milepost_train.device import chosen_dtype
from milepost_train.model.checkpoint import open_checkpoint
from milepost_train.model.layouts import starting_weights
from milepost_train.rules import questions_of

_DRAFT = ".part"
_ABANDONED_S = 24 * 3600.0  # writing a file takes seconds
_TITLE, _HEADING, _BEFORE = 32, 32, 64  # maximum tokens before a sentence


class Teacher(Protocol):
    """What gives the vectors that are learned from.

    Attributes:
        fingerprint: what they hang on, but for the text.
        width: numbers of a vector.
    """

    fingerprint: str
    width: int

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions."""

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of a text's sentences."""

    def of_passages(self, passages: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of whole passages."""


class MeanTeacher:
    """A sentence-transformers model with mean pooling. Implements ``Teacher``.

    Args:
        folder: as that library saves it, or weights with ``tokenizer.json`` alone.
        context: what is read before a sentence. ``alone``: nothing, and the mean goes over all
            tokens, special ones too, as that library counts it. ``title``: the document's title;
            ``neighbours``: the title, the last heading before the sentence and the sentences
            between, 64 tokens of them. With either the mean goes over the sentence's own tokens:
            over all of them, neighbours would be told apart by nothing but their own few.
        longest: tokens read of a sentence; the mean of the first 64 says what a target has to
            say, at half the time.
        device: where it computes.
        dtype: in which numbers; vectors of sentences differ by some thousandths.

    Raises:
        ModelError: the folder cannot be read, or pools otherwise.
    """

    def __init__(
        self,
        folder: Path,
        context: Context = "alone",
        *,
        longest: int = 64,
        device: str | torch.device = "cpu",
        dtype: Dtype = "float32",
    ) -> None:
        said = starting_weights(folder)
        if said.pooling not in ((), ("mean",)) or "Dense" in said.left_out:
            ways = ", ".join((*said.pooling, *said.left_out))
            raise ModelError(
                f"{folder} does not pool by the mean ({ways})",
                "a model with mean pooling, such as all-MiniLM-L6-v2",
            )
        checkpoint = open_checkpoint(said.folder)
        self.backbone = checkpoint.model.backbone.to(device).requires_grad_(False)
        self.width = self.backbone.width
        self.context: Context = context
        self.longest, self.device = longest, torch.device(device)
        self._rounded = chosen_dtype(dtype, self.device) == "bfloat16"
        self._most = min(said.max_tokens or 512, 512)
        self._said = said
        self._tokenizer = checkpoint.tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._bos_ids, self._closing = _template(self._tokenizer, checkpoint.special)
        # A literal "[SEP]" in a document is text.
        self._tokenizer.encode_special_tokens = True
        self.fingerprint = self._fingerprint(said.folder)

    def _fingerprint(self, folder: Path) -> str:
        """What vectors hang on, but for the text."""
        digest = hashlib.sha256(
            repr((self.context, self.longest, self._said.pooling, self._rounded)).encode()
        )
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            if (folder / name).is_file():
                with (folder / name).open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions; each alone, whatever the context."""
        rows = self._ids([self._said.query_prompt + words for words in questions], self.longest)
        return self._vectors([([], row) for row in rows], whole=True)

    def of_passages(self, passages: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of whole passages, by their first tokens."""
        return self.of_questions(passages)

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of a text's sentences."""
        words = [text.words[a:b] for a, b in text.spans]
        if self.context == "alone":
            words = [self._said.document_prompt + each for each in words]
            return self._vectors([([], row) for row in self._ids(words, self.longest)], whole=True)
        rows = self._ids(words, self.longest)
        before = list(self._before(text, rows))
        return self._vectors(list(zip(before, rows, strict=True)), whole=False)

    def _before(self, text: Text, rows: Sequence[list[int]]) -> Iterator[list[int]]:
        """Token ids read before each sentence."""
        (title,) = self._ids([text.title], _TITLE)
        if self.context == "title":
            yield from ([title] * len(rows))
            return
        headings = {start for start, _ in questions_of(text.words, rules=()).headings}
        heading: list[int] = []
        since: list[int] = []
        for (start, end), row in zip(text.spans, rows, strict=True):
            yield title + heading + since[-_BEFORE:]
            lead = len(text.words[start:end]) - len(text.words[start:end].lstrip())
            if start + lead in headings:
                heading, since = row[:_HEADING], []
            else:
                since = [*since[-_BEFORE:], *row]

    def _ids(self, texts: Sequence[str], most: int) -> list[list[int]]:
        if self._said.lower_case:
            texts = [text.lower() for text in texts]
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.ids[:most] for encoding in encoded]

    def _vectors(
        self, rows: Sequence[tuple[list[int], list[int]]], *, whole: bool, tokens: int = 4096
    ) -> NDArray[np.float16]:
        """Vectors of rows of tokens before and tokens pooled, in batches of alike lengths."""
        lengths = [len(before) + len(own) for before, own in rows]
        order = np.argsort(lengths, kind="stable")
        result: NDArray[np.float16] = np.zeros((len(rows), self.width), np.float16)
        at = 0
        while at < len(order):
            # Ascending lengths: the longest of a batch is its last.
            count = 1
            while (
                at + count < len(order) and (count + 1) * (lengths[order[at + count]] + 2) <= tokens
            ):
                count += 1
            chosen = order[at : at + count]
            result[chosen] = self._pooled([rows[n] for n in chosen], whole=whole).cpu().numpy()
            at += count
        return result

    def _pooled(self, rows: Sequence[tuple[list[int], list[int]]], *, whole: bool) -> Tensor:
        room = self._most - len(self._bos_ids) - len(self._closing)
        full, pooled = [], []
        for before, own in rows:
            kept = before[max(0, len(before) + len(own) - room) :]
            content = (kept + own)[:room]
            full.append([*self._bos_ids, *content, *self._closing])
            first = len(self._bos_ids) + len(kept)
            last = len(self._bos_ids) + len(content)
            # A sentence of no tokens is given what is read at all.
            pooled.append((0, len(full[-1])) if whole or first == last else (first, last))
        longest = max(map(len, full))
        ids = torch.zeros(len(full), longest, dtype=torch.long)
        valid = torch.zeros(len(full), longest, dtype=torch.bool)
        weights = torch.zeros(len(full), longest, 1)
        for row, (tokens, (first, last)) in enumerate(zip(full, pooled, strict=True)):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            valid[row, : len(tokens)] = True
            weights[row, first:last] = 1.0
        everywhere = torch.arange(longest).expand(len(full), -1)
        ids, valid, everywhere, weights = (
            each.to(self.device) for each in (ids, valid, everywhere, weights)
        )
        rounded = torch.autocast(self.device.type, torch.bfloat16, enabled=self._rounded)
        with torch.no_grad(), rounded:
            states = self.backbone(ids, valid, everywhere, None).float()
        mean = (states * weights).sum(1) / weights.sum(1)
        return F.normalize(mean, dim=-1).half()


def _template(tokenizer: Tokenizer, special: Mapping[str, str]) -> tuple[list[int], list[int]]:
    """Token ids before and after a text: those the tokenizer adds, else CLS and SEP."""
    bare, full = (tokenizer.encode("a", add_special_tokens=each).ids for each in (False, True))
    if len(full) > len(bare):
        at = next(n for n in range(len(full)) if full[n : n + len(bare)] == bare)
        return full[:at], full[at + len(bare) :]
    ends: list[list[int]] = []
    for name in ("cls_token", "sep_token"):
        number = tokenizer.token_to_id(special.get(name, ""))
        ends.append([] if number is None else [number])
    return ends[0], ends[1]


class Targets:
    """A teacher's vectors, counted when they are first asked for, and kept.

    A text's vectors hang on nothing but the text: in which order a run asks for them does not
    change a bit of them.

    Args:
        teacher: who counts them.
        folder: keeps the vectors of documents, a file each, named by all they hang on; without one
            they stay in memory.
    """

    def __init__(self, teacher: Teacher, folder: Path | None = None) -> None:
        self.teacher, self._folder = teacher, folder
        if folder is not None:
            _remove_drafts(folder)
        self._known: dict[str, NDArray[np.float16]] = {}
        self._asked: dict[tuple[str, ...], NDArray[np.float16]] = {}

    def of_text(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of its sentences; those of passages without a name are not kept.

        Raises:
            OSError: the disk is full.
        """
        if not text.name:
            return self.teacher.of_sentences(text)
        told = repr((text.title, tuple(text.spans)))
        return self._kept([told, text.words], lambda: self.teacher.of_sentences(text))

    def of_passages(self, passages: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of whole passages.

        Raises:
            OSError: the disk is full.
        """
        return self._kept(["passages", *passages], lambda: self.teacher.of_passages(passages))

    def of_questions(self, questions: tuple[str, ...]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions that are always asked for together."""
        if questions not in self._asked:
            self._asked[questions] = self.teacher.of_questions(questions)
        return self._asked[questions]

    def _kept(
        self, told: Iterable[str], count: Callable[[], NDArray[np.float16]]
    ) -> NDArray[np.float16]:
        """What ``count`` gives, or gave before for the same words."""
        digest = hashlib.sha256(self.teacher.fingerprint.encode())
        for words in told:
            digest.update(words.encode("utf-8", "surrogatepass") + b"\0")
        key = digest.hexdigest()[:32]
        if key not in self._known:
            self._known[key] = (
                count() if self._folder is None else _on_disk(self._folder, key, count)
            )
        return self._known[key]


def _remove_drafts(folder: Path) -> None:
    """Remove what killed processes, here or on other machines, left half written."""
    for draft in folder.glob(f"*{_DRAFT}"):
        with suppress(OSError):  # its writer may be alive, and done by now
            if time.time() - draft.stat().st_mtime > _ABANDONED_S:
                draft.unlink()


def _on_disk(
    folder: Path, key: str, count: Callable[[], NDArray[np.float16]]
) -> NDArray[np.float16]:
    path = folder / f"{key}.npy"
    if not path.is_file():
        counted = count()
        folder.mkdir(parents=True, exist_ok=True)
        # Another process may compute it at the same time.
        draft = path.with_suffix(f".{os.getpid()}{_DRAFT}")
        try:
            with draft.open("wb") as file:
                np.save(file, counted)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    kept: NDArray[np.float16] = np.load(path, mmap_mode="r")
    return kept
