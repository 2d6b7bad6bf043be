"""The light model before its first step: a table of the big one's vectors, and a linear map.

The table begins as model2vec's does (Tulkens and van Dongen 2024): each token alone through the
teacher, its vector cut to the principal axes, its length that of SIF (Arora et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import torch
from numpy.typing import NDArray

from milepost.encoder.engine.base import Engine
from milepost_train.batches import queries_of, windows_of
from milepost_train.data import Text
from milepost_train.material import Material
from milepost_train.model.light import Light


def token_vectors(
    engine: Engine, count: int, bos_id: int | None, landmark: int
) -> NDArray[np.float32]:
    """``(count, d)``: what the teacher makes of a sentence that is one token, for each token."""
    rows = []
    for first in range(0, count, 512):
        tokens = np.arange(first, min(first + 512, count), dtype=np.int32)
        batch = queries_of(list(tokens[:, None]), bos_id, landmark)
        feed = (batch.ids, batch.sentences, batch.marks)
        rows.append(engine.run(*(part.numpy().astype(np.int32) for part in feed))[:, 0])
    return np.concatenate(rows)


def principal_axes(vectors: NDArray[np.float32], width: int) -> NDArray[np.float32]:
    """``(d, width)``: the axes on which the vectors differ most, as columns, the first the most."""
    middle = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh((middle.T @ middle).astype(np.float64))
    return np.ascontiguousarray(axes[:, ::-1][:, :width]).astype(np.float32)


def begin(
    model: Light, vectors: NDArray[np.float32], texts: Sequence[Text], rarity: float = 1e-3
) -> None:
    """Fill the table: principal axes of the tokens' vectors, lengths of ``a / (a + p)``."""
    table = model.embeddings["word_embeddings"].weight
    middle = vectors - vectors.mean(0)
    small = middle @ principal_axes(vectors, table.shape[1])
    small /= np.linalg.norm(small, axis=1, keepdims=True) + 1e-6
    counts = np.zeros(len(vectors))
    for text in texts:
        counts += np.bincount(text.ids, minlength=len(vectors))
    weights = rarity / (rarity + counts / counts.sum())
    with torch.no_grad():
        table.copy_(torch.from_numpy(small * weights[:, None].astype(np.float32)))


@torch.no_grad()
def align(model: Light, material: Material, texts: int = 150) -> None:
    """Let the untrained network's states give the targets as well as a linear map can.

    Least squares over some texts, in the place of random weights of the projection.
    """
    assert material.targets is not None
    states, targets = [], []
    every = material.texts
    for number in Random(1).sample(range(len(every)), min(texts, len(every))):
        count = min(len(every[number].spans), 40)
        batch = windows_of([(number, 0, count)], every, None, material.landmark)
        states.append(model.gather(batch.ids, batch.sentences, batch.marks)[batch.used])
        targets.append(torch.from_numpy(material.targets.of_text(every[number])[:count]))
    held = torch.cat(states)
    ones = torch.cat([held, torch.ones(len(held), 1)], dim=1).double()
    pull = 1e-2 * len(held) * torch.eye(ones.shape[1], dtype=torch.float64)
    found = torch.linalg.solve(ones.T @ ones + pull, ones.T @ torch.cat(targets).double())
    model.project.weight.copy_(found[:-1].T)
    model.project.bias.copy_(found[-1])
