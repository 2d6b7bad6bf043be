"""The search pipeline in one function: scope, ranking, passages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from milepost._numpy import NDArray, np
from milepost.language.detection import SupportedLanguages
from milepost.marks import mark_at, page_of, place_in_words, places_at
from milepost.search.answering import READ, Judge, judged
from milepost.search.notes import (
    copies,
    filter_matches_none,
    language_notes,
    missing_words,
    no_match,
    no_text,
)
from milepost.search.passages import (
    Core,
    Run,
    expand_hits,
    length_adjusted_score,
    select_within_budget,
    truncate_to,
    with_lead_ins,
    with_tables,
)
from milepost.search.query import DEFAULT_K, Query
from milepost.search.ranking import Ranked, Ranking, rank
from milepost.search.required import (
    Places,
    Required,
    excluded_places,
    holding,
    notes,
    phrase_places,
    required,
)
from milepost.search.reranking import Reranker
from milepost.search.scope import Scope, gather
from milepost.search.subject import joined, within_reports
from milepost.store.base import Snapshot
from milepost.types import Hit, Passage
from milepost.wording import is_weak, percentage

Measure = Callable[[str], int]  # measures a text in the unit of the budget


@dataclass(frozen=True, slots=True)
class SearchModel:
    """The parts of a model that search needs; None for what it does not have.

    ``encode`` is for a report that is to be asked with its own name; ``judge`` says whether
    passages answer.
    """

    ranking: Ranking
    reranker: Reranker | None = None
    count_tokens: Measure | None = None
    reads: SupportedLanguages | None = None
    encode: Callable[[str], NDArray[np.float32]] | None = None
    judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages, and the reasons for them.

    Attributes:
        passages: best first.
        signals: signals of the question (see ``fusion.SIGNALS``).
        weights: weight of each curve in the fused score (see ``fusion.curves``), which selects the
            sentences that get a learned score.
        terms: the question's terms with their idf; 0 if a term is not in the text.
        notes: messages for users, for example about words that are not in the text.
        relevance: ``(n, 2)`` float32 for each document with a passage: the position of each
            sentence's middle in the text, 0–1, and its fused score, scaled to 0–1 over the result;
            ``==`` ignores it.
        best_score: the highest probability of any passage, even below ``min_score``; 0 if there was
            none.
        answerable: the probability, 0–1, that any passage answers; None if the model does not say.
        calibrated: whether scores are probabilities; those of a model without ``milepost fit`` only
            order the passages.
        phrases: number of places that contain each required phrase; 0 if it is not in the text. In
            large collections only the likely places are counted.
        excluded: number of places that contain each excluded word or phrase, in the documents
            scored.
    """

    passages: tuple[Passage, ...] = ()
    signals: dict[str, float] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    terms: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    relevance: dict[str, NDArray[np.float32]] = field(default_factory=dict, compare=False)
    best_score: float = 0.0
    phrases: dict[str, int] = field(default_factory=dict)
    excluded: dict[str, int] = field(default_factory=dict)
    answerable: float | None = None
    calibrated: bool = True


def search(snapshot: Snapshot, query: Query, model: SearchModel) -> SearchResult:
    """Find the passages that answer a question."""
    phrases = phrase_places(snapshot, query)
    names = holding(phrases)
    scope = gather(snapshot, query, names)
    inside = within_reports(snapshot, scope, query, model.encode) if model.encode else None
    if inside is not None and inside.documents == frozenset(info.name for info in scope.documents):
        query, scope, inside = inside, gather(snapshot, inside), None
    if not len(scope.spans):
        if query.where is not None and filter_matches_none(snapshot, query.among):
            return SearchResult(notes=(no_match(query.where),))
        if names is None:
            return SearchResult(terms=dict(scope.idf), notes=(no_text(snapshot, query.documents),))
    excluded: Places = {}
    found: Required | None = None
    if names is None or names:
        excluded = excluded_places(snapshot, query, scope, names)
        found = required(scope, phrases, excluded)
    if found is None or not found.ranked.any():
        result = SearchResult(terms=dict(scope.idf))
    else:
        result = _ranked(snapshot, scope, query, model, found)
    if inside is not None:
        named = search(snapshot, inside, replace(model, encode=None))
        result = joined(result, named, inside, _measure(query, model))
    return replace(
        result,
        notes=(
            *notes(phrases, excluded, found, passages=result.best_score > 0.0),
            *doubts(result),
            *result.notes,
        ),
        phrases={phrase: sum(map(len, held.values())) for phrase, held in phrases.items()},
        excluded={phrase: sum(map(len, held.values())) for phrase, held in excluded.items()},
        calibrated=model.ranking.calibrated,
    )


