"""Match the records of two files, or of two systems of one, that are about the same questions.

In:  records (``records.py``).
Out: pairs of them, and everything without a partner. Questions are matched by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from milepost.errors import InputError
from milepost_eval.records import Record


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records of the same task, setting and split.

    Attributes:
        a: the first.
        b: the second.
        names: questions that both asked, in the order of ``a``.
        only_a: questions that only ``a`` asked.
        only_b: questions that only ``b`` asked.
    """

    a: Record
    b: Record
    names: tuple[str, ...]
    only_a: int
    only_b: int

    @property
    def metrics(self) -> set[str]:
        """Metrics that both records have."""
        return self.a.per_question.figures.keys() & self.b.per_question.figures.keys()

    @property
    def kinds(self) -> dict[str, list[str]]:
        """Names of the common questions by kind, where the task tells kinds apart."""
        per = self.a.per_question
        kind_of = dict(zip(per.names, per.kinds, strict=True))
        found: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            if kind_of[name]:
                found[kind_of[name]].append(name)
        return dict(sorted(found.items()))

    def figures(
        self, metric: str, names: Sequence[str] | None = None
    ) -> tuple[list[float], list[float], list[str]]:
        """Both records' figures, and each question's document.

        Args:
            metric: that both have.
            names: common questions; None for all of them.
        """
        per_a, per_b = self.a.per_question, self.b.per_question
        first = dict(zip(per_a.names, per_a.figures[metric], strict=True))
        second = dict(zip(per_b.names, per_b.figures[metric], strict=True))
        owner = dict(zip(per_a.names, per_a.documents, strict=True))
        wanted = self.names if names is None else names
        found = [
            (a, b, owner[name])
            for name in wanted
            if (a := first[name]) is not None and (b := second[name]) is not None
        ]
        return [a for a, _, _ in found], [b for _, b, _ in found], [each for _, _, each in found]


@dataclass(frozen=True, slots=True)
class Matched:
    """What can be compared of two files, and what cannot.

    Attributes:
        pairs: in the order of the first file.
        alone_a: what only the first file contains, in words: "bm25 on trials (document, dev)".
        alone_b: what only the second file contains.
    """

    pairs: tuple[Pair, ...]
    alone_a: tuple[str, ...]
    alone_b: tuple[str, ...]


def pairs(a: Sequence[Record], b: Sequence[Record]) -> Matched:
    """Match two files: same task, setting and split, and the same system.

    If each file contains a single system, the two are matched whatever their names are: that is
    how a new model is compared with the old one. Questions are matched by name.

    Raises:
        InputError: nothing in common, a result twice in one file, or a question about another
            document in the other file.
    """
    matched = match(a, b)
    if not matched.pairs:
        raise InputError(
            f"nothing to compare: the first file has {_contents(a)}; the second has "
            f"{_contents(b)}; they share no question of the same task, setting and split"
            + ("" if _single(a, b) else " by the same system"),
            "milepost eval run with the same --tasks, --setting and --split",
        )
    return matched


def _single(a: Sequence[Record], b: Sequence[Record]) -> bool:
    """Whether each side is a single system, so that names may differ."""
    return len({record.system for record in a}) == len({record.system for record in b}) == 1


def match(a: Sequence[Record], b: Sequence[Record]) -> Matched:
    """See ``pairs``; without anything in common, everything is left over."""
    single = _single(a, b)
    first = _by_place(a, "the first file", named=not single)
    second = _by_place(b, "the second file", named=not single)
    both = [_pair(record, second[place]) for place, record in first.items() if place in second]
    found = tuple(pair for pair in both if pair.names)
    paired = {id(record) for pair in found for record in (pair.a, pair.b)}
    return Matched(
        found,
        tuple(in_words(record) for record in first.values() if id(record) not in paired),
        tuple(in_words(record) for record in second.values() if id(record) not in paired),
    )


def _by_place(
    records: Iterable[Record], side: str, *, named: bool
) -> dict[tuple[str, str, str, str], Record]:
    """Records by what must be equal, in their order."""
    found: dict[tuple[str, str, str, str], Record] = {}
    for record in records:
        place = (record.system if named else "", record.task, record.setting, record.split)
        if place in found:
            raise InputError(
                f"{side} has {in_words(record)} twice", "the file with only one of the two lines"
            )
        found[place] = record
    return found


def _pair(a: Record, b: Record) -> Pair:
    owners = dict(zip(b.per_question.names, b.per_question.documents, strict=True))
    asked = dict(zip(a.per_question.names, a.per_question.documents, strict=True))
    names = tuple(name for name in asked if name in owners)
    for name in names:
        if asked[name] != owners[name]:
            raise InputError(
                f"question {name} of task {a.task} is about {asked[name]} in one file and about "
                f"{owners[name]} in the other: the task has changed",
                "milepost eval run again for the older file",
            )
    return Pair(a, b, names, len(asked) - len(names), len(owners) - len(names))


def in_words(record: Record) -> str:
    """A record in words: "bm25 on trials (document, dev)"."""
    return f"{record.system} on {record.task} ({record.setting}, {record.split})"


def _contents(records: Sequence[Record]) -> str:
    """Systems and tasks of a file, in words."""
    systems = dict.fromkeys(record.system for record in records)
    tasks = dict.fromkeys(f"{r.task} ({r.setting}, {r.split})" for r in records)
    return f"{', '.join(systems) or 'no system'} on {', '.join(tasks) or 'no task'}"
