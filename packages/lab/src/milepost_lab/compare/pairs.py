"""A task of a file or folder of pairs, in any form that ``milepost train`` reads.

A hash of the passage's text, case and white space aside, splits the pairs alike for every model:
eight in ten train, one in ten is asked, one in ten is left for tests. Of passages that a model
reads alike, by their token ids after the cut, and of such queries, one pair is kept: so nobody
trains on what is asked, and no passage but one answers a query.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

from milepost.errors import InputError
from milepost_lab.compare.material import QUERY, Material, Pair, Sizes, of_pairs
from milepost_lab.compare.reading import Text
from milepost_lab.data.long_documents import Words, stable, stretch
from milepost_train.rows import PAIRS, existing, pair_of, rows

_PARTS, _ASKED, _TESTS = 10, 8, 9  # the parts of a hash, and which of them do not train
_LEAST = 2  # questions: among fewer, nothing can be ranked wrong


def pairs_task(
    path: Path,
    name: str,
    words: Words,
    sizes: Sizes,
    note: Callable[[str], None] = lambda line: None,
) -> Material:
    """The task of a set of pairs.

    Args:
        path: a file, or a folder of files, of JSON lines, CSV or Parquet, or a saved data set.
        name: of the task.
        words: of the model that reads.
        sizes: how many pairs and queries, and tokens of a passage.
        note: called with a line about rows that cannot be used, and one about pairs left out.

    Raises:
        InputError: no row can be used, or too few of them are asked.
        MissingExtra: the files need datasets or pyarrow, which is not installed.
    """
    queries = _queries(path, note)
    training: list[Pair] = []
    held: list[tuple[str, Pair]] = []
    passages: set[str] = set()
    asked: set[str] = set()
    again = 0
    for passage in sorted(queries, key=stable):
        number = stable(" ".join(passage.split()).casefold())
        part = int(number, 16) % _PARTS
        full = len(held) >= sizes.asked if part == _ASKED else len(training) >= sizes.pairs
        if part == _TESTS or full:
            continue
        text = stretch(words.sentences(passage)[0], 0, sizes.tokens)
        ids = stretch(words.ids([queries[passage]]), 0, QUERY)
        if not ids or not text:
            continue
        read, query = _read(text), _read(ids)
        if read in passages or query in asked:
            again += 1
            continue
        passages.add(read)
        asked.add(query)
        if part == _ASKED:
            held.append((number[:16], (ids, text)))
        else:
            training.append((ids, text))
        if len(held) >= sizes.asked and len(training) >= sizes.pairs:
            break
    if again:
        note(
            f"{again:,} pairs of {path} are left out: the model reads the same passage or the same "
            "query in another pair"
        )
    if len(held) < _LEAST:
        raise InputError(
            f"{path} holds {len(queries):,} passages, of which {len(held)} would be asked for",
            "a hundred pairs or more: one in ten is asked for",
        )
    return of_pairs(name, f"pairs of {name}", training, held)


def _read(text: Text) -> str:
    """A hash of the tokens of a text, wherever its sentences end."""
    return stable(repr(list(chain.from_iterable(text))))


def _queries(path: Path, note: Callable[[str], None]) -> dict[str, str]:
    """Every passage once, with its first query."""
    bad: list[InputError] = []
    queries: dict[str, str] = {}
    for file in existing([path], PAIRS):
        for line in rows(file, bad):
            try:
                query, passage = pair_of(line)
            except InputError as error:
                bad.append(error)
                continue
            queries.setdefault(passage, query)
    if not queries:
        why = f": {bad[0].problem}" if bad else ""
        raise InputError(
            f"{path} holds no pairs{why}", 'rows such as {"query": "…", "passage": "…"}'
        )
    if bad:
        note(f"{len(bad):,} rows of {path} are left out: {bad[0].problem}")
    return queries
