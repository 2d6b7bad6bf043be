"""Every row is trained alike, and learns."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from support.small_comparison import small_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.compare.live import LiveStates  # noqa: E402
from milepost_lab.compare.pooled import Pooled  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.recipe import (  # noqa: E402
    CompareRecipe,
    train,
    train_until_flat,
)
from milepost_lab.compare.rows import CompareRow  # noqa: E402
from milepost_lab.compare.scores import figures, scores  # noqa: E402

RECIPE = CompareRecipe(steps=12, batch=12, rate=3e-3, width=16)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), "bert")))


@pytest.fixture(scope="module")
def sides(reader):
    pairs = small_pairs(36)
    return tuple(reader.states([pair[side] for pair in pairs]) for side in (0, 1))


@pytest.mark.parametrize("name", list(pooling.names()))
def test_every_operator_trains_by_the_recipe_and_is_scored(name, sides):
    """The loss falls on what is trained, weights move, and scores are cosines."""
    pooled = Pooled(CompareRow(name), sides[1], 3, RECIPE.width)
    before = {key: value.clone() for key, value in pooled.named_parameters()}
    losses = train(pooled, *sides, RECIPE, 3)
    assert len(losses) == RECIPE.steps
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    assert all(not torch.equal(value, before[key]) for key, value in pooled.named_parameters())
    found = scores(pooled, *sides)
    assert found.shape == (36, 36)
    assert np.abs(found).max() <= 1.0001


def test_powers_have_a_rate_of_their_own_and_a_centre_begins_in_the_middle(sides):
    """One step of Adam moves a weight by its rate, here the whole of it after the warm-up."""
    for name, rate in (("ggem", 1e-2), ("ponet", RECIPE.rate)):
        pooled = Pooled(CompareRow(name), sides[1], 1, RECIPE.width)
        before = {key: value.clone() for key, value in pooled.pool.named_parameters()}
        train(pooled, *sides, replace(RECIPE, steps=1), 1)
        for key, value in pooled.pool.named_parameters():
            assert (value - before[key]).abs().max().item() == pytest.approx(rate, rel=0.05)
    centre = Pooled(CompareRow("sketch-moment"), sides[1], 1, RECIPE.width).pool.weight("centre")
    middle = sides[1].tokens.astype(np.float64).mean(0)
    np.testing.assert_allclose(centre.detach().numpy(), middle, atol=1e-6)


def test_the_same_seed_gives_the_same_figures(sides):
    found = []
    for _ in range(2):
        pooled = Pooled(CompareRow("attention"), sides[1], 1, RECIPE.width)
        found.append((train(pooled, *sides, RECIPE, 1), scores(pooled, *sides)))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_dropout_is_of_training_alone_and_drawn_by_the_seed(sides):
    """Trained twice it is the same whatever was drawn before, and scores are not drawn."""
    found = []
    for drawn in (0, 1):
        torch.manual_seed(drawn)
        pooled = Pooled(CompareRow("xpool", (("dropout", 0.5),)), sides[1], 1, RECIPE.width)
        losses = train(pooled, *sides, RECIPE, 1)
        once, again = scores(pooled, *sides), scores(pooled, *sides)
        np.testing.assert_array_equal(once, again)
        found.append((losses, once))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    without = Pooled(CompareRow("xpool"), sides[1], 1, RECIPE.width)
    assert train(without, *sides, RECIPE, 1) != found[0][0]


def test_heads_begin_alike_for_operators_of_one_width(sides):
    heads = [
        Pooled(CompareRow(name), sides[1], 4, 16).text.weight for name in ("mean", "max", "cls")
    ]
    assert all(torch.equal(heads[0], head) for head in heads[1:])
    other = Pooled(CompareRow("mean"), sides[1], 5, 16).text.weight
    assert not torch.equal(heads[0], other)


def test_equal_poolings_are_trained_to_the_same_numbers(sides):
    """``attention`` of an endless temperature is the mean, and stays it: batches are the same."""
    rows = CompareRow("mean"), CompareRow("attention", (("temperature", 1e9),))
    found = []
    for row in rows:
        pooled = Pooled(row, sides[1], 0, RECIPE.width)
        train(pooled, *sides, RECIPE, 0)
        found.append(scores(pooled, *sides))
    np.testing.assert_allclose(*found, atol=1e-4)


def test_without_heads_scores_are_cosines_of_what_is_pooled(sides):
    pooled = Pooled(CompareRow("mean"), sides[1], 0, None)
    vectors = [side.means() for side in sides]
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in vectors]
    np.testing.assert_allclose(scores(pooled, *sides), unit[0] @ unit[1].T, atol=1e-4)


class InPlace(torch.nn.Module):
    """The mean of unit states, by norms that are changed where the gradient needs them."""

    def __init__(self, width):
        super().__init__()

    def forward(self, states, mask):
        norms = states.exp()
        norms += 1
        return (states / norms * mask[..., None]).sum(1)


def test_a_backward_pass_that_fails_below_a_trained_network_is_named(reader, sides, monkeypatch):
    """It has no weights, so nothing goes back through it as long as states are frozen."""
    monkeypatch.setattr("milepost_lab.pooling.registry._REGISTERED", {})
    pooling.register("in-place", InPlace)
    pooled = Pooled(CompareRow("in-place"), sides[1], 1, RECIPE.width)
    recipe = replace(RECIPE, steps=1, network="full")
    assert train(pooled, *sides, recipe, 1)
    twin = reader.trainable("full")
    live = tuple(LiveStates(twin, side) for side in zip(*small_pairs(12), strict=True))
    among = {"among": range(12), "network": twin.model}
    until_flat = partial(train_until_flat, pooled, live, recipe, 1, print, held=[0, 1], **among)
    for trained in (partial(train, pooled, *live, recipe, 1, **among), until_flat):
        with pytest.raises(InputError, match=r"^in-place fails in its backward pass: RuntimeErr"):
            trained()


class Asking(torch.nn.Module):
    """The mean, weighted by the query: what an operator that reads one looks like."""

    def __init__(self, row):
        super().__init__()
        self.operator = row

    def forward(self, states, lengths, queries, segments):
        mask = torch.arange(states.shape[1])[None, None] < lengths[:, None, None]
        several = queries if queries.ndim == 3 else queries[:, None]
        scores = (several @ states.transpose(1, 2)).masked_fill(~mask, -torch.inf)
        pooled = scores.softmax(2) @ states
        return pooled if queries.ndim == 3 else pooled[:, 0]


def test_an_operator_with_a_query_scores_pairs(sides, monkeypatch):
    """Each text under each query: as if every pair had been pooled alone."""
    asking = replace(
        pooling.names()["mean"], name="asking", needs=frozenset({"queries"}), single="other"
    )
    monkeypatch.setattr(CompareRow, "known", property(lambda _: asking))
    monkeypatch.setattr("milepost_lab.compare.pooled.module", lambda *_, **__: Asking(asking))
    pooled = Pooled(CompareRow("asking"), sides[1], 0, RECIPE.width)
    assert pooled.reads == "landmarks"
    assert pooled.query is not pooled.text
    losses = train(pooled, *sides, RECIPE, 0)
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    found = scores(pooled, *sides)
    means = torch.from_numpy(sides[0].means())
    with torch.no_grad():
        for query, text in ((0, 0), (5, 20), (35, 2)):
            vector = pooled.text(pooled.pooled(sides[1].some([text], "landmarks"), means[[query]]))
            alone = torch.cosine_similarity(pooled.query(means[[query]]), vector)
            np.testing.assert_allclose(found[query, text], alone.item(), atol=1e-5)


def test_figures_of_a_ranking():
    """Right at ranks 1, 3 and 12; equal scores do not help."""
    found = np.zeros((4, 12), np.float32)
    found[0, 4] = 1
    found[1, :] = np.arange(12, 0, -1)
    found[2, :] = np.arange(12, 0, -1)
    told = figures(found, [4, 2, 11, 0])
    np.testing.assert_allclose(told["ndcg@10"], [1.0, 0.5, 0.0, 0.0])
    assert told["first"] == (1.0, 0.0, 0.0, 0.0)