def _ranked(
    snapshot: Snapshot, scope: Scope, query: Query, model: SearchModel, must: Required
) -> SearchResult:
    ranked = rank(snapshot, scope, query, model.ranking, model.reranker, must.ranked)
    judge, limits = model.judge if query.rerank else None, query.limits
    if judge is not None and limits.k is not None:
        query = replace(query, limits=replace(limits, k=max(limits.k, READ)))
    found = _passages(snapshot, scope, ranked, query, _measure(query, model), must)
    found.sort(key=lambda passage: -passage.score)
    best = max((passage.score for passage in found), default=0.0)
    answerable = ranked.answerable(best) if found else None
    if answerable is not None and judge is not None:
        answerable, found = judged(judge, query.question, found, answerable)
    passages = _likely(found, answerable, limits.min_score)[: limits.k]
    unread = language_notes(
        query.text,
        [passage.text for passage in found],
        model.reads,
        ranked.fused.known,
        ranked.fused.share,
    )
    return SearchResult(
        tuple(passages),
        ranked.fused.signals,
        ranked.fused.weights,
        dict(scope.idf),
        (*unread, *missing_words(query.question, scope.idf), *copies(passages, scope.copies)),
        _relevance(scope, ranked.fused.score, {passage.document for passage in passages}),
        best,
        answerable=answerable,
    )


def _likely(
    found: Sequence[Passage], answerable: float | None, min_score: float
) -> Sequence[Passage]:
    """The passages, best first, that are likely enough; the best one if the question is."""
    kept = [passage for passage in found if passage.score >= min_score]
    if answerable is None:
        return kept
    return (kept or found[:1]) if answerable >= min_score else ()


def doubts(result: SearchResult) -> list[str]:
    """A note where more likely than not nothing answers, though a passage may be about it."""
    if not result.passages or result.answerable is None or result.answerable >= 0.5:
        return []
    chance = percentage(result.answerable)
    if is_weak(result.answerable):
        return [f"probably nothing here answers this: {chance} that something does"]
    return [f"what is found may not answer this: {chance} that something does"]


def _measure(query: Query, model: SearchModel) -> Measure:
    budget = query.limits.budget
    if budget is None or budget.unit == "c":
        return len
    if model.count_tokens is None:
        raise ValueError("a budget in tokens needs a way to count them")
    return model.count_tokens


def _runs(
    snapshot: Snapshot,
    scope: Scope,
    ranked: Ranked,
    query: Query,
    measure: Measure,
    must: Required,
) -> list[Run]:
    limits, numbers, offsets = query.limits, ranked.numbers, scope.document_offsets
    lengths = ranked.lengths
    banned = set(np.flatnonzero(must.banned).tolist())
    if limits.budget is None:
        return expand_hits(
            ranked.score,
            offsets,
            lengths,
            k=limits.k or DEFAULT_K,
            growth_threshold=numbers.growth_threshold,
            banned=banned,
            cores=must.cores,
        )

    scores = length_adjusted_score(ranked.score, lengths, numbers.length_penalty)
    order = np.argsort(-scores, kind="stable")
    # Sentences that cannot begin a passage are read last, if at all.
    order = np.concatenate((order[must.ranked[order]], order[~must.ranked[order]]))
    texts: dict[int, str] = {}
    ahead, batch = 0, 64

    def cost(number: int) -> int:
        nonlocal ahead, batch
        if measure is len:  # no text needs to be read
            return int(lengths[number])
        while number not in texts:  # read ahead, doubling each time, to call the store rarely
            best = order[ahead : ahead + batch].tolist()
            parts = [scope.part(each, each + 1) for each in best]
            texts.update(zip(best, snapshot.texts(parts), strict=True))
            ahead, batch = ahead + batch, 2 * batch
        return measure(texts[number])

    return select_within_budget(
        scores,
        offsets,
        k=limits.k,
        left=limits.budget.size,
        cost=cost,
        banned=banned,
        cores=must.cores,
    )


