"""The pipeline, in one function: scope, ranking, passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from milepost.errors import InputError, StoreError
from milepost.search.fusion import Fusion
from milepost.search.passages import (
    Budget,
    Run,
    expand_hits,
    fit,
    length_adjusted_score,
    parse_budget,
    select_within_budget,
)
from milepost.search.ranking import Again, Ranked, Ranking
from milepost.search.reranking import Reranks, rerank
from milepost.search.scope import Moved, Scope, gather, unmoved
from milepost.types import Hit, Passage, mark_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost.store.base import Store

_PATIENCE = 20
"""Times a search begins anew because a writer has changed what it looked at."""

HEAT = 64
"""Parts a document is divided into for its heat strip."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages and the reasons for them.

    Attributes:
        passages: best first.
        signals: what the question's own scores say (see ``fusion.SIGNALS``).
        weights: weight of each curve of the fused score (see ``fusion.curves``), which chooses
            the sentences that are looked at closely.
        terms: the question's words as they are matched, with their rarity; 0: stands nowhere.
        notes: what a person should know, e.g. that the landmarks weigh less and why.
        heat: for each document with a passage, the best fused score in each of 64 equal parts of
            its text, scaled to 0–1 over the answer.
        best: the greatest chance of a passage, of those under ``least`` too; 0 where none was.
    """

    passages: tuple[Passage, ...]
    signals: dict[str, float]
    weights: dict[str, float]
    terms: dict[str, float]
    notes: tuple[str, ...] = ()
    heat: dict[str, tuple[float, ...]] = field(default_factory=dict)
    best: float = 0.0


def search(
    store: Store,
    vector: NDArray[np.float32],
    terms: Sequence[str],
    *,
    vocab_coverage: float = 1.0,
    ranking: Ranking | None = None,
    reranker: Reranks | None = None,
    k: int | None = 5,
    budget: str | int | None = None,
    tokens: Callable[[str], int] | None = None,
    names: Sequence[str] | None = None,
    least: float = 0.0,
) -> SearchResult:
    """SearchResult a question from a store.

    Args:
        store: where to look.
        vector: ``(d,)`` the question's vector.
        terms: its distinct terms, see ``lexical.question_terms``.
        vocab_coverage: how well the tokenizer knows the question, 0–1.
        ranking: what the model has learned about searching; None for the defaults.
        reranker: reads the best places again, the question in mind; None for none.
        k: most passages, None for no limit.
        budget: most text, ``"1600c"`` or ``"400t"``; None for no limit.
        tokens: counts tokens of a text; needed for a budget in tokens.
        names: only these documents.
        least: passages of a smaller chance are left out, and nothing takes their place.

    Raises:
        InputError: ``k`` is less than 1, ``budget`` is no amount of text, or ``least`` no chance.
        StoreError: a writer changes the documents faster than they can be looked at.
    """
    if k is not None and k < 1:
        raise InputError(f"k = {k} passages cannot be returned", "give 1 or more, or None for all")
    if not 0.0 <= least <= 1.0:
        raise InputError(f"least = {least} is no chance", "give 0 to 1, such as 0.2 for 20%")
    limit = parse_budget(budget)
    settings = ranking or Ranking(Fusion())
    for _ in range(_PATIENCE):
        try:
            scope = gather(store, vector, terms, names)
            return _answer(
                store, scope, vocab_coverage, settings, reranker, k, limit, tokens, least
            )
        except Moved:
            continue
    raise StoreError("the index changes all the time", "ask again when the writer is done")


def _answer(
    store: Store,
    scope: Scope,
    vocab_coverage: float,
    settings: Ranking,
    reranker: Reranks | None,
    k: int | None,
    limit: Budget | None,
    tokens: Callable[[str], int] | None,
    least: float,
) -> SearchResult:
    """The pipeline itself; its arguments are those of ``search``, parsed."""
    if not len(scope.spans):
        return SearchResult((), {}, {}, dict(scope.idf), ("there is no text to search",))
    ranked = Ranked(scope, vocab_coverage, settings, again_of(store, scope, reranker))
    fused = ranked.fused
    measure = len if limit is None or limit.unit == "c" else tokens
    if measure is None:
        raise ValueError("a budget in tokens needs a way to count them")
    lengths = scope.spans[:, 1] - scope.spans[:, 0]
    if limit is None:
        runs = expand_hits(
            ranked.score,
            scope.document_offsets,
            lengths,
            k=k,
            growth_threshold=ranked.numbers.growth_threshold,
        )
    else:
        runs = select_within_budget(
            length_adjusted_score(ranked.score, lengths, ranked.numbers.length_penalty),
            scope.document_offsets,
            k=k,
            left=limit.size,
            cost=lambda number: _cost(store, scope, number, limit, measure),
        )
    found = _passages(store, scope, ranked, runs, limit, measure)
    passages = [passage for passage in found if passage.score >= least]
    return SearchResult(
        tuple(sorted(passages, key=lambda passage: -passage.score)),
        fused.signals,
        fused.weights,
        dict(scope.idf),
        fused.notes,
        _heat(scope, fused.score, {passage.document for passage in passages}),
        max((passage.score for passage in found), default=0.0),
    )


def again_of(store: Store, scope: Scope, reranker: Reranks | None) -> Again | None:
    """What ``Ranked`` reads the best sentences of a scope again by."""
    if reranker is None:
        return None

    def texts(first: int, last: int) -> list[str]:
        start = int(scope.spans[first, 0])
        whole = _text(store, scope, first, last)
        return [whole[a - start : b - start] for a, b in scope.spans[first:last].tolist()]

    return lambda order: rerank(scope, order, reranker, texts)


def _cost(
    store: Store, scope: Scope, number: int, limit: Budget, measure: Callable[[str], int]
) -> int:
    """What a sentence takes of the budget; in characters no text has to be read."""
    if limit.unit == "c":
        return int(scope.spans[number, 1] - scope.spans[number, 0])
    return measure(_text(store, scope, number, number + 1))


def _text(store: Store, scope: Scope, first: int, last: int) -> str:
    """The text of sentences ``first … last - 1``, which stand in one document."""
    info = scope.documents[scope.owner(first)]
    with unmoved(info.name):
        text = store.text(info.name, int(scope.spans[first, 0]), int(scope.spans[last - 1, 1]))
    now = store.info(info.name)
    if now is None or now.first != info.first:  # rows are never handed out twice
        raise Moved(info.name)
    return text


def _passages(
    store: Store,
    scope: Scope,
    ranked: Ranked,
    runs: Sequence[Run],
    limit: Budget | None,
    measure: Callable[[str], int],
) -> list[Passage]:
    """Texts, places and parts of the runs, cut at the budget."""
    passages: list[Passage] = []
    left = limit.size if limit is not None else None
    for run in runs:
        info = scope.documents[scope.owner(run.first)]
        whole = _text(store, scope, run.first, run.last)
        text = whole.strip()
        start = int(scope.spans[run.first, 0]) + len(whole) - len(whole.lstrip())
        if left is not None and measure(text) > left:
            start, text = _cut(scope, run, start, text, left, measure)
        if not text:
            continue
        shown = list(_shown(scope, ranked, run, start, start + len(text)))
        hits = tuple(hit for _, hit in shown)
        with unmoved(info.name):
            marks = store.marks(info.name)
        page = mark_at(marks, "page", hits[0].start)
        passages.append(
            Passage(
                text=text,
                document=info.name,
                source=info.source,
                start=start,
                end=start + len(text),
                score=ranked.chance([number for number, _ in shown]),
                hits=hits,
                heading=mark_at(marks, "heading", hits[0].start),
                page=int(page) if page is not None else None,
            )
        )
        if left is not None:
            left -= measure(text)
            if left <= 0:
                break
    return passages


def _cut(
    scope: Scope,
    run: Run,
    start: int,
    text: str,
    left: int,
    measure: Callable[[str], int],
) -> tuple[int, str]:
    """The part of a passage around its best hit that fits: whole sentences, else a cut one.

    Args:
        scope: where the sentences stand.
        run: the passage's sentences.
        start: offset of the passage.
        text: its text without white space at its edges.
        left: what is left of the budget.
        measure: counts it.

    Returns:
        Offset and text of the part; the text is empty where nothing fits.
    """

    def words(first: int, last: int) -> tuple[int, str]:
        low = max(start, int(scope.spans[first, 0]))
        part = text[low - start : int(scope.spans[last - 1, 1]) - start]
        return low + len(part) - len(part.lstrip()), part.strip()

    first, last = run.hits[0], run.hits[0] + 1
    low, part = words(first, last)
    if measure(part) > left:
        return low, fit(part, left, measure)
    grows = True
    while grows:
        grows = False
        for wider in ((first - 1, last), (first, last + 1)):
            if wider[0] >= run.first and wider[1] <= run.last:
                at, longer = words(*wider)
                if measure(longer) <= left:
                    first, last = wider
                    low, part, grows = at, longer, True
    return low, part


def _shown(
    scope: Scope, ranked: Ranked, run: Run, start: int, end: int
) -> Iterator[tuple[int, Hit]]:
    """The run's sentences that the passage ``start … end - 1`` shows, cut at its edges."""
    for number in sorted(run.hits, key=lambda number: (-ranked.score[number], number)):
        low, high = max(start, int(scope.spans[number, 0])), min(end, int(scope.spans[number, 1]))
        if low < high:
            yield number, Hit(low, high, float(ranked.score[number]), ranked.parts(number))


def _heat(
    scope: Scope, score: NDArray[np.float32], names: set[str]
) -> dict[str, tuple[float, ...]]:
    """Strips of the documents named, on one scale from the mean score (0) to the best (1)."""
    import numpy as np

    best = max(float(score.max()), 1e-6)
    strips: dict[str, tuple[float, ...]] = {}
    for number, info in enumerate(scope.documents):
        if info.name not in names:
            continue
        rows = slice(int(scope.document_offsets[number]), int(scope.document_offsets[number + 1]))
        strip = np.zeros(HEAT, np.float64)
        middle = scope.spans[rows].mean(axis=1) / max(1, info.characters)
        place = np.minimum((middle * HEAT).astype(np.int64), HEAT - 1)
        np.maximum.at(strip, place, np.clip(score[rows] / best, 0.0, 1.0))
        strips[info.name] = tuple(round(float(value), 4) for value in strip)
    return strips
