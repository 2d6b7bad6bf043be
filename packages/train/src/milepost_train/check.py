"""Evidence found on development questions, by landmarks alone, during training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.encoder.windows.plan import WindowSize, plan
from milepost_eval.metrics import evidence_found
from milepost_eval.tasks.names import load
from milepost_eval.tasks.protocol import take
from milepost_train.batches import Batch, queries_of, windows_of
from milepost_train.config import CheckSettings
from milepost_train.data import Question, Text, touched
from milepost_train.generated import Source
from milepost_train.loading import Texts
from milepost_train.model.landmark_encoder import LandmarkEncoder

WINDOWS = 16
"""That are read at once."""

_RANKED = 60  # sentences that are put in order; the budget holds fewer


def vectors_of(model: LandmarkEncoder, batch: Batch) -> Tensor:
    """``(n, d)`` unit vectors of a batch's landmarks, in the order of its ``owners``."""
    device = next(model.parameters()).device
    ids, sentences, marks, used = (
        part.to(device) for part in (batch.ids, batch.sentences, batch.marks, batch.used)
    )
    result: Tensor = model(ids, sentences, marks)[used]
    return result


def landmarks_of(
    encode: Callable[[Batch], Tensor],
    text: Text,
    bos_id: int | None,
    landmark: int,
    shape: WindowSize,
) -> NDArray[np.float32]:
    """``(n, d)``: every sentence's vector, read in windows with halo."""
    owned: list[NDArray[np.float32]] = []
    windows = list(plan((text.lengths + 1).tolist(), shape))
    for at in range(0, len(windows), WINDOWS):
        group = windows[at : at + WINDOWS]
        batch = windows_of([(0, w.first, w.last) for w in group], [text], bos_id, landmark)
        vectors = encode(batch).float().cpu().numpy()
        row = 0
        for window in group:
            own = row - window.first
            owned.append(vectors[own + window.own_first : own + window.own_last])
            row += window.last - window.first
    return np.concatenate(owned)


@dataclass(frozen=True, slots=True)
class Check:
    """Questions and the documents they ask of, as token ids; the budget is in characters."""

    texts: Sequence[Text]
    questions: Sequence[Question]
    bos_id: int | None
    landmark: int
    shape: WindowSize
    budget: int

    @torch.no_grad()
    def __call__(self, encode: Callable[[Batch], Tensor]) -> dict[str, float]:
        """Mean evidence found (0–1) per task within the budget, best sentences first.

        Evidence is counted in whole sentences here, so figures lie a little under those of
        ``milepost eval``.
        """
        found: dict[str, list[float]] = {}
        by_text: dict[int, list[Question]] = {}
        for question in self.questions:
            by_text.setdefault(question.text, []).append(question)
        for number, asked in by_text.items():
            text = self.texts[number]
            vectors = landmarks_of(encode, text, self.bos_id, self.landmark, self.shape)
            batch = queries_of([q.ids for q in asked], self.bos_id, self.landmark)
            scores = encode(batch).float().cpu().numpy() @ vectors.T
            for question, row in zip(asked, scores, strict=True):
                order = np.argsort(-row, kind="stable")[:_RANKED]
                spans = [text.spans[i] for i in order]
                evidence = [text.spans[i] for i in question.evidence]
                share = evidence_found(spans, evidence, self.budget)
                found.setdefault(question.task, []).append(share)
        return {task: float(np.mean(shares)) for task, shares in found.items()}


def load_check(
    settings: CheckSettings, tokenizer: Tokenizer, shape: WindowSize, query_prefix: str = ""
) -> Check | None:
    """The questions of a check, each with the prefix in front; None where it names no task."""
    texts = Texts(tokenizer, shape.longest - 1, query_prefix)
    questions: list[Question] = []
    for path in settings.tasks:
        task = take(load(str(path), settings.split), settings.questions, settings.documents)
        place = {each.name: texts.add(Source(each), task.name) for each in task.documents}
        for asked in task.questions:
            number = place[asked.document]
            evidence = touched(texts.all[number].spans, asked.spans)
            ids = texts.query(asked.text, Counter())[: texts.longest]
            if evidence and len(ids):
                one = Question(asked.name, task.name, ids, number, evidence, asked.text)
                questions.append(one)
    special = tokenizer.bos_id, tokenizer.landmark
    return Check(texts.all, questions, *special, shape, settings.budget) if questions else None
