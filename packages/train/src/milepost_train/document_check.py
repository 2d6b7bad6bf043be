"""Documents found by their titles during training, at the one granularity of evaluation.

The vectors are those of LMK pooling: whatever training draws, here every text and every title has
its landmarks ``evaluation`` tokens apart. The documents are those of the check, which no weights
have seen, and all of them are candidates for every title.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost.engine.manifest import prefixed
from milepost.engine.tokenizer import Tokenizer
from milepost_eval.metrics import of_documents
from milepost_train.batches import Batch
from milepost_train.check import WINDOWS, Check
from milepost_train.data import QUESTION_TOKENS, Text, one_sentence, without_title
from milepost_train.granularity import document_vectors
from milepost_train.objectives.documents import beginning, windows_of
from milepost_train.stages import DocumentsStage


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    """Titles and the documents they name, as token ids.

    Attributes:
        stage: how texts and queries are read.
        queries: token ids; at least one.
        texts: without their titles.
        right: for each query the numbers of its texts; several where they share a title.
        bos_id, landmark: token ids; None where the model has no BOS token.
    """

    stage: DocumentsStage
    queries: Sequence[NDArray[np.int32]]
    texts: Sequence[Text]
    right: Sequence[frozenset[int]]
    bos_id: int | None
    landmark: int

    @torch.no_grad()
    def __call__(self, encode: Callable[[Batch], Tensor]) -> dict[str, float]:
        """``ndcg@10`` and ``success@1``, both 0–1, means over the queries.

        ``success@1`` is the share of queries whose best document is a right one.

        Args:
            encode: vectors ``(n, d)`` of a batch's landmarks.
        """
        asking = self._vectors(encode, [one_sentence(ids) for ids in self.queries])
        found = self._vectors(encode, [beginning(self.stage, text) for text in self.texts])
        gains, firsts = [], []
        for scores, right in zip(asking @ found.T, self.right, strict=True):
            order = np.argsort(-scores, kind="stable").tolist()
            relevant = {str(number): 1 for number in right}
            gains.append(of_documents([str(number) for number in order], relevant)["ndcg@10"])
            firsts.append(order[0] in right)
        return {"ndcg@10": float(np.mean(gains)), "success@1": float(np.mean(firsts))}

    def _vectors(
        self, encode: Callable[[Batch], Tensor], texts: Sequence[Text]
    ) -> NDArray[np.float32]:
        granularities = [self.stage.drawn().evaluation] * len(texts)
        batches = windows_of(
            self.stage, texts, granularities, self.bos_id, self.landmark, chunk=WINDOWS
        )
        landmarks = torch.cat([encode(batch).float() for batch in batches])
        owners = np.concatenate([batch.owners for batch in batches])
        vectors: NDArray[np.float32] = document_vectors(landmarks, owners)[1].cpu().numpy()
        return vectors


def document_check(
    check: Check, stage: DocumentsStage, tokenizer: Tokenizer, query_prefix: str = ""
) -> DocumentCheck | None:
    """Each document of a check with its title; one without a title with its first question.

    Args:
        check: its texts are the candidates.
        stage: of the run.
        tokenizer: the model's.
        query_prefix: prefix of every title.

    Returns:
        None where fewer than two documents can be told apart.
    """
    asked = {question.text: question.ids.tolist() for question in reversed(check.questions)}
    texts: list[Text] = []
    named: dict[tuple[int, ...], set[int]] = {}
    for number, text in enumerate(check.texts):
        rest = without_title(text)
        texts.append(rest or text)
        title = (
            tokenizer.encode([prefixed(text.title, query_prefix)])[0].ids[:QUESTION_TOKENS]
            if rest
            else []
        )
        query = tuple(title or asked.get(number, ()))
        if query:
            named.setdefault(query, set()).add(number)
    if len(named) < 2:
        return None
    return DocumentCheck(
        stage,
        [np.array(ids, np.int32) for ids in named],
        texts,
        [frozenset(numbers) for numbers in named.values()],
        check.bos_id,
        check.landmark,
    )
