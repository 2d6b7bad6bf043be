"""The digit reader, and the study in a tiny setting."""

import torch

from milepost_lab.ggem.model import Recipe, patches, train_digits
from milepost_lab.ggem.study import ARMS, PAIRS, command


def test_patches_go_from_left_to_right_and_top_to_bottom():
    cut = patches(torch.arange(64.0).view(1, 8, 8))
    assert cut.shape == (1, 16, 4)
    assert cut[0, 0].tolist() == [0, 1, 8, 9]
    assert cut[0, 1].tolist() == [2, 3, 10, 11]
    assert cut[0, 4].tolist() == [16, 17, 24, 25]


def test_it_learns_and_moves_the_exponents():
    right, pooling = train_digits("ggem", {"groups": 4}, recipe=Recipe(rounds=6))
    assert len(right) == 597
    assert sum(right) / len(right) > 0.4
    assert (pooling.exponents() - 3).abs().max() > 0.05


def test_the_study_runs(run_study, tmp_path):
    args = ("--rounds", 1, "--folds", 1, "--seeds", 1, "--out", tmp_path / "out")
    found = run_study(command, *args)
    names = [row["arm"] for row in found["rows"]]
    assert names == [*ARMS, *(f"{a} - {b}" for a, b in PAIRS)]
    assert run_study(command, *args)["rows"] == found["rows"]
