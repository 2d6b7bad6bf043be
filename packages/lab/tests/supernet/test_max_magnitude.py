"""Max-magnitude pairs need a maximum: no block can read what a mean loses."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.pooling.hierarchy import halved  # noqa: E402
from milepost_lab.supernet import tasks  # noqa: E402
from milepost_lab.supernet.architectures import Architecture  # noqa: E402
from milepost_lab.supernet.learner import alone  # noqa: E402
from milepost_lab.supernet.max_magnitude import (  # noqa: E402
    LARGE,
    LENGTH,
    SMALL,
    SYMBOLS,
    WIDTH,
    max_magnitude_pairs,
)
from milepost_lab.supernet.tasks import task  # noqa: E402

pytestmark = pytest.mark.torch


def pairs(states):
    return states.reshape(len(states), LENGTH // 2, 2, WIDTH)


def heard(states):
    """Symbol and unevenness of each pair, ``(texts, pairs)``; -1 where two symbols make it."""
    symbols = pairs(states)[..., :SYMBOLS].argmax(-1)
    size = np.linalg.norm(pairs(states), axis=-1)
    same = np.where(symbols[..., 0] == symbols[..., 1], symbols[..., 0], -1)
    return same, size.max(-1) / size.min(-1) > 3


def turned(states):
    """The same texts, but that the two pairs of 0 are uneven in each other's place."""
    symbols, uneven = heard(states)
    other = pairs(states).copy()
    for row, text in enumerate(other):
        first, second = np.flatnonzero(symbols[row] == 0)
        was, now = (first, second) if uneven[row, first] else (second, first)
        text[was] = text[was].mean(0)
        text[now] *= np.array([[LARGE], [SMALL]])
    return other.reshape(states.shape).astype("f4")


def test_the_uneven_pair_of_the_class_comes_first_or_second():
    states, classes = max_magnitude_pairs(300, np.random.default_rng(0))
    symbols, uneven = heard(states)
    for row, kind in enumerate(classes):
        places = np.flatnonzero(symbols[row] == 0)
        assert len(places) == 2
        assert uneven[row, places].tolist() == ([True, False] if kind else [False, True])
        assert sorted(uneven[row, symbols[row] == 1]) == [False, True]
    assert not uneven[symbols == 2].any()
    assert 110 < classes.sum() < 190
    again, turned_classes = turned(states), 1 - classes
    first = heard(again)[1][heard(again)[0] == 0].reshape(-1, 2)[:, 0]
    np.testing.assert_array_equal(first, turned_classes == 1)


def test_means_of_pairs_are_the_same_for_both_classes_and_maxima_are_not():
    states, _ = max_magnitude_pairs(50, np.random.default_rng(1))
    both = [each.reshape(-1, WIDTH).astype("f8") for each in (states, turned(states))]
    lengths = np.full(50, LENGTH)
    means = [halved(each, lengths, "mean")[0] for each in both]
    np.testing.assert_allclose(*means, atol=1e-6)
    # Tokens that differ in magnitude alone have the same score: attention is a mean.
    score = np.random.default_rng(2).standard_normal(WIDTH)
    attended = [halved(each, lengths, "attention", score)[0] for each in both]
    np.testing.assert_allclose(*attended, atol=1e-3)
    maxima = [halved(each, lengths, "max")[0] for each in both]
    assert (np.abs(maxima[0] - maxima[1]).max(1) > 0.5).sum() == 100  # both pairs of each text


def test_one_block_before_a_mean_leaves_no_net_a_way_to_tell(monkeypatch):
    """Whatever the weights: a first mean after one block is blind, all else is not."""
    monkeypatch.setattr(tasks, "SIZES", dict.fromkeys(tasks.SIZES, 8))
    made = task("max-magnitude")
    states, _ = max_magnitude_pairs(20, np.random.default_rng(3))
    both = [torch.from_numpy(each) for each in (states, turned(states))]
    torch.manual_seed(0)
    net = made.net()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(0.5 * torch.randn(weight.shape))
        for each in made.architectures:
            first, second = (net(some, each) for some in both)
            gap = float((first - second).abs().max() / first.std())
            blind = each.placement[0] == 1 and each.joins[0] == "mean"
            assert gap < 0.001 if blind else gap > 0.01, each


def test_trained_alone_a_net_with_the_planted_join_learns(monkeypatch):
    """With one block before it, where a mean leaves a coin."""
    monkeypatch.setattr(tasks, "SIZES", {**tasks.SIZES, "train": 2048})
    made = task("max-magnitude")
    maximum = Architecture((1, 1, 3), ("max", "max"))
    assert alone(made, maximum, 0, 250).accuracy(maximum, made.test) > 0.8
