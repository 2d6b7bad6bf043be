"""Stitches by hand (facts page 10), and the study in a tiny setting."""

import pytest
import torch

from milepost_lab.data.digits import digits
from milepost_lab.stitch import study
from milepost_lab.stitch.model import (
    Encoder,
    Stitched,
    distil,
    least_squares,
    shared_map,
    stitches,
    tune,
)
from milepost_lab.stitch.study import command


def test_1_paths_and_the_maps_that_they_share():
    assert stitches(3) == [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
    assert [shared_map(j, k, 3) for j, k in stitches(3)] == [0, 0, 0, 0, 1, 1, 1]
    assert [len(stitches(depth)) for depth in (6, 9, 12)] == [16, 25, 34]


def test_6_least_squares():
    x = torch.tensor([[0.0], [1], [2]])
    for y, wanted in (([1.0, 3, 5], (2, 1)), ([-1.0, 3, 7], (4, -1))):
        weight, bias = least_squares(x, torch.tensor(y)[:, None])
        assert (weight.item(), bias.item()) == pytest.approx(wanted, abs=1e-5)


def images(count=20):
    torch.manual_seed(0)
    return torch.rand(count, 16, 4), torch.randint(10, (count,))


def test_equal_copies_with_an_identity_between_them_are_the_model():
    model = Encoder(8, 3, 2).eval()
    made = Stitched(model, model, "random", images()[0]).eval()
    for linear in made.between:
        torch.nn.init.eye_(linear.weight)
        torch.nn.init.zeros_(linear.bias)
    for j in range(2):
        found = made(images()[0], (j, j + 1))
        torch.testing.assert_close(found, model(images()[0]), rtol=1e-4, atol=1e-5)


def test_the_maps_of_distillation_are_trained():
    teacher, student = Encoder(8, 6, 2), Encoder(4, 3, 2)
    torch.manual_seed(1)
    made = distil(student, teacher, *images(), steps=2, seed=0)
    assert made.matched == [1, 3, 5]
    torch.manual_seed(1)
    fresh = [torch.nn.Linear(8, 4).weight for _ in range(3)]
    for linear, begun in zip(made.to_student, fresh, strict=True):
        assert not torch.allclose(linear.weight, begun)


def test_tuning_moves_paths_and_sizes_grow_with_wide_blocks():
    made = Stitched(Encoder(4, 3, 2), Encoder(8, 3, 2), "least squares", images()[0])
    before = made.between[0].weight.clone()
    tune(made, *images(), steps=9, seed=0)
    assert not torch.equal(before, made.between[0].weight)
    assert made.size((0, 0)) > made.size((2, 2)) > made.size("narrow")


def test_the_study_runs(run_study, monkeypatch):
    monkeypatch.setattr(study, "digits", lambda: [each[:200] for each in digits()])
    monkeypatch.setattr(study, "TRAINED", 120)
    found = run_study(command, "--steps", 1, "--tuning", 1, "--seeds", 2)
    assert len(found["rows"]) == 5 * 9
    assert 0 <= found["ancestor"] <= 1
