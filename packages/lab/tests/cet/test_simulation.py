"""The generated world of coupled estimation: the published form fails, separate features do not."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.cet import simulation as coupled  # noqa: E402
from milepost_lab.cet.product import Logistic, logistic  # noqa: E402
from milepost_lab.cet.simulation import ARMS, area, compare, published, world  # noqa: E402


def test_the_world_is_the_one_of_the_page():
    """A fifth to a quarter of the unlabelled items are relevant; rho is the correlation."""
    for rho in (0.0, 0.6):
        made = world(rho, 1, 20000)
        assert np.corrcoef(made.text[:, 0], made.score[:, 0])[0, 1] == pytest.approx(rho, abs=0.02)
        assert made.score.std() == pytest.approx(1.0, abs=0.02)
        assert 0.19 < made.relevant[made.labels == 0].mean() < 0.26
        assert (made.labels <= made.relevant).all()
    again = world(0.6, 1, 20000)
    assert (again.labels == made.labels).all()
    assert (world(0.6, 2, 20000).labels != made.labels).any()


def test_own_features_repair_what_the_published_form_does_not():
    """Known results within their spread: AUC .839 / .838 / .850 / .851 and the bias at rho 0.6."""
    told = {(arm.rho, arm.name): arm for arm in compare(seeds=1)}
    assert set(told) == {(rho, name) for rho in (0.0, 0.6) for name in ARMS}
    for rho, known in (
        (0.0, {"naive": 0.850, "published": 0.850, "coupled": 0.850, "oracle": 0.851}),
        (0.6, {"naive": 0.839, "published": 0.838, "coupled": 0.850, "oracle": 0.851}),
    ):
        for name, value in known.items():
            assert told[rho, name].area == pytest.approx(value, abs=0.01)
        # The two published models end as one.
        assert told[rho, "published"].apart < 1e-3
    hard = {name: told[0.6, name] for name in ARMS}
    assert hard["coupled"].area > hard["published"].area + 0.008
    assert hard["naive"].bias == pytest.approx(-0.17, abs=0.02)
    assert hard["published"].bias == pytest.approx(-0.21, abs=0.02)
    assert abs(hard["coupled"].bias) < 0.02


def test_the_published_roles_swap():
    """Exchanged starts give exchanged ends: nothing tells relevance from selection."""
    made = world(0.6, 3, 500)
    one, other = Logistic(np.full(5, 0.1), 0.0), Logistic(np.full(5, -0.2), 0.5)
    first, second = published(made.text, made.labels, (one, other))
    swapped = published(made.text, made.labels, (other, one))
    np.testing.assert_allclose(first.weights, swapped[1].weights, atol=1e-9)
    np.testing.assert_allclose(second.weights, swapped[0].weights, atol=1e-9)


def test_no_weight_of_the_published_arm_is_bounded(monkeypatch):
    """One round by hand, under weights beyond 1 + exp(5)."""
    monkeypatch.setattr(coupled, "_ROUNDS", 1)
    made, start = world(0.6, 3, 500), Logistic(np.full(5, 1.0), 8.0)
    weights = 1 + np.exp(start.logits(made.text) / 2)
    assert weights.max() > 1 + np.exp(5)
    counted = np.where(made.labels > 0, 1.0, weights)
    wanted = logistic(made.text, made.labels, counted, start=start)
    for found in published(made.text, made.labels, (start, start)):
        np.testing.assert_allclose(found.weights, wanted.weights)


def test_the_area_counts_pairs():
    """Against every pair one by one, ties half."""
    random = np.random.default_rng(0)
    scores, truth = random.integers(0, 6, 50).astype(float), random.random(50) < 0.4
    pairs = [(a > b) + 0.5 * (a == b) for a in scores[truth] for b in scores[~truth]]
    assert area(scores, truth.astype(float)) == pytest.approx(np.mean(pairs))
