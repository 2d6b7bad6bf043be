"""Mined negatives from files, reported line by line like all that ``loading.py`` reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from milepost.errors import InputError
from milepost_eval.tasks.reading import Line, lines
from milepost_train.data import Text, touched
from milepost_train.loading import Report, Sentence


def load_negatives(
    path: Path,
    texts: Sequence[Text],
    report: Report,
    asked: Collection[tuple[str, str]],
    queries: Collection[str],
) -> Iterator[tuple[tuple[str, str], list[Sentence]]]:
    """Negatives as ``milepost mine`` writes them, by the question's name and words.

    Raises:
        UnreadableFile: the file is missing or damaged.
    """
    places = {text.name: number for number, text in enumerate(texts)}
    counts, bad = report.of(path, "negatives"), report.wrong[path]
    for line in lines(path, bad):
        try:
            key = line.name("id"), line.text("question")
            found = list(dict.fromkeys(_sentences(line, places, texts, counts)))
        except InputError as error:
            bad.append(error)
            continue
        if key in asked or key[1] in queries:
            counts["negatives"] += len(found)
            yield key, found
        else:
            counts["negatives of questions that are not read"] += len(found)


def _sentences(
    line: Line, places: Mapping[str, int], texts: Sequence[Text], counts: Counter[str]
) -> Iterator[Sentence]:
    rows = line.fields.get("negatives")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise line.wrong("'negatives' is not a list of objects", "write it by milepost mine")
    for row in rows:
        number = places.get(str(row.get("document")))
        span = row.get("span")
        if not isinstance(span, list) or [type(edge) for edge in span] != [int, int]:
            raise line.wrong("a negative has no span [start, end]", "write it by milepost mine")
        if number is None:
            counts["negatives in documents that are not read"] += 1
            continue
        held = touched(texts[number].spans, [span])
        if not held:
            raise line.wrong(
                f"span {span} is outside document {row['document']!r}", "mine these documents again"
            )
        yield number, held[0]
