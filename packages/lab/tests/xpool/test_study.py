"""Two stages: ranks, what the first one loses, controls."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.xpool import study
from milepost_lab.xpool.study import (
    Second,
    candidates,
    ceiling,
    figures,
    first_stage,
    mid_ranks,
    ranked,
)
from milepost_lab.xpool.table import records, table
from milepost_lab.xpool.training import XPoolRecipe
from support.landmark_collections import turned

pytestmark = pytest.mark.torch


def test_equal_scores_get_the_middle_rank_where_check_6_has_0_to_2():
    scores = np.array([[0.9, 0.1, 0.2], [0.8, 0.7, 0.1], [0.3, 0.3, 0.3]])
    ranks = mid_ranks(scores, np.arange(3))
    assert ranks.tolist() == [1, 2, 2]
    # Optimistic ranks would give 2 of 3 here, and all to whoever scores everything alike.
    assert figures(ranks)["recall@1"].mean() == pytest.approx(1 / 3)
    constant = figures(mid_ranks(np.zeros((3, 3)), np.arange(3)))
    assert constant["recall@1"].sum() == 0
    assert constant["mrr"].tolist() == [0.5] * 3


def asked_plainly(documents=30):
    """Questions that are landmarks themselves."""
    data = turned(documents, seed=3)
    rows = [data.document(n)[data.evidence[n][0]] for n in range(documents)]
    return replace(data, queries=np.stack(rows))


def test_the_best_landmark_finds_what_the_mean_drowns():
    data = asked_plainly()
    first, second = ranked(data, [Second("best", [pooling.get("query-top-k", k=1)])], most=30)
    assert second.figures["recall@1"].mean() == 1
    assert first.figures["recall@1"].mean() < 0.9


def test_what_the_first_stage_loses_stays_lost():
    data = asked_plainly()
    kept = candidates(first_stage(data), 2)
    assert (kept.sum(1) == 2).all()
    first, second = ranked(data, [Second("best", [pooling.get("query-top-k", k=1)])], most=2)
    lost = ~kept[np.arange(30), data.answers]
    assert lost.any()
    np.testing.assert_array_equal(second.figures["mrr"][lost], first.figures["mrr"][lost])
    assert second.figures["recall@1"].mean() == ceiling(data, 2) == (~lost).mean()


def test_pooled_for_another_question_the_gain_is_gone():
    data = asked_plainly()
    pools = [pooling.get("query-top-k", k=1)]
    _, right, wrong = ranked(
        data, [Second("right", pools), Second("wrong", pools, others=True)], most=30
    )
    assert wrong.figures["mrr"].mean() < right.figures["mrr"].mean() - 0.3


def test_documents_of_one_topic_gain_nothing():
    data = asked_plainly()
    same = replace(data, states=np.repeat(data.states[::5], 5, axis=0))
    first, second = ranked(same, [Second("best", [pooling.get("query-top-k", k=1)])], most=30)
    np.testing.assert_allclose(second.figures["mrr"], first.figures["mrr"], atol=1e-6)


def test_seeds_are_averaged_and_each_is_told():
    data = asked_plainly()
    pools = [pooling.get("query-top-k", k=k) for k in (1, 5)]
    _, both = ranked(data, [Second("both", pools)], most=30)
    each = [ranked(data, [Second("", [pool])], most=30)[1] for pool in pools]
    np.testing.assert_allclose(both.seeds, [row.seeds[0] for row in each])
    np.testing.assert_allclose(both.figures["mrr"].mean(), np.mean(both.seeds))


def test_each_step_of_a_training_is_reported_once_done():
    said = []
    study._trained(
        turned(4, seed=3), XPoolRecipe(steps=3), {}, [5], lambda *each: said.append(each)
    )
    assert said == [("training, seed 5", step, 3) for step in (1, 2, 3)]


def test_the_table_has_intervals_and_a_verdict():
    data = asked_plainly()
    rows = ranked(data, [Second("best", [pooling.get("query-top-k", k=1)])], most=30)
    found = records(data, rows, rows)
    mean, low, high = found[1]["over the first"]["mrr"]
    assert low <= mean <= high
    assert found[1]["over the first"]["verdict"] == "better"
    assert found[0]["mrr spliced"] == found[0]["mrr"]
    first, _, best = table(found).splitlines()
    assert first.split()[:3] == ["recall@1", "recall@5", "mrr"]
    assert best.startswith("best")
    assert "better" in best


def test_nothing_kept_is_named():
    with pytest.raises(InputError, match="0 candidates leave nothing"):
        candidates(np.ones((1, 2)), 0)
