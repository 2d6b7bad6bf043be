"""Metrics of one ranking: characters found within a budget, ranks of places and of documents.

Characters (Smith and Troynikov 2024, *Evaluating Chunking Strategies for Retrieval*, define
recall, precision and IoU over tokens; characters need no tokenizer): let ``R`` be the set of
characters returned, in the order given and cut where the budget ends, ``E`` the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from milepost_eval.types import Place, Question

BUDGETS = (800, 1600, 3200)
EDGE = 2
"""Characters by which two edges may differ and still count as equal: a space, a closing mark."""

AT_BUDGET = {
    "recall": "share of the evidence's characters that came back: |R∩E| / |E|",
    "precision": "share of what came back that is evidence: |R∩E| / |R|",
    "iou": "intersection over union: |R∩E| / |R∪E|",
    "answer": "1 if at least one evidence span came back whole",
    "all": "1 if every evidence span came back whole",
    "edges": "boundary hit rate: share of evidence starts and ends at which a passage has its own",
}
"""Metrics at a budget of characters, each written ``name@budget``."""

AT_RANK = {
    "mrr@10": "1 / rank of the first of ten units that touches evidence, else 0",
    "hit@1": "share of evidence spans that the first unit touches",
    "hit@5": "share of evidence spans that one of the first five units touches",
    "hit@10": "share of evidence spans that one of the first ten units touches",
}
"""Metrics over ranked units (sentences or chunks), whatever their length."""

OF_SENTENCES = {
    "mark@1": "1 if the strongest sentence (else the first unit) touches evidence",
    "twins": "1 if evidence ranks above every twin: what says the same of another subject",
}
"""Metrics of what is ranked first; ``twins`` only of questions that have them."""

OF_DOCUMENTS = {
    "ndcg@10": "normalised discounted cumulative gain of the first ten documents",
    "doc-recall@100": "share of the relevant documents among the first hundred",
}
"""Metrics over documents in the order of their best unit; in the collection setting."""


def evidence_found(
    returned: Iterable[tuple[int, int]], evidence: Sequence[tuple[int, int]], budget: int
) -> float:
    """Share of the evidence's characters among the first ``budget`` characters returned.

    Spans are taken in the order given and cut where the budget ends; a character returned twice
    is paid twice and counted once. Evidence spans do not overlap.

    ``|union of returned spans, cut at the budget, ∩ evidence| / |evidence|``

    >>> evidence_found([(0, 10), (20, 30)], [(5, 25)], budget=15)
    0.5
    """
    wanted = sum(end - start for start, end in evidence)
    kept = _union(_cut(returned, budget))
    return _shared(kept, evidence) / wanted if wanted else 0.0


def at_budget(places: Sequence[Place], question: Question, budget: int) -> dict[str, float]:
    """The metrics of ``AT_BUDGET`` for one answer.

    Places of other documents than the question's spend the budget and find nothing.

    Args:
        places: best first, see ``Ranking.spend``.
        question: with evidence spans.
        budget: characters.
    """
    cut = _cut(((p.start, p.end) for p in places), budget)
    here = _union(
        span
        for span, place in zip(cut, places, strict=False)
        if place.document == question.document
    )
    evidence = question.spans
    wanted = sum(end - start for start, end in evidence)
    returned = sum(
        end - start
        for name in {place.document for place in places}
        for start, end in _union(
            span for span, place in zip(cut, places, strict=False) if place.document == name
        )
    )
    found = _shared(here, evidence)
    whole = [_shared(here, [span]) == span[1] - span[0] for span in evidence]
    return {
        "recall": found / wanted,
        "precision": found / returned if returned else 0.0,
        "iou": found / (wanted + returned - found),
        "answer": float(any(whole)),
        "all": float(all(whole)),
        "edges": _edges(here, evidence),
    }


def at_rank(places: Sequence[Place], question: Question) -> dict[str, float]:
    """The metrics of ``AT_RANK`` for one ranking of units, best first."""
    touched = [
        {
            number
            for number, (start, end) in enumerate(question.spans)
            if place.document == question.document and place.start < end and start < place.end
        }
        for place in places[:10]
    ]
    first = next((rank for rank, spans in enumerate(touched, 1) if spans), None)
    figures = {"mrr@10": 1.0 / first if first else 0.0}
    for most in (1, 5, 10):
        hit = set().union(*touched[:most]) if touched else set()
        figures[f"hit@{most}"] = len(hit) / len(question.spans)
    return figures


def of_sentences(
    strongest: Place | None, order: Iterable[Place], question: Question
) -> dict[str, float]:
    """The metrics of ``OF_SENTENCES``.

    Args:
        strongest: see ``Ranking.strongest``.
        order: all units, best first; looked at only for a question that has twins.
        question: with evidence spans.
    """
    marked = strongest is not None and touches(strongest, question, question.spans)
    figures = {"mark@1": float(marked)}
    if question.twins:
        first = (
            touches(place, question, question.spans) and not twin
            for place in order
            if (twin := touches(place, question, question.twins))
            or touches(place, question, question.spans)
        )
        figures["twins"] = float(next(first, False))
    return figures


def touches(place: Place, question: Question, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether a place shares characters with spans of the question's document."""
    return place.document == question.document and any(
        place.start < end and start < place.end for start, end in spans
    )


