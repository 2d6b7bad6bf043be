"""Placements, balance and scores by hand (facts page 12), and the study in a tiny setting."""

import math

import numpy as np
import pytest
import torch

from milepost.errors import InputError
from milepost_lab.supernet import study
from milepost_lab.supernet.model import (
    ImageNet,
    Scores,
    TextNet,
    balanced,
    noise,
    placements,
    search,
    unevenness,
)
from milepost_lab.supernet.study import command, make_task


def test_1_placements():
    assert [len(placements(*each)) for each in ((10, 2), (16, 3), (8, 3))] == [36, 455, 35]
    found = placements(10, 2)
    assert [found[n - 1] for n in (24, 28, 29, 34)] == [(4, 3, 3), (5, 2, 3), (5, 3, 2), (7, 1, 2)]


def test_2_balance():
    logs = np.log([[0.8, 0.2], [0.6, 0.4]])
    assert unevenness(logs) == pytest.approx(0.0822829, abs=1e-6)
    once, _ = balanced(logs, rounds=1)
    np.testing.assert_allclose(
        np.exp(once), [[0.631579, 0.368421], [0.391304, 0.608696]], atol=1e-6
    )
    assert unevenness(once) == pytest.approx(2.618e-4, abs=1e-6)
    assert balanced(logs)[1] == 2


def test_4_scores_are_corrected_for_their_start():
    scores = Scores(1, 2)
    for _ in range(10):
        scores.add(0, 0, 0.8)
        assert scores.values[0, 0] == pytest.approx(0.8)
    assert math.isnan(scores.values[0, 1])
    assert noise(0.8, 128) == pytest.approx(0.0081, abs=1e-4)


@pytest.mark.parametrize(
    ("net", "inputs"),
    [(TextNet(8, 6, 2), torch.randn(3, 32, 8)), (ImageNet(8, 6, 4), torch.randn(3, 1, 16, 16))],
)
def test_one_net_serves_every_placement(net, inputs):
    found = [net(inputs, placement) for placement in placements(6, 2)]
    assert not torch.allclose(found[0], found[-1])
    torch.testing.assert_close(net(inputs[:1], (2, 2, 2)), net(inputs, (2, 2, 2))[:1])


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(study, "SIZES", dict.fromkeys(study.SIZES, 32))
    monkeypatch.setattr(study, "LAYERS", 3)


@pytest.mark.parametrize("way", ["learnt", "unbalanced", "fixed", "cost"])
def test_every_assignment_ranks(small, way):
    found = search(make_task("planted"), 1 if way == "cost" else 2, 24, way)
    assert found.shape == (1,)


@pytest.mark.parametrize("task", ["planted", "shapes"])
def test_the_study_runs(run_study, small, monkeypatch, task):
    monkeypatch.setattr(study, "LAYERS", 4)
    found = run_study(command, "--task", task, "--steps", 1, "--budget", 6, "--supernets", "1,2")
    names = [row["method"] for row in found["rows"]]
    assert names[:3] == ["1 net", "2 nets, learnt", "2 nets, fixed"]
    assert len(found["placements"]) == 3
    with pytest.raises(InputError, match="supernets"):
        run_study(command, "--supernets", "9")
