"""Milepost as a module of a SentenceTransformer or of a MultiVectorEncoder.

    from sentence_transformers import SentenceTransformer
    from milepost.integrations.sentence_transformers import MilepostModule
    model = SentenceTransformer(modules=[MilepostModule()])

Needs ``sentence-transformers``: ``pip install '.[sentence-transformers]'`` in a clone. Milepost's
own engine computes the vectors, on the CPU; the module has no weights to train. ``milepost train``
and ``milepost_train.model.interop`` are for that.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers.base.modules import InputModule
from torch.nn.utils.rnn import pad_sequence

from milepost.encoder import Encoder, load
from milepost.encoder.embedding import embed_documents, embed_query, embed_sentences
from milepost.errors import InputError


class MilepostModule(InputModule):
    """Texts to unit vectors, the only module of its model.

    ``encode_query`` reads a question with the model's instruction for questions.
    ``encode_document`` and ``encode`` read a text of any length whole; its vector is the mean of
    its landmarks. Prompts of sentence-transformers are put in front of a text.

    ``save`` copies the model folder, so that the saved model needs no other files. It is loaded
    with ``SentenceTransformer(folder, trust_remote_code=True)``: that library requires this for
    every class that is not its own. There is no code in the folder.

    Args:
        model: an encoder, a shipped model's name or a model folder; None for the default.
        per_sentence: give one vector a sentence and one a question, for a ``MultiVectorEncoder``:
            a document is as similar to a question as its most similar sentence.

    Raises:
        ModelError: the model is missing or damaged.
    """

    save_in_root = False
    forward_kwargs = {"task"}  # noqa: RUF012 - declared so by the base class

    def __init__(
        self, model: Encoder | str | os.PathLike[str] | None = None, *, per_sentence: bool = False
    ) -> None:
        super().__init__()
        self.per_sentence = per_sentence
        self._encoder = model if isinstance(model, Encoder) else load(model)

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """The texts as they are; Milepost's own tokenizer reads them.

        Raises:
            InputError: an input is not a text.
        """
        for text in inputs:
            if not isinstance(text, str):
                raise InputError(f"Milepost reads texts, not {type(text).__name__}", "strings")
        return {"texts": [(prompt or "") + text for text in inputs]}

    def forward(
        self, features: dict[str, Any], task: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Add ``sentence_embedding``, ``(texts, d)`` float32.

        If each sentence has a vector: ``token_embeddings``, ``(texts, most sentences, d)``, and
        ``attention_mask``, which is 1 where there is a sentence.
        """
        texts = features["texts"]
        if task == "query":
            vectors = np.array([embed_query(self._encoder, text) for text in texts], np.float32)
            sentences = [vector[None] for vector in vectors]
        elif self.per_sentence:
            sentences = embed_sentences(self._encoder, texts)
        else:
            vectors = embed_documents(self._encoder, texts)
        if not self.per_sentence:
            features["sentence_embedding"] = torch.from_numpy(vectors)
            return features
        rows = [torch.from_numpy(each) for each in sentences]
        mask = [torch.ones(len(each), dtype=torch.int64) for each in rows]
        features["token_embeddings"] = pad_sequence(rows, batch_first=True)
        features["attention_mask"] = pad_sequence(mask, batch_first=True)
        return features

    @property
    def max_seq_length(self) -> float:
        """No limit: nothing is truncated."""
        return math.inf

    def get_embedding_dimension(self) -> int:
        """Width of the vectors."""
        return self._encoder.dimensions

    def get_config_dict(self) -> dict[str, Any]:
        """What is shown of the module, and saved beside its model."""
        return {"model": self._encoder.manifest.name, "per_sentence": self.per_sentence}

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Copy the model folder.

        Raises:
            InputError: the encoder was made in memory.
        """
        if not self._encoder.folder.is_dir():
            raise InputError("the encoder has no folder to save", "a model folder or name")
        if self._encoder.folder.resolve() != Path(output_path).resolve():
            shutil.copytree(self._encoder.folder, output_path, dirs_exist_ok=True)
        self.save_config(output_path)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> MilepostModule:
        """Read what ``save`` wrote, from a folder or from the hub."""
        folder = cls.load_dir_path(
            model_name_or_path, subfolder, token, cache_folder, revision, local_files_only
        )
        return cls(folder, per_sentence=cls.load_config(folder or "").get("per_sentence", False))
