"""Question-dependent poolings that rerank the best documents of a mean-pooling first stage.

The first stage is the cosine of a question with the mean of each document's landmarks (LMK,
arXiv 2601.21525). It returns ``most`` documents. A second stage reorders these and
appends the others, so the recall of the first stage at ``most`` bounds every row. The documents of
all tasks form one collection.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from milepost.errors import InputError
from milepost.types import Reader
from milepost.windows.document_vector import unit
from milepost_eval.statistics import mean_over_tasks
from milepost_eval.types import Split
from milepost_lab import pooling
from milepost_lab.controls.readers import ControlReader
from milepost_lab.data.landmarked import Landmarked, read, spliced
from milepost_lab.pooling.operator import Pool
from milepost_lab.pooling.xpool import pair_scores
from milepost_lab.xpool.table import FIGURES, RankingRow, by_task, records
from milepost_lab.xpool.training import XPoolRecipe, train

CONTROLLED = "best landmark", "xpool"
"""Second stages that are measured on the landmarks of controls as well."""

FIRST = "mean of landmarks"

Say = Callable[[str, int, int], None]
"""Called with the current work, the amount done and the total."""

PLAIN: dict[str, Pool] = {
    "best landmark": pooling.get("query-top-k", k=1),
    "3 best landmarks": pooling.get("query-top-k", k=3),
    "query-softmax": pooling.get("query-softmax"),
}
"""Second stages without parameters: the same landmarks, nearly the same cost."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The data of the study and its sizes.

    Attributes:
        split: split of the evaluated questions.
        questions: maximum number of questions per task.
        train_documents, train_questions: maximum numbers for training, per task.
        allow_nc: also train on documents whose licence forbids commercial use.
        keep: number of documents that the first stage returns.
        splice: share of foreign landmarks in the second measurement; 0 for none.
        seeds: seeds of the trainings.
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
    """A way to order the candidates.

    Attributes:
        name: name of the row.
        pools: the same pooling, once per seed.
        others: pool documents for a question about another document, which shows the effect of
            pooling for the right one.
    """

    name: str
    pools: Sequence[Pool]
    others: bool = False


def study(
    folders: Sequence[Path],
    encoder: Reader,
    recipe: XPoolRecipe,
    settings: Mapping[str, Any],
    asking: Asking,
    *,
    controls: Sequence[ControlReader] = (),
    out: Path | None = None,
    say: Say = lambda doing, done, of: None,
) -> dict[str, Any]:
    """Train X-Pool on the training documents of some tasks, and rank with it and the baselines.

    Args:
        folders: tasks, see ``lab.data.landmarked.read``.
        encoder: gives the landmarks; it is not trained.
        recipe: how to train.
        settings: settings of the operator ``xpool``.
        asking: data and sizes.
        controls: readers that repeat the experiment with their own landmarks: rows ``NAME@random``
            and so on, compared with the control's own first stage. Their number of heads is the
            greatest that divides both the requested number and their width.
        out: the first seed's pooling is written here, for ``milepost_lab.pooling.load``.
        say: see ``Say``.

    Returns:
        For ``--json``: ``rows`` (see ``records``), ``ceiling``, counts, the last losses; rows of
        controls are marked ``control``, and their first stage has a ``ceiling`` of its own.

    Raises:
        InputError: a task cannot be read, or there is too little to train on.
    """
    taught, asked = _collections(folders, encoder, asking, say)
    pools, losses = _trained(taught, recipe, settings, asking.seeds, say)
    if out is not None:
        pools[0].save(out)
    begun = pooling.get("xpool", **settings)
    seconds = [
        *(Second(name, [pool]) for name, pool in PLAIN.items()),
        Second("xpool, untrained", [begun]),
        Second("xpool", pools),
        Second("xpool for another question", pools, others=True),
    ]
    say("ranking", 0, len(seconds))
    rows = _measured(taught, asked, seconds, asking)
    for control in controls:

        def told(doing: str, done: int, of: int, name: str = control.name) -> None:
            say(f"{name}: {doing}", done, of)

        rows += _of_control(folders, control, recipe, settings, asking, told)
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
        "rows": rows,
    }


def _of_control(
    folders: Sequence[Path],
    control: ControlReader,
    recipe: XPoolRecipe,
    settings: Mapping[str, Any],
    asking: Asking,
    say: Say,
) -> list[dict[str, Any]]:
    """Measure the first stage and ``CONTROLLED`` on the landmarks of an untrained baseline."""
    taught, asked = _collections(folders, control, asking, say)
    heads = math.gcd(settings.get("heads", 1), taught.states.shape[1])
    pools, _ = _trained(taught, recipe, {**settings, "heads": heads}, asking.seeds, say)
    best, trained = CONTROLLED
    seconds = [Second(best, [PLAIN[best]]), Second(trained, pools)]
    rows = _measured(taught, asked, seconds, asking)
    rows[0]["ceiling"] = ceiling(asked, asking.keep)
    return [{**row, "name": f"{row['name']}@{control.name}", "control": True} for row in rows]


