"""Scorers, tasks and the study in a tiny setting."""

import pytest
import torch

from milepost.errors import InputError
from milepost_lab.bilinear.model import Rows, Scorer, parted, right_of, sized
from milepost_lab.bilinear.study import command, evidence, pairs, planted
from milepost_lab.pooling.fusion import FUSIONS
from milepost_lab.runner import Run
from milepost_lab.training import parameters
from support.landmark_collections import write_task


def test_a_known_score_is_where_training_begins():
    base = torch.tensor([[0.3, 0.1]])
    real = torch.tensor([[True, False]])
    rows = Rows(torch.randn(1, 1, 4), torch.randn(1, 2, 4), real, ("a",), base, real)
    scores = Scorer(FUSIONS["mlb"](4, 4, out=1), 1, adds=True)(rows)
    assert scores[0, 0].item() == pytest.approx(6)
    assert scores[0, 1].item() == -torch.inf
    assert right_of(scores, rows) == [1]


@pytest.mark.parametrize("name", [name for name in FUSIONS if name not in ("concat", "mcb")])
def test_fusions_come_close_to_the_budget(name):
    made = FUSIONS[name](16, 16, **sized(name, 16, 16, 4000))
    assert 0.8 * 4000 < parameters(made) <= 4000


def test_a_product_is_planted_and_no_cluster_is_in_both_parts():
    train, _ = planted("product", 1)
    assert 0.45 < train.true.float().mean() < 0.55
    learning, held = parted(train)
    assert not set(learning.clusters) & set(held.clusters)
    assert len(held) == len(train) // 5
    with pytest.raises(InputError, match="odd"):
        pairs("product-2")
    with pytest.raises(InputError, match="unknown task"):
        pairs("products")


def test_evidence_is_among_candidates(tmp_path, monkeypatch):
    from milepost import testing

    monkeypatch.setattr("milepost.load", lambda name: testing.fake_encoder())
    train, _ = evidence(Run(), (write_task(tmp_path / "small"),), "fake", None, 4)
    assert train.y.shape[1] == 4
    assert train.true.any(1).all()
    assert train.real.sum(1).tolist() == [3] * len(train)


@pytest.mark.parametrize("task", ["product-3", "digits"])
def test_the_study_runs(run_study, task, monkeypatch):
    monkeypatch.setattr("milepost_lab.bilinear.study.RATES", (1e-3,))
    found = run_study(command, "--task", task, "--fusion", "mlb", "--steps", 2, "--seeds", 2)
    assert [row["fusion"] for row in found["rows"]] == ["concat-mlp", "hadamard", "mlb"]
