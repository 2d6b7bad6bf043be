"""A small patch transformer that ends in any pooling."""

import sys
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("sklearn", reason="needs the lab extra")

from milepost.errors import InputError, MissingExtra  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.data import digits as lab  # noqa: E402
from milepost_lab.data.digits import (  # noqa: E402
    DigitReader,
    DigitRecipe,
    digits,
    patched,
    train_digits,
)
from milepost_lab.model.pooling import module  # noqa: E402

pytestmark = pytest.mark.torch
SHORT = DigitRecipe(rounds=5, batch=60)


def test_patches_lie_as_they_are_read():
    image = torch.arange(64.0).view(1, 8, 8)
    cut = patched(image)
    assert cut.shape == (1, 16, 4)
    assert cut[0, 0].tolist() == [0, 1, 8, 9]
    assert cut[0, 1].tolist() == [2, 3, 10, 11]
    assert cut[0, 4].tolist() == [16, 17, 24, 25]


def test_digits_are_all_there_and_each_kind_on_both_sides():
    images, kinds = digits()
    assert images.shape == (1797, 8, 8)
    assert 0 <= images.min() < images.max() <= 1
    assert set(kinds[: lab.TRAINED].tolist()) == set(kinds[lab.TRAINED :].tolist())


def test_five_rounds_tell_more_than_guessing_and_shuffled_labels_nothing():
    outcome = train_digits("mean", recipe=SHORT)
    assert len(outcome.right) == 597
    assert outcome.accuracy == pytest.approx(sum(outcome.right) / 597)
    assert outcome.accuracy > 0.4
    assert train_digits("mean", recipe=SHORT, guess=True).accuracy < 0.25


def test_a_seed_gives_the_same_and_leaves_the_caller_s_numbers_alone():
    few = replace(SHORT, rounds=1)
    torch.manual_seed(1)
    wanted = torch.rand(1)
    torch.manual_seed(1)
    first = train_digits("ggem", {"groups": 4}, seed=3, recipe=few)
    assert torch.rand(1) == wanted
    again = train_digits("ggem", {"groups": 4}, seed=3, recipe=few)
    other = train_digits("ggem", {"groups": 4}, seed=4, recipe=few)
    assert first.right == again.right
    assert torch.equal(first.pooling.shift, again.pooling.shift)
    assert not torch.equal(first.pooling.shift, other.pooling.shift)
    assert first.pooling.shift.abs().min() > 0  # the exponents were trained


def test_poolings_over_layers_read_them_all():
    layered = [name for name, row in pooling.names().items() if "layers" in row.needs]
    assert layered
    few = replace(SHORT, rounds=1, batch=400)
    for name in layered:
        assert len(train_digits(name, recipe=few).right) == 597


@pytest.mark.parametrize("name", ["cls", "max", "last", "lmk", "attention", "sketch-moment"])
def test_other_poolings_read_digits_too(name):
    reader = DigitReader(DigitRecipe(), module(name, 32))
    scores = reader(patched(digits()[0][:5]))
    assert scores.shape == (5, 10)
    scores.sum().backward()
    # A token of its own is read by the one pooling that wants it.
    assert (reader.opening.grad is not None) == (name == "cls")


def test_a_pooling_with_queries_is_refused():
    with pytest.raises(InputError, match="mlb reads queries"):
        train_digits("mlb")


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    digits.cache_clear()
    with pytest.raises(MissingExtra, match=r"\./packages/lab"):
        train_digits("mean")


def test_folds_test_other_images_and_all_but_six_are_tested(monkeypatch):
    learned = []
    monkeypatch.setattr(lab, "_train", lambda _, images, *rest: learned.append(images))
    for fold in range(lab.FOLDS):
        train_digits("mean", fold=fold)
    kinds = [{tuple(image.flatten().tolist()) for image in part} for part in learned]
    every = {tuple(image.flatten().tolist()) for image in patched(digits()[0])}
    left = [every - part for part in kinds]
    assert all(len(part) > 590 for part in left)
    assert len(set.union(*left)) == sum(map(len, left)) > 1780