def _passages(
    snapshot: Snapshot,
    scope: Scope,
    ranked: Ranked,
    query: Query,
    measure: Measure,
    must: Required,
) -> list[Passage]:
    runs = _runs(snapshot, scope, ranked, query, measure, must)
    parts = [scope.part(run.first, run.last) for run in runs]
    excerpts = snapshot.excerpts(parts)
    left = query.limits.budget.size if query.limits.budget else None
    passages: list[Passage] = []
    places, bests = [], []
    for run, (info, start, _), (whole, known) in zip(runs, parts, excerpts, strict=True):
        text = whole.strip()
        start += len(whole) - len(whole.lstrip())
        if left is not None and measure(text) > left:
            start, text = _cut(scope, run, start, text, left, measure)
            core = scope.spans[run.core.first, 0], scope.spans[run.core.last - 1, 1]
            if passages and 2 * len(text) < core[1] - core[0]:  # the beginning of a sentence
                text = ""
        if not text:
            continue
        shown = _clipped(scope, ranked, run, start, text)
        score = ranked.probability([number for number, *_ in shown])
        hits = _hits(ranked, score, shown, start, text)
        pages = places_at(known, hits[0].start, (start, start + len(text)))
        passages.append(
            Passage(
                text=text,
                document=info.name,
                source=info.source,
                start=start,
                end=start + len(text),
                score=score,
                hits=hits,
                heading=mark_at(known, "heading", hits[0].start),
                page=page_of(pages),
                place=place_in_words(pages),
            )
        )
        places.append((info, known))
        bests.append(shown[0][0])
        if left is not None:
            left -= measure(text)
            if left <= 0:
                break
    return with_lead_ins(snapshot, scope, with_tables(snapshot, passages, places), bests)


def _cut(
    scope: Scope, run: Run, start: int, text: str, left: int, measure: Measure
) -> tuple[int, str]:
    """Cut a passage around its core to what fits, whole sentences or part of one: offset, text."""

    def words(first: int, last: int) -> tuple[int, str]:
        low = max(start, int(scope.spans[first, 0]))
        part = text[low - start : int(scope.spans[last - 1, 1]) - start]
        return low + len(part) - len(part.lstrip()), part.strip()

    first, last = run.core.first, run.core.last
    low, part = words(first, last)
    if measure(part) > left:
        return _cut_core(run.core, low, part, left, measure)
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


def _cut_core(core: Core, low: int, part: str, left: int, measure: Measure) -> tuple[int, str]:
    """Cut a core to what fits, keeping the part that it must show; empty if that does not fit."""
    for start in (low, core.start):
        text = truncate_to(part[start - low :], left, measure)
        if start + len(text) >= core.end:
            return start, text
    return low, ""


def _clipped(
    scope: Scope, ranked: Ranked, run: Run, start: int, text: str
) -> list[tuple[int, int, int]]:
    """Return number, start and end of the sentences in ``text``, best first, clipped to it."""
    end = start + len(text)
    found = []
    for number in sorted(run.hits, key=lambda number: (-ranked.logit[number], number)):
        low, high = max(start, int(scope.spans[number, 0])), min(end, int(scope.spans[number, 1]))
        if low < high:
            found.append((number, low, high))
    return found


def _hits(
    ranked: Ranked, score: float, shown: Sequence[tuple[int, int, int]], start: int, text: str
) -> tuple[Hit, ...]:
    best = float(ranked.logit[shown[0][0]])
    return tuple(
        Hit(
            start=low,
            end=high,
            score=score * math.exp(float(ranked.logit[number]) - best),
            logit=float(ranked.logit[number]),
            contributions=ranked.parts(number),
            text=text[low - start : high - start],
        )
        for number, low, high in shown
    )


def _relevance(
    scope: Scope, score: NDArray[np.float32], names: set[str]
) -> dict[str, NDArray[np.float32]]:
    """Compute relevance curves of documents, scaled from the mean score (0) to the best (1)."""
    best = max(float(score.max()), 1e-6)
    curves: dict[str, NDArray[np.float32]] = {}
    for number, info in enumerate(scope.documents):
        if info.name in names:
            rows = slice(*scope.document_offsets[number : number + 2].tolist())
            middle = scope.spans[rows].mean(axis=1) / max(1, info.characters)
            height = np.clip(score[rows] / best, 0.0, 1.0)
            curves[info.name] = np.stack((middle, height), axis=1).astype(np.float32)
    return curves
