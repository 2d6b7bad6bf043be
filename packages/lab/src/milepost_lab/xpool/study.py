"""``milepost lab xpool``: rerank documents by a pooling that reads the question.

The first stage is the cosine of a question with the mean of each document's landmarks; it returns
``--keep`` documents, which a second stage reorders. Its recall bounds every row. The documents of
all tasks form one collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from milepost.cli.console.options import count_option
from milepost_lab.runner import Report, Run, study

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from milepost_lab.data.landmarked import Landmarked
    from milepost_lab.pooling.conditioned import Conditioned

FIRST = "mean of landmarks"
FIGURES = ("recall@1", "recall@5", "mrr")
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "best landmark": ("query-top-k", {"k": 1}),
    "3 best landmarks": ("query-top-k", {"k": 3}),
    "query-softmax": ("query-softmax", {}),
    "xpool, untrained": ("xpool", {}),
}
"""Second stages that nothing is trained for: the same landmarks, nearly the same cost."""


@study(
    "xpool",
    "Rerank documents by a pooling that reads the question.",
    "milepost lab xpool tasks/written tasks/squad_articles",
    "milepost lab xpool tasks/* --steps 200 --seeds 5 --out results/xpool",
)
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option("--split", type=click.Choice(["dev", "test"]), default="dev", help="Questions asked.")
@count_option("--questions", 200, "Maximum number of questions of each task.")
@count_option("--train-documents", 30, "Maximum number of training documents of each task.")
@count_option("--train-questions", 300, "Maximum number of training questions of each task.")
@count_option("--keep", 20, "Documents that the first stage returns.")
@count_option("--steps", 100, "Training steps of 16 documents.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=3e-4, help="Of learning.")
@count_option("--heads", 1, "Heads of the attention.")
@click.option(
    "--temperature",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    help="Divides the attention scores.",
)
@click.option(
    "--splice",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.5,
    help="Share of foreign landmarks in the robustness column; 0 for none.",
)
@click.option("--model", metavar="NAME|FOLDER", default="landmark-light", help="Gives landmarks.")
@click.option("--allow-nc", is_flag=True, help="Also train on documents for non-commercial use.")
def command(
    run: Run,
    folders: tuple[Path, ...],
    split: Any,
    questions: int,
    train_documents: int,
    train_questions: int,
    keep: int,
    steps: int,
    rate: float,
    heads: int,
    temperature: float,
    splice: float,
    model: str,
    allow_nc: bool,
) -> Report:
    """Find documents by the mean of their landmarks, then rerank the best by the question.

    X-Pool is trained on the landmarks of training documents and compared with poolings without
    parameters: the best landmark, the three best, a softmax over all.
    """
    import milepost
    from milepost_lab.data.landmarked import read
    from milepost_lab.xpool.model import Recipe

    encoder = milepost.load(model)
    taught = read(
        folders,
        "train",
        encoder,
        documents=train_documents,
        questions=train_questions,
        allow_nc=allow_nc,
        progress=run.progress,
    )
    asked = read(folders, split, encoder, questions=questions, progress=run.progress)
    recipe = Recipe(steps=steps, rate=rate, heads=heads, temperature=temperature)
    return measure(run, taught, asked, recipe, keep, splice)


def measure(
    run: Run, taught: Landmarked, asked: Landmarked, recipe: Any, keep: int, splice: float
) -> Report:
    """Train X-Pool with every seed, and rank with it and its rivals.

    Args:
        run: see ``Run``.
        taught: training documents and questions.
        asked: those that are measured.
        recipe: see ``xpool.model.Recipe``.
        keep: documents that the first stage returns.
        splice: share of foreign landmarks in the second measurement; 0 for none.
    """
    import numpy as np

    from milepost_eval.statistics import corrected, difference, interval
    from milepost_lab.data.landmarked import spliced
    from milepost_lab.pooling import get
    from milepost_lab.xpool.model import train

    width = asked.states.shape[1]
    versions = {"": asked}
    if splice:
        versions[" spliced"] = spliced(asked, taught.states, splice)

    def stage(make: Callable[[], Conditioned], *, others: bool = False) -> dict[str, Any]:
        """Ranks of every version, and milliseconds a question."""
        made, begun, ranks = make(), time.process_time(), {}
        for name, data in versions.items():
            ranks[f"ranks{name}"] = second_stage(made, data, keep, others=others).tolist()
        passed = time.process_time() - begun
        return {**ranks, "ms": 1000 * passed / len(asked.queries) / len(versions)}

    def trained(seed: int) -> dict[str, Any]:
        made, losses = train(
            taught,
            recipe,
            seed,
            lambda step: run.progress(f"training, seed {seed}", step + 1, recipe.steps),
        )
        return {
            "right": stage(lambda: made),
            "other": stage(lambda: made, others=True),
            "loss": float(np.mean(losses[-10:])),
        }

    stages: dict[str, list[Mapping[str, Any]]] = {
        FIRST: [{f"ranks{name}": mid_ranks(first_stage(data), data.answers)
                 for name, data in versions.items()}]
    }  # fmt: skip
    for name, (operator, settings) in PLAIN.items():
        more = {"heads": recipe.heads} if operator == "xpool" else {}
        plain = partial(get(operator, **settings, **more).module, width, width)

        stages[name] = [run.cached(name.replace(" ", "-"), partial(stage, plain))]
    trainings = run.per_seed("xpool", trained)
    stages["xpool"] = [each["right"] for each in trainings]
    stages["xpool for another question"] = [each["other"] for each in trainings]

    clusters = [asked.documents[answer] for answer in asked.answers]
    values = {
        name: {
            version: {
                figure: np.mean([figures(each[f"ranks{version}"])[figure] for each in some], axis=0)
                for figure in FIGURES
            }
            for version in versions
        }
        for name, some in stages.items()
    }
    base = values[FIRST][""]["mrr"]
    over = corrected(
        {n: difference(v[""]["mrr"], base, clusters) for n, v in values.items() if n != FIRST}
    )
    rows = [
        {
            "ranking": name,
            "recall@1": interval(value[""]["recall@1"], clusters).mean,
            "recall@5": interval(value[""]["recall@5"], clusters).mean,
            "MRR": interval(value[""]["mrr"], clusters),
            "over the first": over.get(name),
            "p, Holm": over[name].adjusted if name in over else None,
            "spliced": float(value[" spliced"]["mrr"].mean()) if splice else None,
            "ms": stages[name][0].get("ms"),
        }
        for name, value in values.items()
    ]
    bound = float(np.mean(mid_ranks(first_stage(asked), asked.answers) <= keep))
    return Report(
        rows,
        [
            f"{len(asked.queries):,} questions over {len(asked.lengths):,} documents of "
            f"{', '.join(dict.fromkeys(asked.tasks))}; the first stage returns {keep}, among them "
            f"the document of {100 * bound:.1f} % of the questions."
        ],
        {"ceiling": bound, "losses": [each["loss"] for each in trainings]},
    )


def first_stage(data: Landmarked) -> NDArray[np.float32]:
    """Cosine of each question with each document's mean landmark, ``(questions, documents)``."""
    import numpy as np

    from milepost.encoder.windows.document_vector import unit

    means = np.stack([text.mean(0) for text in data.texts()])
    scores: NDArray[np.float32] = unit(data.queries) @ unit(means).T
    return scores


