"""X-Pool in training: the loss by hand (facts page 03), and something to learn."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.pooling.xpool import pair_scores  # noqa: E402
from milepost_lab.xpool.study import Second, ranked  # noqa: E402
from milepost_lab.xpool.training import MOST_SCALE, XPoolRecipe, batch_scores, both_ways, train  # noqa: E402
from milepost_train.losses.contrast import each_against_negatives  # noqa: E402
from support.landmark_collections import turned  # noqa: E402

pytestmark = pytest.mark.torch


def test_the_loss_of_check_5():
    identity = both_ways(torch.eye(2), torch.tensor(math.log(2)))
    assert identity.item() == pytest.approx(0.126928011, abs=1e-6)
    scores, scale = torch.tensor([[0.9, 0.1], [0.8, 0.7]]), torch.tensor(math.log(10))
    right = torch.eye(2, dtype=torch.bool)
    one, other = (each_against_negatives(10 * s, right, ~right, 1.0) for s in (scores, scores.T))
    assert one.item() == pytest.approx(0.656798547, abs=1e-6)
    assert other.item() == pytest.approx(0.157868686, abs=1e-6)
    assert both_ways(scores, scale).item() == pytest.approx(0.407333617, abs=1e-6)


def test_the_scale_ends_at_100_as_in_check_8():
    assert pytest.approx(4.605170186) == MOST_SCALE
    scores = torch.tensor([[0.9, 0.1], [0.8, 0.7]])
    at_most, beyond = (both_ways(scores, torch.tensor(value)) for value in (math.log(100), 9.0))
    torch.testing.assert_close(beyond, at_most)


def test_training_and_search_score_alike():
    data = turned(4, seed=0)
    made = module("xpool", 8, query_width=8, shared_norm=False, start="random")
    states, lengths = torch.from_numpy(data.states).view(4, 5, 8), torch.full((4,), 5)
    found = batch_scores(made, torch.from_numpy(data.queries), states, lengths)
    wanted = pair_scores(made.reference(), data.queries, data.states, data.lengths)
    np.testing.assert_allclose(found.detach().numpy(), wanted, atol=1e-5)


def test_it_learns_a_turn_of_the_space_that_it_begins_without():
    recipe = XPoolRecipe(steps=100, rate=1e-2)
    made, losses = train(turned(200, seed=1), recipe, 0)
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])
    fresh = turned(40, seed=2)
    seconds = [Second("begun", [pooling.get("xpool")]), Second("trained", [made.reference()])]
    _, begun, trained = ranked(fresh, seconds, most=40)
    assert trained.figures["mrr"].mean() > begun.figures["mrr"].mean() + 0.2
    assert not made.training


def test_the_same_seed_trains_the_same_and_another_another():
    data, recipe = turned(20, seed=1), XPoolRecipe(steps=3, landmarks=3)
    one, same, other = (train(data, recipe, seed)[1] for seed in (0, 0, 1))
    assert one == same
    assert one != other
    hurt = [train(data, recipe, 0, settings={"dropout": 0.5})[1] for _ in range(2)]
    assert hurt[0] == hurt[1] != one


def test_questions_about_one_document_teach_nothing():
    with pytest.raises(InputError, match="one document teach nothing"):
        train(turned(1, seed=0), XPoolRecipe(steps=1), 0)
