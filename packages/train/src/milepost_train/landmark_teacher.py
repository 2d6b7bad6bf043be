"""A Milepost model as the teacher: its own landmarks, each read in its context, are the targets."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from milepost.encoder import Encoder, load
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.manifest import MANIFEST, Manifest
from milepost.encoder.windows.document_vector import unit
from milepost_train.data import Text
from milepost_train.model.checkpoint import open_checkpoint
from milepost_train.model.export import fingerprint
from milepost_train.model.reading import READING
from milepost_train.model.release import window_sizes
from milepost_train.model.torch_engine import TorchEngine


def is_ours(folder: Path) -> bool:
    """Whether a folder is Milepost's: an exported model, or the checkpoint of a run."""
    return any((folder / name).is_file() for name in (MANIFEST, READING))


class LandmarkTeacher:
    """A model that reads landmarks, such as that of a larger run. Implements ``Teacher``.

    Args:
        folder: of ``milepost export``, read by OpenVINO in the fastest precision it holds; or a
            run's ``checkpoint``, read by torch in float32.
        device: where torch computes.

    Raises:
        ModelError: a file of the folder is missing or damaged.
        InputError: the windows that the checkpoint names do not fit its network.
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
    model, reading = checkpoint.model, checkpoint.reading
    said: dict[str, Any] = {
        "bos_token": reading.bos_token,
        "landmark": reading.landmark,
        "own_sentence": model.own_sentence,
        "granularity": reading.granularity,
        "causal": model.causal,
        "query_prefix": reading.query_prefix,
        **window_sizes(checkpoint),
    }
    manifest = Manifest(folder.name, "", int(model.backbone.width), **said)
    tokenizer = ModelFolder(folder, manifest).tokenizer
    manifest = replace(manifest, fingerprint=fingerprint(model, tokenizer, manifest))
    return Encoder(ModelFolder(folder, manifest), TorchEngine(model.to(device)))
