"""Targets of distillation: what a teacher says of sentences and questions, and one kind of teacher.

The teacher of this module is a model of sentence-transformers; ``landmark_teacher.py`` has
Milepost's own models, ``lexical_teacher.py`` words, which score and give no vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from milepost._optional import require
from milepost.errors import ModelError, first_line
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_eval.vectors import Vectors
from milepost_train.config import Dtype
from milepost_train.data import Text
from milepost_train.device import chosen_dtype
from milepost_train.model.huggingface import quiet

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
    """A sentence-transformers model, which reads a sentence alone. Implements ``Teacher``.

    Args:
        folder: as that library saves it, or an encoder of transformers, whose tokens are averaged.
        longest: tokens read of a sentence; the first 64 say what a target has to say, at half the
            time.
        device: where it computes.
        dtype: in which numbers; vectors of sentences differ by some thousandths.

    Raises:
        ModelError: the folder cannot be read.
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        longest: int = 64,
        device: str | torch.device = "cpu",
        dtype: Dtype = "float32",
    ) -> None:
        library = require("sentence_transformers", extra="train")
        self.device = torch.device(device)
        self._rounded = chosen_dtype(dtype, self.device) == "bfloat16"
        safe = {"use_safetensors": True}
        try:
            with quiet():
                self.model = library.SentenceTransformer(
                    str(folder), device=str(device), local_files_only=True, model_kwargs=safe
                )
        except Exception as error:  # the library raises all kinds
            raise ModelError(
                f"the teacher {folder} cannot be read: {first_line(error)}",
                "a folder of sentence-transformers, such as all-MiniLM-L6-v2",
            ) from error
        self.model.max_seq_length = min(longest + 2, self.model.max_seq_length or longest + 2)
        self.width = int(self.model.get_embedding_dimension())
        said = fingerprint(folder), self.model.max_seq_length, self._rounded
        self.fingerprint = hashlib.sha256(repr(said).encode()).hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions."""
        return self._vectors(self.model.encode_query, questions)

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of a text's sentences, each read alone."""
        return self._vectors(self.model.encode_document, [text.words[a:b] for a, b in text.spans])

    def _vectors(
        self, encode: Callable[..., NDArray[np.float32]], texts: Sequence[str]
    ) -> NDArray[np.float16]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._rounded):
            found = encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return found.astype(np.float16)


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
