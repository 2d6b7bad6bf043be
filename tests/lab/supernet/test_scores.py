"""Running means of what nets gave, by hand: what was never measured is unknown."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.lab.supernet.scores import Scores, noise  # noqa: E402

pytestmark = pytest.mark.torch


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


def filled(cells):
    table = Scores(3, 2)
    for (placement, net), score in cells.items():
        table.add(placement, net, score)
    return table


KNOWN = {(0, 0): 0.84, (0, 1): 0.85, (1, 0): 0.84, (2, 0): 0.83, (2, 1): 0.82}


def test_what_was_never_measured_wins_nothing():
    table = filled(KNOWN)
    assert np.isnan(table.values[1, 1])
    assert table.best() == (0, 1)


def test_the_best_placement_comes_with_the_net_that_is_best_with_it():
    assert filled(KNOWN | {(1, 0): 0.86}).best() == (1, 0)


def test_a_cell_needs_its_measurements():
    table = filled(KNOWN)
    table.add(2, 0, 0.83)
    assert table.best(least=2) == (2, 0)


def test_later_measurements_weigh_more():
    table = Scores(1, 1)
    for score in (0.0, 1.0):
        table.add(0, 0, score)
    assert table.values[0, 0] == pytest.approx(0.1 / 0.19)


def test_noise_of_one_batch_and_of_a_running_mean():
    assert noise(0.8, 128, decay=0.0) == pytest.approx(0.0354, abs=1e-4)
    assert noise(0.8, 128) == pytest.approx(0.0081, abs=1e-4)
