"""What another model would change in an index: whether its sentences keep their neighbours.

The axes of two models' vectors are unrelated, so neighbours are compared, not coordinates.

    kept        share of a sentence's nearest neighbours that both models agree on
    cka         centred kernel alignment of all similarities (arXiv 1905.00414), unbiased: 1 if
                equal up to rotation and scale, 0 by chance

``milepost lab quality drift`` measures labelled texts, too.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost.types import Document
from milepost.wording import counted
from milepost_eval.statistics import interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from milepost.encoder import Encoder
    from milepost.store import DocumentInfo, Snapshot

SENTENCES = 1000
"""Sentences that are compared, where nobody says."""
NEIGHBOURS = 10


@dataclass(frozen=True, slots=True)
class Kept:
    """Share of neighbours that both models agree on, its 95 % interval, and its value by chance.

    ``neighbours`` of each row were compared.
    """

    mean: float
    low: float
    high: float
    chance: float
    neighbours: int = NEIGHBOURS


@dataclass(frozen=True, slots=True)
class IndexDrift:
    """How another model's vectors of an index's sentences differ from those that are stored.

    Attributes:
        sentences: that were compared.
        documents: that they are from.
        kept: of each sentence's nearest neighbours among them.
        cka: of all pairs of them.
        rebuild_s: estimate of the seconds that the other model takes for the whole index, from
            those it took for the documents that it read.
    """

    sentences: int
    documents: int
    kept: Kept
    cka: float
    rebuild_s: float


def index_drift(
    state: Snapshot,
    other: Encoder,
    *,
    sentences: int = SENTENCES,
    progress: Callable[[str, int, int], object] = lambda *_: None,
) -> IndexDrift:
    """Compare the vectors of an index with another model's of the same sentences.

    Documents are drawn by their names until there are enough sentences; the other model reads each
    whole.

    Args:
        state: of the index.
        other: the other model.
        sentences: at most so many are compared.
        progress: called with a document's name, the sentences so far and the number wanted.

    Raises:
        InputError: the index has too few sentences, or the models share none.
    """
    found = state.documents()
    chosen = sorted((each for each in found if each.sentences), key=_drawn)
    old: list[NDArray[np.float32]] = []
    new: list[NDArray[np.float32]] = []
    owners: list[str] = []
    seconds, characters = 0.0, 0
    for info in chosen:
        if len(owners) >= sentences:
            break
        progress(info.name, len(owners), sentences)
        (text,) = state.texts([(info, 0, info.characters)])
        begun = time.perf_counter()
        marks = other.encode(Document(name=info.name, text=text))
        seconds += time.perf_counter() - begun
        characters += len(text)
        rows, columns = _shared(state.sentences([info]).spans, marks.spans)
        old.append(state.vectors([info])[rows])
        new.append(marks.vectors[columns])
        owners += [info.name] * len(rows)
    if len(owners) < NEIGHBOURS + 2:
        raise InputError(
            f"the index has {counted(len(owners), 'sentence')} to compare, fewer than "
            f"{NEIGHBOURS + 2}",
            "an index with more text",
        )
    some = np.linspace(0, len(owners) - 1, min(sentences, len(owners))).astype(np.int64)
    both = [unit(np.concatenate(each)[some]) for each in (old, new)]
    named = [owners[row] for row in some]
    every = sum(info.characters for info in chosen)
    return IndexDrift(
        len(some),
        len(set(named)),
        kept(both[0], both[1], named),
        cka(*both),
        seconds * every / max(1, characters),
    )


def kept(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    owners: Sequence[str],
    *,
    neighbours: int = NEIGHBOURS,
    draws: int = 500,
    seed: int = 0,
) -> Kept:
    """The share of neighbours that both models agree on.

    Args:
        before: ``(n, d)``, unit length.
        after: ``(n, d')``, unit length, the same texts.
        owners: of each row what it is not independent in, such as its document.
        neighbours: number of each row that are compared.
        draws: number of bootstrap samples.
        seed: of the bootstrap.
    """
    shares = agreement(before, after, neighbours)
    _, low, high = interval(shares, owners, draws=draws, seed=seed)
    return Kept(float(shares.mean()), low, high, neighbours / (len(before) - 1), neighbours)


def agreement(a: NDArray[np.float64], b: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Share of each row's ``count`` nearest rows that are the same in both spaces, ``(n,)``.

    ``count / (n - 1)`` by chance.
    """
    near = []
    for vectors in (a, b):
        apart = distances(vectors)
        np.fill_diagonal(apart, np.inf)
        among = np.zeros(apart.shape, bool)
        nearest = np.argsort(apart, axis=1, kind="stable")[:, :count]
        np.put_along_axis(among, nearest, True, 1)
        near.append(among)
    result: NDArray[np.float64] = (near[0] & near[1]).sum(axis=1) / count
    return result


def cka(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Linear centred kernel alignment, unbiased: at most 1, about 0 for unrelated vectors.

    The usual estimate is near 1 for any two sets of vectors with more dimensions than rows. NaN if
    all vectors of a set are equal.
    """
    one, other = (vectors @ vectors.T for vectors in (a, b))
    crossed, first, second = _hsic(one, other), _hsic(one, one), _hsic(other, other)
    if min(first, second) <= 0:
        return math.nan
    return crossed / math.sqrt(first * second)


def distances(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Distances of all pairs, ``(n, n)`` float64, exactly 0 on the diagonal."""
    points = vectors.astype(np.float64)
    points = points - points.mean(axis=0)
    squares = (points**2).sum(axis=1)
    found = squares[:, None] + squares - 2 * points @ points.T
    np.fill_diagonal(found, 0.0)
    # What is left of equal points is rounding, and would make a diameter of it.
    found[found < 1e-14 * (squares.max() if len(squares) else 0.0)] = 0.0
    result: NDArray[np.float64] = np.sqrt(found)
    return result


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Each row divided by its length, float64; zeros stay."""
    raw = vectors.astype(np.float64)
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    result: NDArray[np.float64] = raw / np.where(lengths > 0, lengths, 1.0)
    return result


def _hsic(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Equation 4 of Song et al. (2012, JMLR 13), for at least four rows."""
    n = len(one)
    one, other = one - np.diag(np.diag(one)), other - np.diag(np.diag(other))
    sums = one.sum(axis=0), other.sum(axis=0)
    found = (one * other).sum() + sums[0].sum() * sums[1].sum() / ((n - 1) * (n - 2))
    return float((found - 2 * sums[0] @ sums[1] / (n - 2)) / (n * (n - 3)))


def _shared(a: NDArray[np.int64], b: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """The rows of equal spans; two models may cut very long sentences at other places."""
    places = {span: number for number, span in enumerate(map(tuple, b.tolist()))}
    spans = enumerate(map(tuple, a.tolist()))
    pairs = [(row, places[span]) for row, span in spans if span in places]
    return [row for row, _ in pairs], [column for _, column in pairs]


def _drawn(info: DocumentInfo) -> bytes:
    return hashlib.sha256(info.name.encode("utf-8", "surrogatepass")).digest()