def _collections(
    folders: Sequence[Path], reader: Reader, asking: Asking, say: Say
) -> tuple[Landmarked, Landmarked]:
    """Read the training data and the evaluated data."""
    taught = read(
        folders,
        "train",
        reader,
        documents=asking.train_documents,
        questions=asking.train_questions,
        allow_nc=asking.allow_nc,
        say=lambda task, done, of: say(f"reading {task} (train)", done, of),
    )
    asked = read(
        folders,
        asking.split,
        reader,
        questions=asking.questions,
        say=lambda task, done, of: say(f"reading {task} ({asking.split})", done, of),
    )
    return taught, asked


def _trained(
    taught: Landmarked,
    recipe: XPoolRecipe,
    settings: Mapping[str, Any],
    seeds: Sequence[int],
    say: Say,
) -> tuple[list[Pool], list[float]]:
    """Train a pooling for each seed; also return its mean loss over the last ten steps."""
    pools, losses = [], []
    for seed in seeds:

        def told(step: int, _: float, seed: int = seed) -> None:
            say(f"training, seed {seed}", step + 1, recipe.steps)

        made, some = train(taught, recipe, seed, settings=settings, say=told)
        pools.append(made.reference())
        losses.append(float(np.mean(some[-10:])))
    return pools, losses


def _measured(
    taught: Landmarked, asked: Landmarked, seconds: Sequence[Second], asking: Asking
) -> list[dict[str, Any]]:
    """Measure the first stage and all second stages, on documents as they are and spliced."""
    rows = ranked(asked, seconds, asking.keep)
    hurt = (
        ranked(spliced(asked, taught.states, asking.splice), seconds, asking.keep)
        if asking.splice
        else []
    )
    return records(asked, rows, hurt)


def first_stage(data: Landmarked) -> NDArray[np.float32]:
    """Cosine of each question with each document's mean landmark, ``(questions, documents)``."""
    vectors = unit(pooling.get("mean")(data.states, data.lengths))
    scores: NDArray[np.float32] = unit(data.queries) @ vectors.T
    return scores


def candidates(first: NDArray[np.floating], most: int) -> NDArray[np.bool_]:
    """Mark the ``most`` best documents of each question, ``(questions, documents)``.

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
    """The rank of each question's document, from 1; ties share the middle rank.

    So if all scores are equal, the rank is the expected rank in a random order.

    Args:
        scores: ``(questions, documents)``.
        answers: ``(questions,)``: numbers of documents.
    """
    own = np.take_along_axis(scores, answers[:, None], axis=1)
    ranks: NDArray[np.float64] = 0.5 + (scores > own).sum(1) + (scores == own).sum(1) / 2
    return ranks


def figures(ranks: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Compute ``FIGURES`` of each question from the rank of its document."""
    return {
        "recall@1": (ranks <= 1).astype(np.float64),
        "recall@5": (ranks <= 5).astype(np.float64),
        "mrr": 1 / ranks,
    }


def ranked(
    data: Landmarked, seconds: Sequence[Second], most: int, seed: int = 0
) -> list[RankingRow]:
    """Rank with the first stage and every second stage.

    Args:
        data: documents and questions.
        seconds: second stages.
        most: number of candidates per question.
        seed: chooses the other question of ``Second.others``.

    Returns:
        One row per stage, the first stage first.
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
                pool, data.queries, data.states, data.lengths, only=only, asked=asked
            )
            # Cosines differ by at most 2, so first - 3 ranks all other documents behind.
            ranks.append(mid_ranks(np.where(only, scores, first - 3), data.answers))
        passed = (time.process_time() - begun) / len(second.pools) / len(data.queries)
        rows.append(_row(second.name, ranks, 1000 * passed))
    return rows


def ceiling(data: Landmarked, most: int) -> float:
    """Recall of the first stage at ``most``, the bound of all second stages; mean over tasks."""
    kept = candidates(first_stage(data), most)
    found = np.take_along_axis(kept, data.answers[:, None], axis=1)[:, 0]
    return mean_over_tasks(by_task(data, found.astype(np.float64)))[0]


def _row(name: str, ranks: Sequence[NDArray[np.float64]], milliseconds: float) -> RankingRow:
    each = [figures(one) for one in ranks]
    mean = {name: np.mean([one[name] for one in each], axis=0) for name in FIGURES}
    return RankingRow(name, mean, tuple(float(one["mrr"].mean()) for one in each), milliseconds)


def _others(data: Landmarked, seed: int) -> NDArray[np.float32]:
    """Draw for each question the vector of a question about another document."""
    random = np.random.default_rng(seed)
    if len(set(data.answers.tolist())) < 2:
        raise InputError("all questions are about one document", "ask of more documents")
    numbers = [int(random.choice(np.flatnonzero(data.answers != own))) for own in data.answers]
    return data.queries[numbers]