def second_stage(
    made: Conditioned, data: Landmarked, keep: int, *, others: bool = False
) -> NDArray[np.float64]:
    """Rank of each question's document after its ``keep`` best were reordered.

    ``others`` pools documents for a question about another document.
    """
    import numpy as np

    from milepost_lab.xpool.model import pair_scores

    first = first_stage(data)
    only = np.zeros(first.shape, np.bool_)
    best = np.argsort(-first, axis=1, kind="stable")[:, :keep]
    np.put_along_axis(only, best, True, axis=1)
    asked = None
    if others:
        random = np.random.default_rng(0)
        asked = data.queries[
            [int(random.choice(np.flatnonzero(data.answers != own))) for own in data.answers]
        ]
    scores = pair_scores(made, data, only, asked)
    # Cosines differ by at most 2, so first - 3 ranks all other documents behind.
    return mid_ranks(np.where(only, scores, first - 3), data.answers)


def mid_ranks(scores: NDArray[np.floating], answers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rank of each question's document, from 1; ties share the middle rank.

    So a scorer that gives all the same score gains nothing.

    Args:
        scores: ``(questions, documents)``.
        answers: ``(questions,)``: numbers of documents.
    """
    import numpy as np

    own = np.take_along_axis(scores, answers[:, None], axis=1)
    ranks: NDArray[np.float64] = 0.5 + (scores > own).sum(1) + (scores == own).sum(1) / 2
    return ranks


def figures(ranks: Any) -> dict[str, NDArray[np.float64]]:
    """Compute ``FIGURES`` of each question from the rank of its document."""
    import numpy as np

    given = np.asarray(ranks, np.float64)
    return {
        "recall@1": (given <= 1).astype(np.float64),
        "recall@5": (given <= 5).astype(np.float64),
        "mrr": 1 / given,
    }
