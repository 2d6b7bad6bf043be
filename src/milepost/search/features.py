"""Features of a sentence, from which the learned ranking predicts that it is evidence.

All features follow from the score curves of the question (``fusion.curves``), the starts of
paragraphs and the lengths of sentences; no text is read. The trees of ``trees.py`` were learned on
exactly these columns, in this order.
"""

from __future__ import annotations

from milepost._numpy import NDArray, np
from milepost.search.fusion import SIGNALS, Fused, standard
from milepost.search.lexical import averaged, windowed
from milepost.search.scope import Scope

_GROUPS = {
    "landmark": "landmark, landmark ±1, landmark ±3, landmark gap, landmark ±1 gap, cosine, "
    "landmark rank, landmark deviation, landmark before, landmark after",
    "words": "words, words ±1, words ±3, words gap, words ±1 gap, words rank, words deviation, "
    "covered, covered ±1, rarest word",
    "both": "fused, fused gap, fused rank",
    "neighbours": "before, after, two before, two after, around 6, around 12, around 25, "
    "around 6 gap, around 12 gap, around 25 gap, warm 6, warm 25, landmark around 8, "
    "covered around 6, covered around 25",
    "paragraph": "paragraph best, below paragraph best, paragraph mean, paragraph landmark gap, "
    "landmark below paragraph, place in paragraph, left of paragraph, paragraph length, "
    "covered in paragraph",
    "document": "document landmark, document landmark gap, document best gap, "
    "below document best, document share of best, document covered, document covered gap, "
    "document length, document sentence length, documents",
    "length": "length, length around 6, length of documents, vocabulary coverage",
    "question": ", ".join(
        ["share", "scale shift", *(name for name in SIGNALS if name != "always")]
    ),
}

FEATURES: dict[str, str] = {
    name.strip(): group for group, names in _GROUPS.items() for name in names.split(",")
}
"""Maps every column to the part of a score it counts towards, see ``Hit.contributions``.

``gap`` is the distance to the best sentence of all, ``±1`` a mean or score with one neighbour on
each side, ``around k`` the mean of ``k`` neighbours on each side, ``warm`` the same with scores
below the mean set to 0, ``covered`` the share of the question's words (by rarity) that are found,
``rank`` the logarithm of one plus the rank, ``deviation`` a standard score. Lengths are logarithms
of characters (``document length`` of sentences, ``documents`` of the number of documents).
``document landmark`` is the question's similarity to the document's vector, the mean of its
landmarks (LMK pooling, arXiv 2601.21525); ``document share of best`` is the share of the ``_BEST``
best sentences that it holds. In a single document these columns are constant or follow from others.
"""

_BEST = 20
_NEARLY = 0.99999


