"""A first stage that knows no question, and poolings by the question that re-rank its best.

The first stage is the cosine of a question with the mean of each document's landmarks (LMK,
arXiv 2601.21525). It keeps ``most`` documents a question; a second stage orders these anew and
leaves the others behind them, so that what the first stage loses stays lost: its recall at
``most`` bounds every row. All tasks' documents are one collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost import pooling
from milepost.encoder import Encoder
from milepost.errors import InputError
from milepost.evaluate.statistics import Values, corrected, mean_over_tasks, over_tasks
from milepost.evaluate.types import Split
from milepost.lab.landmarked import Landmarked, read, spliced
from milepost.lab.xpool import Recipe, train
from milepost.pooling.operator import Pool
from milepost.pooling.ragged import unit
from milepost.pooling.xpool import Against, pair_scores

FIGURES = ("recall@1", "recall@5", "mrr")
FIRST = "mean of landmarks"

PLAIN: dict[str, Pool] = {
    "best landmark": pooling.get("query-top-k", k=1),
    "3 best landmarks": pooling.get("query-top-k", k=3),
    "query-softmax": pooling.get("query-softmax"),
}
"""Second stages without parameters: the same landmarks, nearly the same cost."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What is read, asked and compared.

    Attributes:
        split: whose questions are asked.
        questions: of each task, at most.
        train_documents, train_questions: of each task, to learn from, at most.
        allow_nc: learn from documents whose licence forbids commercial use.
        keep: documents that the first stage keeps.
        splice: foreign share of each document in the second measurement; 0 for none.
        seeds: trainings.
    """

    split: Split = "dev"
    questions: int = 200
    train_documents: int = 30
    train_questions: int = 300
    allow_nc: bool = False
    keep: int = 20
    splice: float = 0.5
    seeds: Sequence[int] = (0,)


@dataclass(frozen=True, slots=True)
class Second:
    """One way to order the candidates.

    Attributes:
        name: for the table.
        pools: the same pooling, once a seed.
        against: see ``pair_scores``.
        others: pool documents for a question about another document, which shows what pooling for
            the right one does.
    """

    name: str
    pools: Sequence[Pool]
    against: Against = "query"
    others: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """What one ranking reaches.

    Attributes:
        name: of the ranking.
        figures: name of a figure → its value for each question, mean of the seeds.
        seeds: MRR of each seed, mean over all questions.
        milliseconds: of the second stage, a question, the processor's time; 0 for the first.
    """

    name: str
    figures: Mapping[str, NDArray[np.float64]]
    seeds: tuple[float, ...]
    milliseconds: float


def study(
    folders: Sequence[Path],
    encoder: Encoder,
    recipe: Recipe,
    settings: Mapping[str, Any],
    asking: Asking,
    *,
    out: Path | None = None,
    say: Callable[[str, int, int], None] = lambda doing, done, of: None,
) -> dict[str, Any]:
    """Train X-Pool on the training documents of some tasks, and rank with it and its rivals.

    Args:
        folders: tasks, see ``lab.landmarked.read``.
        encoder: gives the landmarks; it stays as it is.
        recipe: of the training.
        settings: of ``xpool``.
        asking: the rest.
        out: the first seed's pooling is written here, for ``milepost.pooling.load``.
        say: told what is done, how far, of how much.

    Returns:
        For ``--json``: ``rows`` (see ``records``), ``ceiling``, counts, the last losses.

    Raises:
        InputError: tasks that cannot be read, or too little to learn from.
    """
    taught = read(
        folders,
        "train",
        encoder,
        documents=asking.train_documents,
        questions=asking.train_questions,
        allow_nc=asking.allow_nc,
        say=lambda task, done, of: say(f"reading {task} (train)", done, of),
    )
    asked = read(
        folders,
        asking.split,
        encoder,
        questions=asking.questions,
        say=lambda task, done, of: say(f"reading {task} ({asking.split})", done, of),
    )
    pools, losses = [], []
    for seed in asking.seeds:

        def told(step: int, _: float, seed: int = seed) -> None:
            say(f"training, seed {seed}", step, recipe.steps)

        made, some = train(taught, recipe, seed, settings=settings, say=told)
        pools.append(made.reference())
        losses.append(float(np.mean(some[-10:])))
    if out is not None:
        pools[0].save(out)
    begun = pooling.get("xpool", **settings)
    seconds = [
        *(Second(name, [pool]) for name, pool in PLAIN.items()),
        Second("xpool, untrained", [begun], recipe.against),
        Second("xpool", pools, recipe.against),
        Second("xpool for another question", pools, recipe.against, others=True),
    ]
    say("ranking", 0, len(seconds))
    rows = ranked(asked, seconds, asking.keep)
    hurt = (
        ranked(spliced(asked, taught.states, asking.splice), seconds, asking.keep)
        if asking.splice
        else []
    )
    return {
        "tasks": list(dict.fromkeys(asked.tasks)),
        "documents": len(asked.lengths),
        "questions": len(asked.queries),
        "landmarks": int(asked.lengths.sum()),
        "train documents": len(taught.lengths),
        "train questions": len(taught.queries),
        "keep": asking.keep,
        "ceiling": ceiling(asked, asking.keep),
        "last losses": losses,
        "rows": records(asked, rows, hurt),
    }


def first_stage(data: Landmarked) -> NDArray[np.float32]:
    """Cosine of each question with each document's mean landmark, ``(questions, documents)``."""
    vectors = unit(pooling.get("mean")(data.states, data.lengths))
    scores: NDArray[np.float32] = unit(data.queries) @ vectors.T
    return scores


