"""Weights and EM by hand (facts page 11), and the study."""

import numpy as np
import pytest
import torch

from milepost import testing
from milepost_lab.cet.model import (
    fit_product,
    likelihood,
    logistic,
    posterior,
    published_weights,
    weighted_pairs,
)
from milepost_lab.cet.study import ARMS, command, measured, pairs, world
from support.landmark_collections import turned, write_task


def test_1_published_weights():
    for score, temperature, wanted in (
        (0, 2, 2),
        (2, 2, 3.718282),
        (2, 10, 2.221403),
        (-4, 2, 1.135335),
        (20, 10, 8.389056),
        (20, 1, 485165196),
    ):
        found = published_weights(torch.tensor(float(score)), temperature).item()
        assert found == pytest.approx(wanted, rel=1e-6)


def test_3_normalised_and_not():
    weights = published_weights(torch.tensor([0.0, 2, -4]), 2)
    losses = torch.tensor([0.2, 1.0, 0.05])
    negative = torch.log(torch.expm1(losses))  # softplus of it is the loss
    plain = weighted_pairs(torch.zeros(3), negative, weights, own=False)
    assert plain.item() == pytest.approx(1.391683, abs=1e-5)
    own = weighted_pairs(torch.zeros(3), negative, weights, own=True)
    assert own.item() == pytest.approx(0.609174, abs=1e-5)


def test_5_posterior_weights_are_unbiased():
    s = np.array([0.1, 0.5, 0.9])
    found = posterior(np.full(3, 0.6), s)
    np.testing.assert_allclose(found, [0.425532, 0.571429, 0.869565], atol=1e-6)
    r, s = np.array([0.9, 0.6, 0.1, 0]), np.array([0.2, 0.5, 0.5, 0.9])
    loss = np.array([2, 1, 0.5, 0.25])
    unlabelled = (1 - r * s) * loss
    assert (posterior(r, s) * unlabelled).sum() == pytest.approx(1.3)
    assert unlabelled.sum() == pytest.approx(3.065)
    assert (unlabelled / (1 - s)).sum() == pytest.approx(6.9)


def test_em_raises_the_likelihood_and_removes_the_bias():
    text, score, chances, _, labels = world(0.6, 0, 4000)
    naive = logistic(text, labels)
    before = likelihood(naive(text), np.full(len(text), 0.999), labels)
    relevance, selection = fit_product(text, score, labels)
    assert likelihood(relevance(text), selection(score), labels) > before
    assert abs((relevance(text) - chances).mean()) < 0.05
    assert (naive(text) - chances).mean() < -0.1


def test_hidden_answers_are_marked_for_the_oracle():
    data = turned(20, seed=0)
    several = [tuple({0, 1, places[0]}) for places in data.evidence]
    object.__setattr__(data, "evidence", tuple(several))
    queries, positives, negatives, hidden = pairs(data, [*range(20)], "random",
                                                  np.random.default_rng(0))  # fmt: skip
    assert queries.shape == positives.shape == negatives.shape
    assert 0 < hidden.float().mean() < 1


def test_ranking_is_measured_over_a_document():
    data = turned(4, seed=0)
    perfect = [
        measured(lambda q, x, n=n: torch.eye(5)[data.evidence[n][0]], data)[n] for n in range(4)
    ]
    assert perfect == [1, 1, 1, 1]


def test_the_generated_study_runs(run_study):
    found = run_study(command, "--items", 500, "--rho", 0.6, "--seeds", 1)
    assert [row["arm"] for row in found["rows"]] == [*ARMS]


def test_the_study_of_rankers_runs(run_study, tmp_path, monkeypatch):
    monkeypatch.setattr("milepost.load", lambda name: testing.fake_encoder())
    task = write_task(tmp_path / "small")
    questions = (task / "questions.jsonl").read_text()
    (task / "questions.jsonl").write_text(questions.replace('"spans": [[', '"spans": [[0, 3], ['))
    found = run_study(command, task, "--steps", 2, "--seeds", 1)
    assert [row["weights"] for row in found["rows"]] == ["none", "published", "posterior", "oracle"]