def of_documents(order: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    """The metrics of ``OF_DOCUMENTS`` for one ranking of documents.

    ``DCG = Σ_i (2^{g_i} - 1) / log2(i + 1)`` would favour high grades; as ``trec_eval`` does, the
    gain is the grade itself: ``DCG@10 = Σ_{i ≤ 10} g_i / log2(i + 1)`` (Järvelin and Kekäläinen
    2002), divided by that of the best order.

    Args:
        order: names of documents, best first, each once.
        relevant: document → grade; grades under 1 are not relevant.
    """
    grades = sorted((grade for grade in relevant.values() if grade > 0), reverse=True)
    if not grades:
        return dict.fromkeys(OF_DOCUMENTS, 0.0)
    gain = _discounted(max(0, relevant.get(name, 0)) for name in order[:10])
    found = sum(relevant.get(name, 0) > 0 for name in order[:100])
    return {"ndcg@10": gain / _discounted(grades[:10]), "doc-recall@100": found / len(grades)}


def _discounted(gains: Iterable[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _cut(spans: Iterable[tuple[int, int]], budget: int) -> list[tuple[int, int]]:
    """The first ``budget`` characters of the spans, in their order."""
    kept: list[tuple[int, int]] = []
    left = budget
    for start, end in spans:
        if left <= 0:
            break
        kept.append((start, min(end, start + left)))
        left -= end - start
    return kept


def _union(spans: Iterable[tuple[int, int]], gap: int = 0) -> list[tuple[int, int]]:
    """Ascending, apart, not empty; spans ``gap`` or fewer characters apart are one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _shared(union: Sequence[tuple[int, int]], evidence: Sequence[tuple[int, int]]) -> int:
    """Characters that two lists of spans share; the spans of each list are apart."""
    return sum(
        max(0, min(stop, end) - max(begin, start))
        for begin, stop in union
        for start, end in evidence
    )


def _edges(union: Sequence[tuple[int, int]], evidence: Sequence[tuple[int, int]]) -> float:
    """Share of evidence starts that are a passage's start, and ends that are its end."""
    # Sentences side by side are one passage to a reader; what is returned holds the space between.
    wanted = _union(evidence, EDGE)
    starts, ends = [start for start, _ in union], [end for _, end in union]
    hits = sum(any(abs(start - at) <= EDGE for at in starts) for start, _ in wanted)
    hits += sum(any(abs(end - at) <= EDGE for at in ends) for _, end in wanted)
    return hits / (2 * len(wanted))