def features(scope: Scope, fused: Fused, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Compute the ``FEATURES`` of some sentences: ``(len(rows), len(FEATURES))`` float32."""
    n = len(scope.spans)
    score, (lone, near, far), words = fused.score, fused.landmarks, fused.words

    def around(values: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
        return averaged(values, scope.document_offsets, reach)

    length = np.log(np.maximum(1, scope.spans[:, 1] - scope.spans[:, 0])).astype(np.float32)
    wide = {reach: around(score, reach) for reach in (6, 12, 25)}
    warm = np.maximum(score, 0)
    cover, cover_near, rarest, paragraphs, documents = _cover(scope)
    opened = np.cumsum(scope.paragraph_starts) - 1
    first = np.flatnonzero(scope.paragraph_starts)
    size = np.diff(np.append(first, n)).astype(np.float32)
    best, best_landmark = np.maximum.reduceat(score, first), np.maximum.reduceat(lone, first)
    mean = np.add.reduceat(score, first) / size
    own = opened[rows]
    constant = {"share": fused.share, "scale shift": fused.scale_shift, **fused.signals}
    columns = {
        "landmark": lone[rows],
        "landmark ±1": near[rows],
        "landmark ±3": far[rows],
        "landmark gap": lone[rows] - lone.max(),
        "landmark ±1 gap": near[rows] - near.max(),
        "cosine": scope.similarity[rows],
        "landmark rank": _rank(lone)[rows],
        "landmark deviation": standard(scope.similarity)[rows],
        "landmark before": _shifted(lone, scope.document_offsets, 1)[rows],
        "landmark after": _shifted(lone, scope.document_offsets, -1)[rows],
        "words": words[0][rows],
        "words ±1": words[1][rows],
        "words ±3": words[2][rows],
        "words gap": words[0][rows] - words[0].max(),
        "words ±1 gap": words[1][rows] - words[1].max(),
        "words rank": _rank(words[1])[rows],
        "words deviation": standard(scope.lexical[1])[rows],
        "covered": cover[rows],
        "covered ±1": cover_near[rows],
        "rarest word": rarest[rows],
        "fused": score[rows],
        "fused gap": score[rows] - score.max(),
        "fused rank": _rank(score)[rows],
        "before": _shifted(score, scope.document_offsets, 1)[rows],
        "after": _shifted(score, scope.document_offsets, -1)[rows],
        "two before": _shifted(score, scope.document_offsets, 2)[rows],
        "two after": _shifted(score, scope.document_offsets, -2)[rows],
        **{f"around {reach}": values[rows] for reach, values in wide.items()},
        **{f"around {reach} gap": values[rows] - values.max() for reach, values in wide.items()},
        "warm 6": around(warm, 6)[rows],
        "warm 25": around(warm, 25)[rows],
        "landmark around 8": around(lone, 8)[rows],
        "covered around 6": around(cover, 6)[rows],
        "covered around 25": around(cover, 25)[rows],
        "paragraph best": best[own],
        "below paragraph best": score[rows] - best[own],
        "paragraph mean": mean[own],
        "paragraph landmark gap": best_landmark[own] - lone.max(),
        "landmark below paragraph": lone[rows] - best_landmark[own],
        "place in paragraph": rows - first[own],
        "left of paragraph": first[own] + size[own] - 1 - rows,
        "paragraph length": size[own],
        "covered in paragraph": paragraphs[own],
        **_documents(scope, score, lone, length, documents, rows),
        "length": length[rows],
        "length around 6": around(length, 6)[rows],
        "length of documents": np.full(len(rows), length.mean()),
        "vocabulary coverage": scope.vocab_coverage[rows],
        **{
            name: np.full(len(rows), constant[name])
            for name, group in FEATURES.items()
            if group == "question"
        },
    }
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)


def _documents(
    scope: Scope,
    score: NDArray[np.float32],
    lone: NDArray[np.float32],
    length: NDArray[np.float32],
    covered: NDArray[np.float32],
    rows: NDArray[np.int64],
) -> dict[str, NDArray[np.float32]]:
    first = scope.document_offsets[:-1]
    size = np.diff(scope.document_offsets)
    own = scope.document_offsets.searchsorted(rows, side="right") - 1
    landmark, sentence = (np.add.reduceat(each, first) / size for each in (lone, length))
    if len(first) == 1:  # curves around their mean would be rounding errors, which trees memorise
        landmark = np.zeros(1, np.float32)
    best = np.maximum.reduceat(score, first)
    top = highest(score, _BEST)
    holders = scope.document_offsets.searchsorted(top, side="right") - 1
    held = np.bincount(holders, minlength=len(first)) / len(top)
    return {
        "document landmark": landmark[own],
        "document landmark gap": landmark[own] - landmark.max(),
        "document best gap": best[own] - best.max(),
        "below document best": score[rows] - best[own],
        "document share of best": held[own],
        "document covered": covered[own],
        "document covered gap": covered[own] - covered.max(),
        "document length": np.log(size[own]),
        "document sentence length": sentence[own],
        "documents": np.full(len(rows), np.log(len(first))),
    }


def highest(
    scores: NDArray[np.float32], most: int, among: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return the numbers of the ``most`` highest scores, best first, without sorting all."""
    numbers = np.arange(len(scores)) if among is None else np.flatnonzero(among)
    lost = -scores[numbers]
    if len(numbers) > most:
        high = lost <= np.partition(lost, most - 1)[most - 1]
        numbers, lost = numbers[high], lost[high]
    return numbers[np.argsort(lost, kind="stable")[:most]]


def _cover(scope: Scope) -> tuple[NDArray[np.float32], ...]:
    """Compute the share of the question's words, by rarity, that each sentence covers.

    It is ``(n,)`` each: the share of the sentence, that with its neighbours, whether it contains
    the rarest word; and for each paragraph, and each document, its share.
    """
    n = len(scope.spans)
    alone, near, rarest = (np.zeros(n, np.float32) for _ in range(3))
    first = np.flatnonzero(scope.paragraph_starts)
    paragraphs = np.zeros(len(first), np.float32)
    documents = np.zeros(len(scope.document_offsets) - 1, np.float32)
    possible = sum(scope.idf.values())
    greatest = max(scope.idf.values(), default=0.0)
    for term, weight in scope.idf.items():
        if weight <= 0.0:
            continue
        there = (scope.counts[term] > 0).astype(np.float32)
        alone += weight / possible * there
        near += weight / possible * (windowed(there, scope.document_offsets, 1) > 0)
        paragraphs += weight / possible * np.maximum.reduceat(there, first)
        held = np.maximum.reduceat(there, scope.document_offsets[:-1])
        documents += weight / possible * (held > 0)
        if weight == greatest:
            np.maximum(rarest, there, out=rarest)
    return _all(alone), _all(near), rarest, _all(paragraphs), _all(documents)


def _all(shares: NDArray[np.float32]) -> NDArray[np.float32]:
    """Set full shares to exactly 1, because machines and browsers round sums differently."""
    return np.where(shares > _NEARLY, np.float32(1.0), shares)


def _rank(values: NDArray[np.float32]) -> NDArray[np.float32]:
    ranks = np.empty(len(values), np.float32)
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return np.log1p(ranks)


def _shifted(
    values: NDArray[np.float32], document_offsets: NDArray[np.int64], by: int
) -> NDArray[np.float32]:
    """Shift values by ``by`` sentences within each document; edges get the minimum of all."""
    lowest = values.min()
    result = np.full_like(values, lowest)
    if by > 0:
        result[by:] = values[:-by]
        edges = document_offsets[:-1, None] + np.arange(by)
    else:
        result[:by] = values[-by:]
        edges = document_offsets[1:, None] - 1 - np.arange(-by)
    edges = edges[(edges >= 0) & (edges < len(values))]
    result[edges] = lowest
    return result
