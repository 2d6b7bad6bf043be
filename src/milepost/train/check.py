"""Evidence found on development questions, by landmarks alone, during training."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.evaluate.metrics import evidence_found
from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.train.batches import Batch, queries_of, windows_of
from milepost.train.data import Question, Text
from milepost.windows.plan import WindowSize, plan


def vectors_of(model: LandmarkEncoder, batch: Batch) -> Tensor:
    """``(n, d)`` unit vectors of a batch's landmarks, in the order of its ``owners``."""
    result: Tensor = model(batch.ids, batch.sentences, batch.marks)[batch.used]
    return result


@torch.no_grad()
def landmarks_of(
    model: LandmarkEncoder, text: Text, opening: int, landmark: int, shape: WindowSize
) -> NDArray[np.float32]:
    """``(n, d)``: every sentence's vector, read in windows with halo."""
    result = np.zeros((len(text.spans), model.backbone.width), np.float32)
    windows = list(plan((text.lengths + 1).tolist(), shape))
    for at in range(0, len(windows), 16):
        group = windows[at : at + 16]
        batch = windows_of([(0, w.first, w.last) for w in group], [text], opening, landmark)
        vectors = vectors_of(model, batch).float().numpy()
        row = 0
        for window in group:
            skip = window.own_first - window.first
            owned = window.own_last - window.own_first
            result[window.own_first : window.own_last] = vectors[row + skip : row + skip + owned]
            row += window.last - window.first
    return result


@torch.no_grad()
def evidence_by_landmarks(
    model: LandmarkEncoder,
    texts: Sequence[Text],
    questions: Sequence[Question],
    opening: int,
    landmark: int,
    *,
    shape: WindowSize,
    budget: int = 1600,
) -> dict[str, float]:
    """Mean evidence found per task within ``budget`` characters, best sentences first.

    Evidence is counted in whole sentences here, so figures lie a little under those of exact spans.
    """
    found: dict[str, list[float]] = {}
    by_text: dict[int, list[Question]] = {}
    for question in questions:
        by_text.setdefault(question.text, []).append(question)
    with torch.autocast("cpu", torch.bfloat16):
        for number, asked in by_text.items():
            text = texts[number]
            vectors = landmarks_of(model, text, opening, landmark, shape)
            batch = queries_of([q.ids for q in asked], opening, landmark)
            scores = vectors_of(model, batch).float().numpy() @ vectors.T
            for question, row in zip(asked, scores, strict=True):
                order = np.argsort(-row)[:60]
                spans = [text.spans[i] for i in order]
                evidence = [text.spans[i] for i in question.evidence]
                found.setdefault(question.task, []).append(evidence_found(spans, evidence, budget))
    return {task: float(np.mean(values)) for task, values in found.items()}
