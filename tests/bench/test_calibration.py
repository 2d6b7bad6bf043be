"""The numbers of a passage's chance are found again in data that was made with them."""

from __future__ import annotations

import numpy as np
import pytest

TRUE = (-2.5, 0.4, 0.6)


@pytest.fixture
def fitting(script):
    pytest.importorskip("scipy", reason="needs the eval extra: pip install 'milepost[eval]'")
    return script("fit_ranking")


def made(count, seed):
    """Inputs as ``chances`` gives them, and the chance that follows by the formula."""
    random = np.random.default_rng(seed)
    best = random.normal(0.0, 4.0, count)
    rest = random.gamma(1.0, 2.0, count)
    inputs = np.stack([np.ones(count), best, np.log1p(rest)], axis=1)
    return inputs, 1.0 / (1.0 + np.exp(-inputs @ np.array(TRUE))), random


@pytest.mark.parametrize("seed", [1, 2])
def test_known_numbers_come_back(fitting, seed):
    """From the chances themselves almost exactly; from draws of them, within their spread."""
    inputs, chance, random = made(20_000, seed)
    even = np.ones(len(inputs))
    assert fitting.calibrate(inputs, chance, even) == pytest.approx(TRUE, abs=2e-3)
    drawn = (random.random(len(inputs)) < chance).astype(float)
    assert fitting.calibrate(inputs, drawn, even) == pytest.approx(TRUE, abs=0.15)


def test_a_weight_counts_as_so_many_passages(fitting):
    """Two is twice the same passage; none is no passage."""
    inputs, chance, random = made(2000, 3)
    held = (random.random(2000) < chance).astype(float)
    weights = random.integers(0, 3, 2000)
    times = np.repeat(np.arange(2000), weights)
    weighed = fitting.calibrate(inputs, held, weights.astype(float))
    repeated = fitting.calibrate(inputs[times], held[times], np.ones(len(times)))
    assert weighed == pytest.approx(repeated, abs=2e-3)
    assert weighed != pytest.approx(fitting.calibrate(inputs, held, np.ones(2000)), abs=2e-3)
