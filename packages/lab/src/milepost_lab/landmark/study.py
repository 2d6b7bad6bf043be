"""``milepost lab landmark``: seven experiments with windows, halos and landmarks.

Every figure is of landmarks alone: the share of a question's evidence within the first 1,000
characters returned, or a reciprocal rank; intervals resample documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from milepost.cli.console.options import count_option
from milepost.documents import split
from milepost.errors import InputError
from milepost.types import Document, Span
from milepost_eval.statistics import difference, interval
from milepost_eval.tasks.protocol import take
from milepost_eval.tasks.shared import read_folder
from milepost_eval.types import Question
from milepost_lab.landmark.model import EXTRA, WAYS, Reader, Reading, Sizes, evidence_found, spent
from milepost_lab.runner import Report, Run, study

BUDGET = 1000
TOKENS = (32, 64, 128, 256)
WINDOWS: tuple[Sizes, ...] = ((256, 0, 0), (256, 64, 32), (320, 48, 16), (512, 0, 0), (512, 64, 32))
BINS = ((0, "0"), (1, "1-31"), (32, "32-127"), (128, "128+"))
FIFTHS = ("first fifth", "second", "third", "fourth", "last fifth")


class Figure(NamedTuple):
    """One figure: arm, group of the question, document and question, and its value."""

    arm: str
    group: str
    document: str
    question: str
    value: float


Asked = list[tuple[Document, list[Question]]]
Experiment = Callable[[Reader, Asked], Iterator[Figure]]


@study(
    "landmark",
    "Windows, halos and landmarks: seven experiments.",
    "milepost lab landmark boundaries tasks/written",
    "milepost lab landmark halo tasks/written tasks/trials",
    seeds=0,
)
@click.argument("name")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@count_option("--questions", 200, "Maximum number of questions of each task.")
@count_option("--documents", 20, "Maximum number of documents of each task.")
@click.option("--model", metavar="NAME|FOLDER", default="landmark-light", help="Is read.")
def command(
    run: Run, name: str, folders: tuple[Path, ...], questions: int, documents: int, model: str
) -> Report:
    """Run boundaries, scattered, context, position, granularity, halo or surround."""
    import milepost

    if name not in EXPERIMENTS:
        raise InputError(f"unknown experiment {name!r}", f"one of {', '.join(EXPERIMENTS)}")
    asked: Asked = []
    for folder in folders:
        task = take(read_folder(folder, "dev"), questions, documents)
        for document in task.documents:
            own = [q for q in task.questions if q.document == document.name and q.spans]
            if own:
                asked.append((document, own))
    if not asked:
        raise InputError("no question has evidence", "tasks with spans")
    reader = Reader.like(milepost.load(model))
    found: list[Any] = run.cached(
        name, lambda: [list(each) for each in EXPERIMENTS[name](reader, asked)]
    )
    return Report(table_of([Figure(*each) for each in found]))


def table_of(figures: list[Figure]) -> list[dict[str, Any]]:
    """A row for each arm and group, less the first arm on the same questions."""
    cells: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for each in figures:
        cells.setdefault((each.arm, each.group), {})[each.document, each.question] = each.value
    first = figures[0].arm if figures else ""
    rows = []
    for (arm, group), values in cells.items():
        base = cells.get((first, group), {})
        both = [key for key in values if key in base] if arm != first else []
        rows.append(
            {
                "arm": arm,
                "group": group,
                "questions": len(values),
                "found": interval(list(values.values()), [key[0] for key in values]),
                f"over {first}": difference(
                    [values[key] for key in both],
                    [base[key] for key in both],
                    [key[0] for key in both],
                )
                if both
                else None,
            }
        )
    return rows


def _recalls(
    arm: str,
    reader: Reader,
    document: Document,
    questions: list[Question],
    reading: Reading,
    group: Callable[[Question], str] = lambda question: "all",
) -> Iterator[Figure]:
    spans: list[Span] = [(a, b) for a, b in reading.spans.tolist()]
    for question in questions:
        order = np.argsort(-(reading.vectors @ reader.encode_query(question.text)), kind="stable")
        value = evidence_found((spans[n] for n in order.tolist()), question.spans, BUDGET)
        yield Figure(arm, group(question), document.name, question.name, value)


def _ranks(reading: Reading, query: Any, evidence: Any) -> list[float]:
    """Reciprocal rank of each evidence unit among the units that are not evidence."""
    scores = reading.vectors @ query
    others = np.delete(scores, evidence)
    return [1 / (1 + int((others > scores[number]).sum())) for number in evidence]


def boundaries(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """Whether a sentence near the edge of its window loses, against itself amid text."""
    size = reader.manifest.window
    amid = Reader.like(reader, (size, int(0.3 * size), int(0.3 * size)))
    for document, questions in asked:
        middle, here = amid.read(document), reader.read(document)
        edges = here.edges()
        for question in questions:
            query, evidence = reader.encode_query(question.text), here.touched(question.spans)
            for arm, reading in (("amid text", middle), ("as read", here)):
                ranks = zip(evidence.tolist(), _ranks(reading, query, evidence), strict=True)
                for number, rank in ranks:
                    edge = edges[number]
                    if edge is not None:
                        label = [name for least, name in BINS if edge >= least][-1]
                        key = f"{question.name}/{number}"
                        yield Figure(arm, label, document.name, key, rank)


def scattered(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """Whether evidence in several places comes back as well as evidence in one."""
    for document, questions in asked:
        reading = reader.read(document)

        def places(question: Question, reading: Reading = reading) -> str:
            hit = reading.touched(question.spans)
            return "several places" if (np.diff(hit) > 1).any() else "one place"

        yield from _recalls("landmarks", reader, document, questions, reading, places)


def context(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """Whether a sentence read in its document is found better than read alone."""
    for document, questions in asked:
        whole = reader.read(document)
        spans = split(document.text, document.blocks)
        alone = [reader.encode(document.text[start:end]).document for start, end in spans]
        apart = Reading(np.array(spans, np.int64).reshape(-1, 2), np.stack(alone), (), ())
        for arm, reading in (("alone", apart), ("in its document", whole)):
            yield from _recalls(
                arm, reader, document, questions, reading, lambda q: q.kind or "no type"
            )


def position(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """Whether evidence is found as well at the end of a document as at its beginning."""
    for document, questions in asked:
        length = max(1, len(document.text))

        def fifth(question: Question, length: int = length) -> str:
            return FIFTHS[min(4, 5 * min(start for start, _ in question.spans) // length)]

        reading = reader.read(document)
        yield from _recalls("landmarks", reader, document, questions, reading, fifth)


def granularity(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """A landmark every 32 to 256 tokens, or at the end of each sentence."""
    sentences = Reader.like(reader, (512, 64, 32))
    for document, questions in asked:
        yield from _recalls("sentences", sentences, document, questions, sentences.read(document))
        for tokens in TOKENS:
            # A halo consists of whole units, so it must have room for one.
            sizes = (512, max(64, tokens + 1), 32)
            other = Reader.like(reader, sizes, max(reader.manifest.longest, tokens))
            reading = other.read(document, other.every(document.text, tokens))
            yield from _recalls(f"every {tokens} tokens", other, document, questions, reading)


def halo(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """Windows and halos of other sizes."""
    manifest = reader.manifest
    own = (manifest.window, manifest.left, manifest.right)
    for sizes in dict.fromkeys([own, *WINDOWS]):
        if sizes[0] < manifest.longest + 2:
            continue
        other = Reader.like(reader, sizes)
        for document, questions in asked:
            arm = "/".join(map(str, sizes))
            yield from _recalls(arm, other, document, questions, other.read(document))


def surround(reader: Reader, asked: Asked) -> Iterator[Figure]:
    """A hit with the sentences in front of it, or with those on both sides."""
    for document, questions in asked:
        reading = reader.read(document)
        spans: list[Span] = [(a, b) for a, b in reading.spans.tolist()]
        for question in questions:
            scores = reading.vectors @ reader.encode_query(question.text)
            order = np.argsort(-scores, kind="stable").tolist()
            for extra in EXTRA:
                for way in WAYS if extra else WAYS[:1]:
                    returned = spent(order, spans, extra, way)
                    value = evidence_found(returned, question.spans, BUDGET)
                    arm = f"{way}-{extra}" if extra else "hits alone"
                    yield Figure(arm, "all", document.name, question.name, value)


EXPERIMENTS: dict[str, Experiment] = {
    "boundaries": boundaries,
    "scattered": scattered,
    "context": context,
    "position": position,
    "granularity": granularity,
    "halo": halo,
    "surround": surround,
}
