"""What the model's reranker says of a claim beside passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from milepost.checking.claims import Said, as_written, compare, joined
from milepost.checking.claims.reading import read
from milepost.encoder.reranker import LandmarkReranker
from milepost.types import Passage

READ_BY_MODEL = 3
"""Passages that the reranker judges: the best of many would contradict by chance."""


def said(
    loaded: Callable[[], LandmarkReranker | None], claim: str, passages: Sequence[Passage]
) -> list[Said]:
    """What the reranker says of a claim beside the first passages; nothing if it gives no verdicts.

    Passages are ordered by what answers, which for claims is what is about them.
    """
    if (reranker := loaded()) is None:
        return []
    found: list[Said] = []
    own = read(claim)
    for passage in passages[:READ_BY_MODEL]:
        hits = sorted(passage.hits, key=lambda hit: hit.start)
        units = joined(hits)
        shared = [compare(own, read(unit.words)).coverage for unit in units]
        most = shared.index(max(shared))
        texts = [hit.text for hit in hits]
        whole = units[most].words if units[most].kind == "item" else units[most].hit.text
        texts[most] = " ".join(whole.split())
        written = as_written(claim, [texts[most], *texts])
        judged = reranker.judge(written, texts, most)
        if judged is None:
            return []
        reading, first = judged
        supported, contradicted, _ = reading.of_claim
        best = [units[first + number] for number in (-reading.cosines).argsort().tolist()]
        best.sort(key=lambda unit: unit.kind == "question")  # which says nothing
        found.append(Said(supported, contradicted, best[0].hit, reranker.is_judge))
    return found