def candidates(first: NDArray[np.floating], most: int) -> NDArray[np.bool_]:
    """The ``most`` best documents of each question, ``(questions, documents)``.

    Raises:
        InputError: ``most`` is less than 1.
    """
    if most < 1:
        raise InputError(f"{most} candidates leave nothing to order", "keep 1 or more")
    kept = np.zeros(first.shape, np.bool_)
    best = np.argsort(-first, axis=1, kind="stable")[:, :most]
    np.put_along_axis(kept, best, True, axis=1)
    return kept


def mid_ranks(scores: NDArray[np.floating], answers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rank of each question's document, from 1; among equals the middle one.

    So a ranking that scores all alike reaches what chance does.

    Args:
        scores: ``(questions, documents)``.
        answers: ``(questions,)``: numbers of documents.
    """
    own = np.take_along_axis(scores, answers[:, None], axis=1)
    ranks: NDArray[np.float64] = 0.5 + (scores > own).sum(1) + (scores == own).sum(1) / 2
    return ranks


def figures(ranks: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """``FIGURES`` of each question from the rank of its document."""
    return {
        "recall@1": (ranks <= 1).astype(np.float64),
        "recall@5": (ranks <= 5).astype(np.float64),
        "mrr": 1 / ranks,
    }


def ranked(data: Landmarked, seconds: Sequence[Second], most: int, seed: int = 0) -> list[Row]:
    """The first stage and every second stage behind it.

    Args:
        data: documents and questions.
        seconds: second stages.
        most: candidates a question.
        seed: chooses the other question of ``Second.others``.

    Returns:
        A row each, the first stage's in front.
    """
    first = first_stage(data)
    only = candidates(first, most)
    rows = [_row(FIRST, [mid_ranks(first, data.answers)], 0.0)]
    for second in seconds:
        asked = _others(data, seed) if second.others else None
        begun = time.process_time()
        ranks = []
        for pool in second.pools:
            scores = pair_scores(
                pool,
                data.queries,
                data.states,
                data.lengths,
                only=only,
                asked=asked,
                against=second.against,
            )
            # Cosines are at most 2 apart: the first stage's order stands behind all candidates.
            ranks.append(mid_ranks(np.where(only, scores, first - 3), data.answers))
        passed = (time.process_time() - begun) / len(second.pools) / len(data.queries)
        rows.append(_row(second.name, ranks, 1000 * passed))
    return rows


def ceiling(data: Landmarked, most: int) -> float:
    """The first stage's recall at ``most``: the mean over tasks that no second stage passes."""
    kept = candidates(first_stage(data), most)
    found = np.take_along_axis(kept, data.answers[:, None], axis=1)[:, 0]
    return mean_over_tasks(by_task(data, found.astype(np.float64)))[0]


def by_task(data: Landmarked, values: NDArray[np.float64]) -> dict[str, Values]:
    """A figure of every question as ``evaluate.statistics`` reads it: clusters are documents."""
    found: dict[str, tuple[list[float], list[str]]] = {}
    for task, answer, value in zip(data.tasks, data.answers, values, strict=True):
        some = found.setdefault(task, ([], []))
        some[0].append(float(value))
        some[1].append(data.documents[answer])
    return dict(found)


def records(
    data: Landmarked, rows: Sequence[Row], hurt: Sequence[Row] = ()
) -> list[dict[str, Any]]:
    """What is printed of the rows: means over tasks with intervals, differences to the first.

    Args:
        data: what was asked.
        rows: of ``ranked``, the first stage in front.
        hurt: the same rows with foreign landmarks spliced in.
    """
    base = by_task(data, rows[0].figures["mrr"])
    differences = corrected(
        {
            row.name: over_tasks(
                {
                    task: (values, base[task][0], clusters)
                    for task, (values, clusters) in by_task(data, row.figures["mrr"]).items()
                }
            )
            for row in rows[1:]
        }
    )
    found = []
    for number, row in enumerate(rows):
        record: dict[str, Any] = {"name": row.name}
        for name in FIGURES:
            values = by_task(data, row.figures[name])
            record[name] = mean_over_tasks(values)
            record[f"{name} of tasks"] = {
                task: float(np.mean(some)) for task, (some, _) in values.items()
            }
        if row.name in differences:
            one = differences[row.name]
            record["over the first"] = {
                "mrr": (one.mean, one.low, one.high),
                "verdict": one.verdict,
            }
        if hurt:
            spliced = by_task(data, hurt[number].figures["mrr"])
            record["mrr spliced"] = mean_over_tasks(spliced)
        record |= {"mrr of seeds": row.seeds, "milliseconds": round(row.milliseconds, 3)}
        found.append(record)
    return found


def table(found: Sequence[Mapping[str, Any]]) -> str:
    """The records as lines for people, figures in points of 100."""
    head = ["", *FIGURES, "95 % of MRR", "over the first", "spliced", "ms"]
    lines = [head]
    for record in found:
        low, high = (100 * value for value in record["mrr"][1:])
        line = [record["name"], *(f"{100 * record[name][0]:.1f}" for name in FIGURES)]
        line.append(f"{low:.1f} to {high:.1f}")
        over = record.get("over the first")
        line.append(f"{100 * over['mrr'][0]:+.1f} {over['verdict']}" if over else "–")
        line.append(f"{100 * record['mrr spliced'][0]:.1f}" if "mrr spliced" in record else "–")
        line.append(f"{record['milliseconds']:.1f}")
        lines.append(line)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )


def _row(name: str, ranks: Sequence[NDArray[np.float64]], milliseconds: float) -> Row:
    each = [figures(one) for one in ranks]
    mean = {name: np.mean([one[name] for one in each], axis=0) for name in FIGURES}
    return Row(name, mean, tuple(float(one["mrr"].mean()) for one in each), milliseconds)


def _others(data: Landmarked, seed: int) -> NDArray[np.float32]:
    """For each question the vector of one about another document."""
    random = np.random.default_rng(seed)
    if len(set(data.answers.tolist())) < 2:
        raise InputError("all questions are about one document", "ask of more documents")
    numbers = [int(random.choice(np.flatnonzero(data.answers != own))) for own in data.answers]
    return data.queries[numbers]
