"""Find the sentences that may be in a passage, for questions with phrases and excluded words.

A passage must contain each phrase, so it is built around a *core*: the fewest consecutive sentences
that contain all phrases (``passages.Core``). Sentences with an excluded word are *banned*: no
passage contains or crosses them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from milepost._numpy import NDArray, np
from milepost.quotes import Occurrence, stripped
from milepost.search.passages import LONG, Core
from milepost.search.query import Query
from milepost.search.quoted import places, places_in, row_places
from milepost.search.scope import Scope
from milepost.store.base import DocumentInfo, Snapshot
from milepost.types import Span
from milepost.wording import counted

Places = Mapping[str, Mapping[str, Sequence["Span"]]]
"""Maps phrases to documents to places, ascending."""

AROUND = 3
"""Number of sentences on each side of a core that get a learned score, for passages to grow."""


@dataclass(frozen=True, slots=True)
class Required:
    """The constraints that a question's operators put on a scope; without operators there are none.

    ``banned`` sentences, ``(n,)``, contain something excluded; ``ranked`` ones, ``(n,)``, get a
    learned score. One of the ``cores`` must be in each passage; None without phrases. ``blocked``:
    there would be cores if nothing were excluded.
    """

    banned: NDArray[np.bool_]
    cores: tuple[Core, ...] | None
    ranked: NDArray[np.bool_]
    blocked: bool = False


def phrase_places(snapshot: Snapshot, query: Query) -> Places:
    """Find the places of each phrase of a question in the documents searched."""
    found = {}
    for phrase in query.phrases:
        given = stripped(phrase)
        held = list(places(snapshot, given, query.among))
        rows = [] if held else row_places(snapshot, given, query.among)
        found[phrase] = _held(held or (place for place in rows if not place[1].differences))
    return found


def holding(found: Places) -> frozenset[str] | None:
    """Name the documents that contain all phrases; None if there are no phrases."""
    names = [frozenset(documents) for documents in found.values()]
    return names[0].intersection(*names[1:]) if names else None


def excluded_places(
    snapshot: Snapshot, query: Query, scope: Scope, names: Collection[str] | None
) -> Places:
    """Find the places of excluded words in a scope's documents, or those named; reads all text."""
    documents = [info for info in scope.documents if names is None or info.name in names]
    parts = [(info, 0, info.characters) for info in documents]
    return {each: _held(places_in(snapshot, stripped(each), parts)) for each in query.excluded}


def required(scope: Scope, phrases: Places, excluded: Places) -> Required:
    """Compute the cores and the banned sentences of a scope."""
    banned = np.zeros(len(scope.spans), np.bool_)
    cores: list[Core] = []
    for number, info in enumerate(scope.documents if phrases or excluded else ()):
        first, last = scope.document_offsets[number : number + 2].tolist()
        spans = scope.spans[first:last]
        for documents in excluded.values():
            for start, end in documents.get(info.name, ()):
                low, high = _sentences(spans, start, end)
                banned[first + low : first + high] = True
        held = [documents.get(info.name, ()) for documents in phrases.values()]
        for start, end in _windows(held):
            low, high = _sentences(spans, start, end)
            cores.append(Core(first + low, first + high, start, end))
    if not phrases:
        return Required(banned, None, ~banned, bool(banned.all()))
    allowed = tuple(_smallest(core for core in cores if not banned[core.first : core.last].any()))
    ranked = np.zeros(len(scope.spans), np.bool_)
    for core in allowed:
        owner = scope.owner(core.first)
        low = max(int(scope.document_offsets[owner]), core.first - AROUND)
        ranked[low : min(int(scope.document_offsets[owner + 1]), core.last + AROUND)] = True
    return Required(banned, allowed, ranked & ~banned, bool(cores) and not allowed)


def notes(
    phrases: Places, excluded: Places, found: Required | None, *, passages: bool
) -> list[str]:
    """Tell users what the operators did; nothing if there are none.

    ``found`` is None if no document contains all phrases; ``passages``: there are some, of whatever
    score.
    """
    if not (phrases or excluded):
        return []
    missing = [phrase for phrase, documents in phrases.items() if not documents]
    if missing:
        return [f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} not in the text"]
    if found is None:
        return [f"no document holds {_listed(phrases)}"]
    said = []
    if found.blocked:
        said.append(f"{_listed(excluded, 'or')} is in every place that could be a passage")
    elif not passages:
        reason = "the budget is too small" if found.cores else "they are too far apart"
        said.append(f"no passage holds {_listed(phrases)}: {reason}")
    elif phrases:
        said.append(f"every passage holds {_listed(phrases)}")
    if excluded:
        count = int(found.banned.sum())
        sentences = f"{counted(count, 'sentence')} left out"
        said.append(f"no passage holds {_listed(excluded, 'or')}: {sentences}")
    return said


def _listed(words: Iterable[str], last: str = "and") -> str:
    quoted = [f'"{word}"' for word in words]
    return f" {last} ".join(filter(None, (", ".join(quoted[:-1]), quoted[-1])))


def _held(found_places: Iterable[tuple[DocumentInfo, Occurrence]]) -> dict[str, list[Span]]:
    held: dict[str, list[Span]] = {}
    for info, found in found_places:
        held.setdefault(info.name, []).append((found.start, found.end))
    return {name: sorted(spans) for name, spans in held.items()}


def _sentences(spans: NDArray[np.int64], start: int, end: int) -> tuple[int, int]:
    """Return the range of sentences, end exclusive, that a place touches."""
    return (
        int(spans[:, 1].searchsorted(start, side="right")),
        int(spans[:, 0].searchsorted(end, side="left")),
    )


def _windows(held: Sequence[Sequence[Span]]) -> list[Span]:
    """Find the shortest stretches of a document that contain one place of each phrase."""
    limit = max(LONG, *(2 * (end - start) for spans in held for start, end in spans[:1]), 0)
    events = sorted((span, phrase) for phrase, spans in enumerate(held) for span in spans)
    latest: dict[int, Span] = {}
    windows = []
    for span, phrase in events:
        latest[phrase] = span
        if len(latest) == len(held):
            start = min(start for start, _ in latest.values())
            end = max(end for _, end in latest.values())
            if len(held) == 1 or end - start <= limit:
                windows.append((start, end))
    return windows


def _smallest(cores: Iterable[Core]) -> list[Core]:
    """Sort cores and drop those that contain another one."""
    kept: list[Core] = []
    for core in sorted(cores, key=lambda core: (core.first, -core.last, -core.start)):
        while kept and core.last <= kept[-1].last:
            kept.pop()  # the last one contains this one
        kept.append(core)
    return kept
