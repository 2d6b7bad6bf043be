"""Weights of layers: trained on one half, measured on the other."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.quality import probes  # noqa: E402
from milepost_lab.quality.layers import (  # noqa: E402
    by_pairs,
    evened,
    fit,
    layer_means,
    log_index,
    mixtures,
)
from milepost_lab.quality.separation import centres  # noqa: E402
from milepost_lab.quality.study import draws_of  # noqa: E402
from support.tiny_transformers import TEXT, tiny_folder  # noqa: E402

pytestmark = pytest.mark.torch


def planted(apart, count=120, seed=0):
    """Five layers of noise, the last one loud; the third tells labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    states = rng.standard_normal((count, 5, 16))
    states[:, 2, 0] += apart * labels
    states[:, 4] *= 30
    return states, labels


def test_the_layer_that_tells_labels_gets_the_weight_and_separates_held_out_texts():
    states, labels = planted(2.5)
    made = {one.name: one for one in mixtures(states, labels, np.arange(120))}
    trained, even = made["trained"], made["even"]
    assert trained.weights[2] > 0.9
    assert sum(trained.weights) == pytest.approx(1)
    assert trained.separation > 2 * even.separation
    assert trained.p == 0.01
    assert trained.probe > 0.8
    assert made["layer 3"].separation > made["layer 5"].separation
    assert made["trained on permuted labels"].separation < trained.separation / 2


def test_where_no_layer_tells_labels_training_finds_none_in_held_out_texts():
    """On the texts that it was trained on, the same weights would look better than chance."""
    short = partial(mixtures, groups=np.arange(120), permutations=39, draws=2)
    held = []
    for seed in range(4):
        states, labels = planted(0.0, seed=seed)
        made = {one.name: one for one in short(states, labels, seed=seed)}
        held.append(made["trained"].p)
    assert np.mean(held) > 0.15


def test_the_interval_of_a_mixture_is_that_of_the_report():
    """The same draws of held-out texts, turned about the value: by hand of one layer."""
    states, labels = planted(1.0)
    groups = np.arange(120)
    one = mixtures(states, labels, groups, permutations=9, draws=40, seed=2)[2]
    half = probes.folds(groups, labels, 2, 2)
    held, own = evened(states, half == 0)[half == 1, 2], labels[half == 1]
    drawn = [
        centres(held, own, often).separation for often in draws_of(own, np.arange(len(own)), 40, 2)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
    assert one.separation == pytest.approx(centres(held, own).separation)
    wanted = max(0, 2 * one.separation - high), 2 * one.separation - low
    assert (one.low, one.high) == pytest.approx(wanted)


def test_the_loss_is_the_logarithm_of_the_index():
    states, labels = planted(1.0)
    points = states[:, 0]
    found = log_index(torch.from_numpy(points), torch.eye(2).double()[labels])
    assert found.item() == pytest.approx(-np.log(centres(points, labels).separation))


def test_the_contrastive_loss_by_hand():
    """At 0 and 2 one class, at 3 the other, margin 2: 4 of the same, 0 and 1 of the others."""
    points = torch.tensor([[0.0, 0.0], [2.0, 0.0], [3.0, 0.0]]).double().requires_grad_()
    member = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).double()
    found = by_pairs(points, member, margin=2.0)
    assert found.item() == pytest.approx(5 / 3)
    found.backward()
    # The first draws the second by 2 · 2, and the third pushes it the same way by 2 · (2 - 1).
    assert points.grad[:, 0].tolist() == pytest.approx([-4 / 3, 6 / 3, -2 / 3])


def test_pairs_find_the_layer_that_tells_labels():
    """The contrastive loss takes the third layer, too; the sum is separation times a number."""
    states, labels = planted(4.0)
    made = {one.name: one for one in mixtures(states, labels, np.arange(120), permutations=9)}
    pairs = made["trained by pairs"]
    assert np.argmax(pairs.weights) == 2
    assert pairs.separation > made["even"].separation
    # 30 of 60 held-out texts in each class: CHI = (n - 2) / 4 of separation.
    for one in made.values():
        assert one.aqi == pytest.approx(one.separation * (0.5 + 0.5 * 58 / 4))


def test_layers_are_made_equally_loud_by_the_training_half():
    states, _ = planted(1.0)
    train = np.arange(120) < 60
    even = evened(states, train)
    np.testing.assert_allclose((even[train] ** 2).sum(2).mean(0), 1)
    np.testing.assert_allclose(even[train].mean(0), 0, atol=1e-12)
    changed = states.copy()
    changed[~train] += 100
    np.testing.assert_array_equal(evened(changed, train)[train], even[train])


def test_weights_are_on_the_simplex_and_some_of_them_are_zero():
    states, labels = planted(2.5)
    weights = fit(evened(states, labels >= 0), labels)
    assert weights.min() == 0
    assert weights.sum() == pytest.approx(1)


def test_too_few_texts_of_a_label_are_named():
    states, labels = planted(1.0, count=6)
    with pytest.raises(InputError, match="four texts of each label"):
        mixtures(states, labels, np.arange(6))


def test_means_of_layers_count_every_token_of_texts_of_any_length(tmp_path):
    """A text of several windows has the mean of all its tokens, and none is left out."""
    folder = tiny_folder(tmp_path / "m", "llama")
    short, long = "Bergen", TEXT * 8
    found = layer_means(folder, [short, long])
    assert found.shape == (2, 2, 32)
    np.testing.assert_allclose(layer_means(folder, [long])[0], found[1], rtol=1e-6)
    from milepost_train.model import open_checkpoint

    opened = open_checkpoint(folder, transformers=True)
    ids = opened.tokenizer.encode(long, add_special_tokens=False).ids
    first = [opened.tokenizer.token_to_id(opened.reading.bos_token)]
    longest = opened.model.backbone.max_tokens - 1
    assert len(ids) > 2 * longest
    rows = []
    for start in range(0, len(ids), longest):
        window = torch.tensor([first + ids[start : start + longest]])
        with torch.no_grad():
            rows.append(opened.model.backbone.layers(window, window >= 0)[0, 1:])
    np.testing.assert_allclose(found[1], torch.cat(rows).mean(0), atol=1e-5)
    with pytest.raises(InputError, match="text 0 has no token"):
        layer_means(folder, [""])
