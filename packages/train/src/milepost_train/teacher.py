"""Targets of distillation: what a teacher says of sentences and questions, and one kind of teacher.

The teacher of this module is a mean-pooled sentence encoder; ``landmark_teacher.py`` has Milepost's
own models, ``lexical_teacher.py`` words, which score and give no vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

from milepost.errors import ModelError
from milepost_eval.vectors import Vectors
from milepost_train.config import Dtype
from milepost_train.data import Text
from milepost_train.device import chosen_dtype
from milepost_train.model.checkpoint import open_checkpoint
from milepost_train.model.layouts import starting_weights

_HELD = 1000  # texts whose vectors are in memory, where a folder keeps them as well


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


class MeanTeacher:
    """A sentence-transformers model with mean pooling over all tokens. Implements ``Teacher``.

    A sentence is read alone.

    Args:
        folder: as that library saves it, or weights with ``tokenizer.json`` alone.
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
        digest = hashlib.sha256(repr((self.longest, self._said.pooling, self._rounded)).encode())
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            if (folder / name).is_file():
                with (folder / name).open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions."""
        return self._vectors([self._said.query_prompt + words for words in questions])

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of a text's sentences, each read alone."""
        return self._vectors([self._said.document_prompt + text.words[a:b] for a, b in text.spans])

    def _vectors(self, texts: Sequence[str], *, tokens: int = 4096) -> NDArray[np.float16]:
        """Vectors of texts, in batches of alike lengths."""
        if self._said.lower_case:
            texts = [text.lower() for text in texts]
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = [encoding.ids[: self.longest] for encoding in encoded]
        lengths = [len(row) for row in rows]
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
            result[chosen] = self._pooled([rows[n] for n in chosen]).cpu().numpy()
            at += count
        return result

    def _pooled(self, rows: Sequence[list[int]]) -> Tensor:
        room = self._most - len(self._bos_ids) - len(self._closing)
        full = [[*self._bos_ids, *row[:room], *self._closing] for row in rows]
        longest = max(map(len, full))
        ids = torch.zeros(len(full), longest, dtype=torch.long)
        valid = torch.zeros(len(full), longest, dtype=torch.bool)
        for number, tokens in enumerate(full):
            ids[number, : len(tokens)] = torch.tensor(tokens)
            valid[number, : len(tokens)] = True
        everywhere = torch.arange(longest).expand(len(full), -1)
        ids, valid, everywhere = (each.to(self.device) for each in (ids, valid, everywhere))
        rounded = torch.autocast(self.device.type, torch.bfloat16, enabled=self._rounded)
        with torch.no_grad(), rounded:
            states = self.backbone(ids, valid, everywhere, None).float()
        weights = valid[..., None].float()
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
    """A teacher's vectors, computed when they are first asked for, and kept.

    A text's vectors depend on nothing but the text: in which order a run asks for them does not
    change a bit of them.

    Args:
        teacher: who computes them.
        folder: keeps the vectors of documents; without one they stay in memory.
    """

    def __init__(self, teacher: Teacher, folder: Path | None = None) -> None:
        self.teacher, self._folder = teacher, folder
        self._vectors = Vectors(None if folder is None else folder / "vectors.sqlite")
        self._known: dict[tuple[str, str], NDArray[np.float16]] = {}
        self._asked: dict[tuple[str, ...], NDArray[np.float16]] = {}

    def of_text(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of its sentences; those of passages without a name are not kept.

        Raises:
            InputError: the disk is full.
        """
        if not text.name:
            return self.teacher.of_sentences(text)
        key = repr(tuple(text.spans)), text.words
        if key not in self._known:
            if self._folder is not None and len(self._known) >= _HELD:
                self._known.clear()
            found, _ = self._vectors.get(
                self.teacher.fingerprint,
                key,
                lambda: (self.teacher.of_sentences(text).astype(np.float32), 0),
            )
            self._known[key] = found.astype(np.float16)
        return self._known[key]

    def of_questions(self, questions: tuple[str, ...]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions that are always asked for together."""
        if questions not in self._asked:
            self._asked[questions] = self.teacher.of_questions(questions)
        return self._asked[questions]
