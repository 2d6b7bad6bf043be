"""Targets of distillation: what a teacher says of sentences and questions.

A teacher is a model of sentence-transformers, which reads a sentence alone, or a model of
Milepost's, whose own landmarks, each read in its context, are the targets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from milepost._optional import require
from milepost.encoder import Encoder, load
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import MANIFEST, Manifest
from milepost.encoder.windows.document_vector import unit
from milepost.errors import ModelError, first_line
from milepost_eval.embedders import fingerprints
from milepost_eval.vectors import Vectors
from milepost_train.config import Dtype
from milepost_train.data import Text
from milepost_train.model.checkpoint import open_checkpoint
from milepost_train.model.export import fingerprint
from milepost_train.model.huggingface import quiet
from milepost_train.model.landmark_encoder import READING, TorchEngine
from milepost_train.model.release import manifest_fields
from milepost_train.processes import chosen_dtype

_HELD = 1000  # texts whose vectors are in memory, where a folder keeps them as well


class Teacher(Protocol):
    """What gives the vectors that are learned from."""

    fingerprint: str
    width: int

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions."""

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of a text's sentences."""


class MeanTeacher:
    """A sentence-transformers model, which reads a sentence alone. Implements ``Teacher``.

    ``folder`` is as that library saves it, or an encoder of transformers, whose tokens are
    averaged. The ``longest`` first tokens of a sentence say what a target has to say: 64 take half
    the time. Rounded to bfloat16, vectors differ by some thousandths.
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
        said = fingerprints.fingerprint(folder), self.model.max_seq_length, self._rounded
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

    ``folder`` keeps the vectors of documents; without one they stay in memory.
    """

    def __init__(self, teacher: Teacher, folder: Path | None = None) -> None:
        self.teacher, self._folder = teacher, folder
        self._vectors = Vectors(None if folder is None else folder / "vectors.sqlite")
        self._known: dict[tuple[str, str], NDArray[np.float16]] = {}
        self._asked: dict[tuple[str, ...], NDArray[np.float16]] = {}

    def of_text(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of its sentences; of passages without a name none are kept."""
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


def is_ours(folder: Path) -> bool:
    """Whether a folder is Milepost's: an exported model, or the checkpoint of a run."""
    return any((folder / name).is_file() for name in (MANIFEST, READING))


class LandmarkTeacher:
    """A model that reads landmarks, such as that of a larger run. Implements ``Teacher``.

    ``folder`` is that of ``milepost export``, read by OpenVINO in the fastest precision it holds;
    or a run's ``checkpoint``, read by torch in float32 on ``device``.
    """

    def __init__(self, folder: Path, *, device: str | torch.device = "cpu") -> None:
        self.encoder = _encoder(folder, device)
        self.width = self.encoder.dimensions
        graph = ModelFolder(folder, self.encoder.manifest).precisions[:1]
        said = self.encoder.fingerprint, graph
        self.fingerprint = hashlib.sha256(repr(said).encode()).hexdigest()

    def of_questions(self, questions: Sequence[str]) -> NDArray[np.float16]:
        """``(n, d)`` unit vectors of questions, one by one as a search reads them."""
        found = [self.encoder.encode_query(question) for question in questions]
        return np.stack(found).astype(np.float16)

    def of_sentences(self, text: Text) -> NDArray[np.float16]:
        """``(n, d)`` unit landmarks of a text's sentences, read in windows with their halo.

        Of a sentence that is longer than the model reads in one piece it is the mean of its pieces.
        """
        found = self.encoder.encode(text.words, spans=text.spans)
        starts = [start for start, _ in text.spans]
        owner = np.searchsorted(starts, found.spans[:, 0], side="right") - 1
        pieces = np.bincount(owner, minlength=len(starts))
        firsts = np.cumsum(pieces) - pieces
        sums = np.add.reduceat(found.vectors.astype(np.float64), firsts, axis=0)
        return unit(sums / pieces[:, None]).astype(np.float16)


def _encoder(folder: Path, device: str | torch.device) -> Encoder:
    if (folder / MANIFEST).is_file():
        return load(folder.resolve())  # a bare name would be that of a model that ships
    checkpoint = open_checkpoint(folder)
    model = checkpoint.model
    said = {**manifest_fields(checkpoint), "own_sentence": model.own_sentence}
    manifest = Manifest(folder.name, "", int(model.backbone.width), causal=model.causal, **said)
    tokenizer = ModelFolder(folder, manifest).tokenizer
    manifest = replace(manifest, fingerprint=fingerprint(model, tokenizer, manifest))
    return Encoder(ModelFolder(folder, manifest), TorchEngine(model.to(device)))
