"""Whether weights of hard negatives improve a ranker: CET's claim, tested by training.

Training questions have several sentences of evidence, of which one stays marked, as in ``study``.
So it is known which mined negatives are answers. Rankers are trained with the same marked
sentences under every weighting, and rank the sentences that a retriever found for questions about
other documents, where all evidence counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from milepost_eval.statistics import Difference, corrected, mean_over_tasks, over_tasks
from milepost_lab.cet.material import Lists, Taught
from milepost_lab.cet.published import published_weights
from milepost_lab.cet.ranker import ARMS, PUBLISHED, Ranker, RankerRecipe, scores, train
from milepost_lab.cet.reading import Progress
from milepost_lab.cet.simulation import area

CUT = 10
"""Ranks that are scored."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TrainedArm:
    """One way of weighting, over all seeds.

    Attributes:
        name: of ``ranker.ARMS``.
        ndcg: nDCG@10, mean over tasks, of the seeds' mean.
        low, high: its 95 % interval, documents resampled.
        mrr: reciprocal rank of the first answer, 0 beyond rank 10.
        spread: standard deviation of ``ndcg`` over seeds.
        gain: in nDCG@10 over ``none``, p corrected for all arms (Holm); None for ``none``.
        detectable: the smallest true gain that is found in 80 of 100 repetitions.
        false: share of hidden answers among its negatives.
        weights: mean weight of hidden answers, then of others, each over the mean of all.
        effective: effective sample size of the weights, as a share of the pairs.
        area: chance that a hidden answer weighs less than another negative; None where all weigh
            the same.
        alike: correlation of the relevance model's scores of the mined negatives with the
            selection model's; None without one.
    """

    name: str
    ndcg: float
    low: float
    high: float
    mrr: float
    spread: float
    gain: Difference | None
    detectable: float | None
    false: float
    weights: tuple[float | None, float]
    effective: float
    area: float | None
    alike: float | None


@dataclass(frozen=True, slots=True)
class Trained:
    """The results.

    Attributes:
        tasks: names of those that are asked.
        trained, tested: questions.
        trained_documents, tested_documents: that they are about.
        pairs: of a marked sentence and a mined one.
        seeds: trainings of each arm.
        retriever: nDCG@10 of the candidates in the retriever's own order.
        ceiling: nDCG@10 of the best order of them.
        arms: one row each.
    """

    tasks: tuple[str, ...]
    trained: int
    tested: int
    trained_documents: int
    tested_documents: int
    pairs: int
    seeds: int
    retriever: float
    ceiling: float
    arms: tuple[TrainedArm, ...]


def study(
    data: Taught,
    tests: Lists,
    *,
    arms: Sequence[str] = ARMS,
    recipe: RankerRecipe | None = None,
    seeds: Sequence[int] = range(10),
    progress: Progress = lambda *_: None,
) -> Trained:
    """Train every arm with every seed, and rank.

    Args:
        data: training questions.
        tests: questions about other documents.
        arms: of ``ranker.ARMS``; ``none`` is trained in any case.
        recipe: the same for all; None for the defaults.
        seeds: of the trainings; an arm's figure of a question is its mean over them.
        progress: see ``reading.Progress``.
    """
    recipe = recipe or RankerRecipe()
    names = list(dict.fromkeys(("none", *arms)))
    figures: dict[str, list[tuple[Floats, Floats]]] = {name: [] for name in names}
    weights: dict[str, list[Tensor]] = {name: [] for name in names}
    alike: dict[str, list[float]] = {name: [] for name in names}
    for done, (seed, name) in enumerate((seed, name) for seed in seeds for name in names):
        progress(f"training {name}", done, len(names) * len(seeds))
        ranker, selection = train(name, data, recipe, seed)
        figures[name].append(measured(scores(ranker, tests), tests))
        own, same = _weights(name, data, ranker, selection)
        weights[name].append(own)
        if same is not None:
            alike[name].append(same)
    means = {name: np.mean([ndcg for ndcg, _ in own], axis=0) for name, own in figures.items()}
    gains = corrected({name: _difference(means[name], means["none"], tests) for name in names[1:]})
    rows = [
        _arm(
            name,
            data,
            tests,
            figures[name],
            gains.get(name),
            torch.stack(weights[name]),
            float(np.mean(alike[name])) if alike[name] else None,
        )
        for name in names
    ]
    retriever = -torch.arange(tests.real.shape[1]).expand_as(tests.real).double()
    return Trained(
        tasks=tuple(dict.fromkeys(tests.tasks)),
        trained=len(data.lists.queries),
        tested=len(tests.queries),
        trained_documents=len(set(data.lists.clusters)),
        tested_documents=len(set(tests.clusters)),
        pairs=len(data.lists.queries) * data.depth,
        seeds=len(seeds),
        retriever=_mean(measured(retriever.masked_fill(~tests.real, -torch.inf), tests)[0], tests),
        ceiling=_mean(measured(tests.answers.double(), tests)[0], tests),
        arms=tuple(rows),
    )


