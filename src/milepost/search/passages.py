"""Make passages of the best sentences, with or without a budget, joining neighbours.

Every passage is built around a *core*: sentences that it must contain. For a question with phrases
these are the stretches of ``required.py``; otherwise every sentence is a core.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from milepost._numpy import NDArray, np
from milepost.language.lists import is_question, lead_in_before, marker_of
from milepost.search.scope import Scope
from milepost.store.base import DocumentInfo, Snapshot
from milepost.table_rows import tables
from milepost.types import Mark, Passage, nearly_best


@dataclass(frozen=True, slots=True)
class Core:
    """Sentences ``first … last - 1``; a passage shows offsets ``start … end`` of their document.

    For a sentence of a question without phrases these are empty: any part of it may be cut.
    """

    first: int
    last: int
    start: int = 0
    end: int = 0

    @property
    def whole(self) -> bool:
        """Whether a passage has to show a part of the core."""
        return self.end > self.start


@dataclass(frozen=True, slots=True)
class Run:
    """A passage as sentences ``first … last - 1`` of the scope; ``hits`` are sorted, best first.

    ``core`` is the best core that it contains.
    """

    first: int
    last: int
    hits: tuple[int, ...]
    core: Core


def length_adjusted_score(
    scores: NDArray[np.float32], lengths: NDArray[np.int64], length_penalty: float
) -> NDArray[np.float32]:
    """Weigh a sentence's log-odds against the share of the budget that it takes.

    ``score - length_penalty · ln(characters)``; lengths under 20 count as 20, because such short
    sentences are headings and fragments.
    """
    return (scores - length_penalty * np.log(np.maximum(lengths, 20))).astype(np.float32)


SHORT = 80
"""Minimum characters of a passage grown from a hit, if its document continues: a heading or "Yes."
that scores well points to what follows. Set by hand."""

LONG = 1200
"""Maximum characters to which a passage grows, so that it can be read. Set by hand: judged only by
overlap with evidence, longer ones would win because of one task (``docs/decisions``, page 1)."""


ITEMS = 24  # most sentences between a list item and its lead-in

JOINED = 5
"""Number of passages that sentences beside them may join. With more, the first passages and their
probabilities, which are calibrated with so many, would depend on how many a user asks for."""


def expand_hits(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    *,
    k: int,
    growth_threshold: float,
    banned: Collection[int] = (),
    cores: Sequence[Core] | None = None,
) -> list[Run]:
    """Take the best ``k`` cores, each with the neighbours that score nearly as well.

    A neighbour joins if its score is at most ``growth_threshold`` below the core's. ``cores`` is
    None for any sentence; no passage contains a ``banned`` one. At least ``JOINED`` passages are
    returned if there are so many, whatever ``k``.
    """
    taken = _Taken(scores, document_offsets, banned)
    for core in taken.best_first(cores):
        if all(number in taken.numbers for number in range(core.first, core.last)):
            continue
        if taken.runs >= max(k, JOINED):
            break
        if taken.runs >= JOINED and not all(map(taken.is_apart, range(core.first, core.last))):
            continue
        if core.last == core.first + 1 and taken.length_beside(core.first, lengths) >= LONG:
            # It is next to a passage that is long enough.
            taken.closed.update((core.first, core.last))
            continue
        grown = _grown(scores, lengths, core, taken.closed, growth_threshold)
        taken.add(grown if taken.runs < JOINED else taken.apart(grown, core))
    return taken.passages()


def select_within_budget(
    scores: NDArray[np.float32],
    document_offsets: NDArray[np.int64],
    *,
    k: int | None,
    left: int,
    cost: Callable[[int], int],
    banned: Collection[int] = (),
    cores: Sequence[Core] | None = None,
) -> list[Run]:
    """Take the best cores until a budget is full, and join neighbours.

    A sentence costs its length, and brings its length if it is evidence, so the order of scores is
    the best order to take them in. Of cores that must be whole, those that do not fit are skipped,
    and neighbouring sentences fill the rest of the budget. Once there are ``k`` passages, only
    cores beside them are taken, so that they grow.

    ``left`` is the budget, in the unit of ``cost``. The sentence that exceeds it is the last one
    taken, or the best core if none fits; the caller cuts it. The rest is as in ``expand_hits``.
    """
    taken = _Taken(scores, document_offsets, banned)
    best_first = enumerate(taken.best_first(cores))
    passed_over: dict[int, tuple[int, Core]] = {}
    waiting: list[tuple[int, Core]] = []  # passed over, and now beside a passage
    while left > 0:
        place, core = heappop(waiting) if waiting else next(best_first, (0, None))
        if core is None:
            break
        more = [number for number in range(core.first, core.last) if number not in taken.numbers]
        beside = taken.joins(core.first) or taken.joins(core.last - 1)
        if not more:
            continue
        if k is not None and taken.runs >= k and not beside:
            if not core.whole:
                passed_over[core.first] = place, core
            continue
        price = sum(map(cost, more))
        if core.whole and price > left:
            continue
        taken.add(more)
        left -= price
        for neighbour in (core.first - 1, core.last):
            if neighbour in passed_over:
                heappush(waiting, passed_over.pop(neighbour))
    if not taken.numbers and taken.seen:
        best = next(iter(taken.seen.values()))[1]
        taken.add(range(best.first, best.last))
        left = 0
    taken.fill(left, cost)
    return taken.passages()


class _Taken:
    """The sentences that are in passages so far, and the number of these: ``runs``.

    Passages must not cross a border before one of the sentences ``closed``. ``seen`` maps the first
    sentences of the cores looked at to their ranks and the cores.
    """

    def __init__(
        self,
        scores: NDArray[np.float32],
        document_offsets: NDArray[np.int64],
        banned: Collection[int],
    ) -> None:
        self._scores = scores
        self._starts = set(document_offsets.tolist())
        self._banned = banned
        self.numbers: set[int] = set()
        self.runs = 0
        self.closed = self._starts.union(banned, (number + 1 for number in banned))
        self.seen: dict[int, tuple[int, Core]] = {}

    def best_first(self, cores: Sequence[Core] | None) -> Iterator[Core]:
        """Yield cores by their best sentence; every sentence that is not banned if None."""
        found: Iterable[Core]
        if cores is None:
            order = np.argsort(-self._scores, kind="stable").tolist()
            found = (Core(each, each + 1) for each in order if each not in self._banned)
        else:
            best = {core: float(self._scores[core.first : core.last].max()) for core in cores}
            found = sorted(cores, key=lambda core: (-best[core], core.first))
        for rank, core in enumerate(found):
            self.seen[core.first] = rank, core
            yield core

    def add(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self.numbers:
                self.runs += 1 - self.joins(number)
                self.numbers.add(number)

    def is_apart(self, number: int) -> bool:
        """Whether a sentence is in no passage, and next to none."""
        return number not in self.numbers and not self.joins(number)

    def apart(self, grown: range, core: Core) -> range:
        """Return as much of a grown core as joins no passage."""
        first, last = core.first, core.last
        while first > grown.start and self.is_apart(first - 1):
            first -= 1
        while last < grown.stop and self.is_apart(last):
            last += 1
        return range(first, last)

    def joins(self, number: int) -> int:
        """Count the passages next to a sentence in its document: 0, 1 or 2."""
        before = number - 1 in self.numbers and number not in self._starts
        after = number + 1 in self.numbers and number + 1 not in self._starts
        return before + after

    def length_beside(self, number: int, lengths: NDArray[np.int64]) -> int:
        """Count the characters of the passages next to a sentence."""
        total = 0
        first, last = number, number + 1
        while first not in self._starts and first - 1 in self.numbers:
            first -= 1
            total += int(lengths[first])
        while last not in self._starts and last in self.numbers:
            total += int(lengths[last])
            last += 1
        return total

    def fill(self, left: int, cost: Callable[[int], int]) -> None:
        """Take sentences next to the taken ones, best first, while one fits a budget."""
        if left <= 0:
            return
        waiting: set[int] = set()

        def look(number: int) -> None:
            if number not in self.closed and number - 1 not in self.numbers:
                waiting.add(number - 1)
            if number + 1 not in self.closed and number + 1 not in self.numbers:
                waiting.add(number + 1)

        for number in self.numbers:
            look(number)
        while waiting and left > 0:
            best = min(waiting, key=lambda number: (-float(self._scores[number]), number))
            waiting.discard(best)
            price = cost(best)
            if price <= left:
                self.add((best,))
                left -= price
                look(best)

    def passages(self) -> list[Run]:
        """Group the sentences into passages, sorted by their best sentence."""
        best_first = sorted(self.numbers, key=lambda number: (-self._scores[number], number))
        rank = {number: place for place, number in enumerate(best_first)}
        passages = [
            Run(
                first,
                last,
                tuple(sorted(range(first, last), key=rank.__getitem__)),
                self._best_core(first, last),
            )
            for first, last in _spans(self.numbers, self._starts)
        ]
        return sorted(passages, key=lambda run: rank[run.hits[0]])

    def _best_core(self, first: int, last: int) -> Core:
        """Find the best core in sentences of a passage: it was looked at before the others."""
        found = (self.seen[number] for number in range(first, last) if number in self.seen)
        return min((place, core) for place, core in found if core.last <= last)[1]


def _grown(
    scores: NDArray[np.float32],
    lengths: NDArray[np.int64],
    core: Core,
    closed: set[int],
    growth_threshold: float,
) -> range:
    """Extend a core by neighbours that score nearly as well, the better side first, up to ``LONG``.

    A result shorter than ``SHORT`` takes the sentences that follow, whatever their scores.
    """
    first, last = core.first, core.last
    least = float(scores[first:last].max()) - growth_threshold
    size = int(lengths[first:last].sum())
    while True:
        sides = [
            (float(scores[number]), number)
            for number, edge in ((first - 1, first), (last, last))
            if edge not in closed and scores[number] >= least
        ]
        if not sides or size >= LONG:
            break
        _, number = max(sides)
        size += int(lengths[number])
        first, last = min(first, number), max(last, number + 1)
    while size < SHORT and last not in closed:
        size += int(lengths[last])
        last += 1
    return range(first, last)


def _spans(taken: Iterable[int], starts: set[int]) -> list[tuple[int, int]]:
    """Group numbers into runs of consecutive numbers within documents, ascending."""
    spans: list[tuple[int, int]] = []
    for number in sorted(taken):
        if spans and spans[-1][1] == number and number not in starts:
            spans[-1] = (spans[-1][0], number + 1)
        else:
            spans.append((number, number + 1))
    return spans


def truncate_to(text: str, left: int, measure: Callable[[str], int]) -> str:
    """Return the longest beginning of ``text`` whose ``measure`` is at most ``left``.

    It ends at the end of a word if one fits; it is empty if nothing fits.

    >>> truncate_to("white whales sing", 13, len)
    'white whales'
    """
    if measure(text) <= left:
        return text.rstrip()
    low, high = 0, len(text) - 1
    while low < high:  # measures increase with the length of the text
        middle = (low + high + 1) // 2
        if measure(text[:middle]) <= left:
            low = middle
        else:
            high = middle - 1
    space = next((at for at in range(low, 0, -1) if text[at].isspace()), low)
    return text[:space].rstrip()


def with_tables(
    snapshot: Snapshot,
    passages: Sequence[Passage],
    places: Sequence[tuple[DocumentInfo, Sequence[Mark]]],
    *,
    around: bool = False,
) -> list[Passage]:
    """Return passages with their tables; ``places`` are the document of each, and its marks.

    With ``around``, a table has all rows near the passage, not only those that answer.
    """
    found = []
    for number, (passage, (info, marks)) in enumerate(zip(passages, places, strict=True)):
        at = passage.best.start
        table = next((each for each in tables(marks) if each.start <= at < each.end), None)
        if table is not None:
            found.append((number, table, (info, *table.around(passage.start, passage.end))))
    made = list(passages)
    texts = snapshot.texts([part for *_, part in found]) if found else []
    for (number, table, (_, start, _)), text in zip(found, texts, strict=True):
        passage = passages[number]
        strong = [(hit.start, hit.end) for hit in nearly_best(passage.hits)]
        near = start, start + len(text)
        part = near if around else (passage.start, passage.end)
        rows = table.rows(text, start, [near] if around else strong, part)
        made[number] = replace(passage, table=rows)
    return made


def with_lead_ins(
    snapshot: Snapshot, scope: Scope, passages: Sequence[Passage], best: Sequence[int]
) -> list[Passage]:
    """Return passages whose best sentence is a list item with the lead-in of the list.

    Where a question in the passage stands in front of that sentence, it is the lead-in. ``best``
    are the numbers of their best sentences.
    """
    made = list(passages)
    listed = []
    for number, (passage, at) in enumerate(zip(passages, best, strict=True)):
        low = max(int(scope.document_offsets[scope.owner(at)]), at - ITEMS)
        if low == at:
            continue
        before = scope.spans[at - 1 : at + 1, 0] - passage.start
        question = passage.text[max(0, before[0]) : max(0, before[1])]
        if is_question(question):
            made[number] = replace(passage, lead_in=" ".join(question.split()))
        elif marker_of(passage.best.text):
            listed.append((number, low, at))
    texts = snapshot.texts([scope.part(low, at) for _, low, at in listed]) if listed else []
    for (number, low, at), text in zip(listed, texts, strict=True):
        spans = scope.spans[low:at] - scope.spans[low, 0]
        sentences = [text[start:end] for start, end in spans.tolist()]
        lead_in = lead_in_before(sentences)
        if lead_in is not None:
            made[number] = replace(made[number], lead_in=" ".join(sentences[lead_in].split()))
    return made
