"""X-Pool: scores, loss and training by hand (facts page 03), and the study."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from milepost.errors import InputError
from milepost_lab.pooling import module
from milepost_lab.pooling.base import padded
from milepost_lab.runner import Run
from milepost_lab.xpool.model import Recipe, batch_scores, loss, pair_scores, train
from milepost_lab.xpool.study import command, figures, first_stage, measure, mid_ranks, second_stage
from support.landmark_collections import turned, write_task


def test_the_loss_of_check_5():
    assert loss(torch.eye(2), torch.tensor(math.log(2))).item() == pytest.approx(0.126928011)
    scores = torch.tensor([[0.9, 0.1], [0.8, 0.7]])
    assert loss(scores, torch.tensor(math.log(10))).item() == pytest.approx(0.407333617, abs=1e-6)


def test_equal_scores_get_the_middle_rank_where_check_6_has_0_to_2():
    scores = np.array([[0.9, 0.1, 0.2], [0.8, 0.7, 0.1], [0.3, 0.3, 0.3]])
    ranks = mid_ranks(scores, np.arange(3))
    assert ranks.tolist() == [1, 2, 2]
    constant = figures(mid_ranks(np.zeros((3, 3)), np.arange(3)))
    assert constant["recall@1"].sum() == 0
    assert constant["mrr"].tolist() == [0.5] * 3


def test_training_and_search_score_alike():
    data = turned(4, seed=0)
    made = module("xpool", 8, shared_norm=False, start="random")
    states, mask = padded([torch.from_numpy(text) for text in data.texts()])
    found = batch_scores(made, torch.from_numpy(data.queries), states, mask)
    np.testing.assert_allclose(found.detach().numpy(), pair_scores(made, data), atol=1e-5)


def asked_plainly(documents=30):
    data = turned(documents, seed=3)
    rows = [data.document(n)[data.evidence[n][0]] for n in range(documents)]
    return replace(data, queries=np.stack(rows))


def best():
    return module("query-top-k", 8, k=1)


def test_the_best_landmark_finds_what_the_mean_drowns():
    data = asked_plainly()
    assert (second_stage(best(), data, 30) == 1).all()
    assert (mid_ranks(first_stage(data), data.answers) == 1).mean() < 0.9
    assert (second_stage(best(), data, 30, others=True) == 1).mean() < 0.7


def test_what_the_first_stage_loses_stays_lost():
    data = asked_plainly()
    first, second = mid_ranks(first_stage(data), data.answers), second_stage(best(), data, 2)
    lost = first > 2
    assert lost.any()
    np.testing.assert_array_equal(second[lost], first[lost])
    assert (second[~lost] == 1).all()


def test_it_learns_a_turn_of_the_space():
    made, losses = train(turned(200, seed=1), Recipe(steps=100, rate=1e-2), 0)
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])
    fresh = turned(40, seed=2)
    begun = (1 / second_stage(module("xpool", 8), fresh, 40)).mean()
    assert (1 / second_stage(made, fresh, 40)).mean() > begun + 0.2


def test_the_same_seed_trains_the_same_and_one_document_teaches_nothing():
    data, recipe = turned(20, seed=1), Recipe(steps=3, landmarks=3)
    one, same, other = (train(data, recipe, seed)[1] for seed in (0, 0, 1))
    assert one == same != other
    with pytest.raises(InputError, match="about one document"):
        train(turned(1, seed=0), recipe, 0)


def test_the_study_has_a_row_for_every_ranking():
    report = measure(Run([0, 1]), turned(40, seed=1), turned(10, seed=2), Recipe(steps=2), 5, 0.5)
    names = [row["ranking"] for row in report.rows]
    assert names[0] == "mean of landmarks"
    assert names[-2:] == ["xpool", "xpool for another question"]
    assert report.rows[0]["over the first"] is None
    assert all(0 <= row["MRR"].mean <= 1 and row["spliced"] is not None for row in report.rows)
    assert 0 <= report.record["ceiling"] <= 1


def test_the_command_reads_a_task_and_names_one_without_training_questions(
    tmp_path, model, run_study
):
    task = write_task(tmp_path / "small")
    assert run_study(command, task, "--steps", 2, *model)["ceiling"] == 1
    task = write_task(tmp_path / "other", splits=("dev",))
    with pytest.raises(InputError, match="no train question"):
        run_study(command, task, "--steps", 2, *model)
