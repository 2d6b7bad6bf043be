"""Running means of what nets gave, by hand: what was never measured is unknown."""

import numpy as np
import pytest

from milepost_lab.supernet.scores import Scores, noise


def test_a_constant_accuracy_is_found_at_once():
    table = Scores(1, 1)
    published = {1: 0.98, 2: 0.962, 5: 0.918098, 10: 0.869736, 30: 0.808478}
    for visit in range(1, 31):
        table.add(0, 0, 0.8)
        assert table.values[0, 0] == pytest.approx(0.8)
        if visit in published:
            # The published table begins at 1 and forgets that as slowly as anything.
            left = 0.9**visit
            assert table.values[0, 0] * (1 - left) + left == pytest.approx(
                published[visit], abs=1e-6
            )
    # At temperature 100 a cell left at 1 would outweigh one visited ten times so much:
    assert np.exp(100 * (1 - 0.869736)) == pytest.approx(454_263, rel=1e-4)


def test_what_was_never_measured_is_unknown():
    table = Scores(2, 1)
    table.add(0, 0, 0.85)
    assert table.values[0, 0] == pytest.approx(0.85)
    assert np.isnan(table.values[1, 0])


def test_later_measurements_weigh_more():
    table = Scores(1, 1)
    for score in (0.0, 1.0):
        table.add(0, 0, score)
    assert table.values[0, 0] == pytest.approx(0.1 / 0.19)


def test_noise_of_one_batch_and_of_a_running_mean():
    assert noise(0.8, 128, decay=0.0) == pytest.approx(0.0354, abs=1e-4)
    assert noise(0.8, 128) == pytest.approx(0.0081, abs=1e-4)
    # Of running means as they are made: the steady state, and twice as much after five.
    rng = np.random.default_rng(0)
    table = Scores(4000, 1)
    for step in range(40):
        for row, drawn in enumerate(rng.binomial(128, 0.8, 4000)):
            table.add(row, 0, drawn / 128)
        if step == 4:
            assert table.values.std() == pytest.approx(0.016, abs=5e-4)
    assert table.values.std() == pytest.approx(0.0081, abs=4e-4)