def measured(ranked: Tensor, lists: Lists) -> tuple[Floats, Floats]:
    """nDCG@10 and reciprocal rank of every question, ``(q,)`` each.

    ``DCG = sum of 1 / log2(rank + 1)`` over answers up to rank 10, divided by that of an order
    with all evidence first, among the candidates or not.

    Args:
        ranked: ``(q, m)`` scores of the candidates; ties keep their order.
        lists: the candidates.
    """
    order = ranked.argsort(dim=1, descending=True, stable=True)[:, :CUT]
    found = lists.answers.gather(1, order).numpy().astype(np.float64)
    discount = 1 / np.log2(np.arange(2, CUT + 2))
    ideal = np.cumsum(discount)[np.minimum(lists.evidence.numpy(), CUT) - 1]
    ranks = np.arange(1, found.shape[1] + 1)
    return found @ discount[: found.shape[1]] / ideal, (found / ranks).max(axis=1)


def _weights(
    name: str, data: Taught, ranker: Ranker, selection: Ranker | None
) -> tuple[Tensor, float | None]:
    """An arm's weights of its negatives ``(q, depth)``, and the correlation of its two models.

    Published weights are those after training.
    """
    if selection is None:
        return data.weights.get(name, data.weights["none"]), None
    own = slice(1, 1 + data.depth)
    relevant, selected = (scores(each, data.lists)[:, own] for each in (ranker, selection))
    both = torch.stack((relevant.flatten(), selected.flatten()))
    same = float(torch.corrcoef(both)[0, 1])
    return published_weights(selected, PUBLISHED[name]), same


def _arm(
    name: str,
    data: Taught,
    tests: Lists,
    figures: Sequence[tuple[Floats, Floats]],
    gain: Difference | None,
    weights: Tensor,
    alike: float | None,
) -> TrainedArm:
    """One row; ``weights`` are ``(seeds, q, depth)``."""
    ndcg, mrr = (np.mean([each[kind] for each in figures], axis=0) for kind in (0, 1))
    mean, low, high = mean_over_tasks(_by_task(tests, ndcg))
    start = 1 + (data.depth if name == "random" else 0)
    hidden = data.lists.answers[:, start : start + data.depth]
    own = weights.mean(0)
    yes, no = own[hidden], own[~hidden]
    told = own.flatten().double().numpy()
    some = 0 < len(yes) < own.numel() and bool(own.min() < own.max())
    return TrainedArm(
        name=name,
        ndcg=mean,
        low=low,
        high=high,
        mrr=_mean(mrr, tests),
        spread=float(np.std([_mean(each, tests) for each, _ in figures])),
        gain=gain,
        detectable=None if gain is None else gain.detectable,
        false=float(hidden.float().mean()),
        weights=(
            float(yes.mean() / own.mean()) if len(yes) else None,
            float(no.mean() / own.mean()),
        ),
        effective=_effective_sample_size(own.flatten()) / own.numel(),
        area=area(-told, hidden.flatten().double().numpy()) if some else None,
        alike=alike,
    )


def _by_task(lists: Lists, figures: Floats) -> dict[str, tuple[list[float], list[str]]]:
    """Task → figures and clusters of its questions."""
    found: dict[str, tuple[list[float], list[str]]] = {}
    for task, cluster, figure in zip(lists.tasks, lists.clusters, figures.tolist(), strict=True):
        values, clusters = found.setdefault(task, ([], []))
        values.append(figure)
        clusters.append(cluster)
    return found


def _mean(figures: Floats, lists: Lists) -> float:
    """The mean over tasks of the mean over questions."""
    return float(np.mean([np.mean(values) for values, _ in _by_task(lists, figures).values()]))


def _difference(one: Floats, other: Floats, lists: Lists) -> Difference:
    first, second = _by_task(lists, one), _by_task(lists, other)
    pairs: Mapping[str, tuple[list[float], list[float], list[str]]] = {
        task: (values, second[task][0], clusters) for task, (values, clusters) in first.items()
    }
    return over_tasks(pairs)


def _effective_sample_size(weights: Tensor) -> float:
    """``(sum w)^2 / sum w^2``: how many equal weights are worth as much."""
    scaled = weights / weights.max().clamp(min=1e-30)  # squares neither vanish nor overflow
    return float(scaled.sum().square() / scaled.square().sum().clamp(min=1e-30))
