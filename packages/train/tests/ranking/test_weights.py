"""The fusion's weights: the interpolated metric, its slope, and which signal it learns."""

import numpy as np
import pytest

from milepost.search.fusion import SIGNALS, Fusion
from milepost_train.ranking.cases import Signals
from milepost_train.ranking.learning import GATES, SHIFTS, found, grid, learn_weights


def asked(landmark, words, evidence, length=400):
    """A question whose scales all have one curve each."""
    n = len(landmark)
    gains = np.zeros(n, np.float32)
    gains[evidence] = 1.0
    return Signals(
        np.ones(len(SIGNALS)),
        np.array([landmark] * 3, np.float32),
        np.array([words] * 3, np.float32),
        np.array([landmark, words], np.float32),
        gains,
        np.full(n, length, np.int64),
    )


def test_the_grid_by_hand():
    """Twelve sentences of 400 characters; words put the evidence first, landmarks last.

    Within 800, 1,600 and 3,200 characters words alone find all; so does a low gate, not a high one.
    """
    landmark, words = np.linspace(1, -1, 12), np.linspace(-1, 1, 12)
    case = asked(landmark, words, 11)
    assert found(case, case.alone[1]) == 1.0
    assert found(case, case.alone[0]) == 0.0
    table = grid(case, Fusion())
    assert table.shape == (len(GATES), len(SHIFTS))
    assert (table[GATES < 0] == 1.0).all()
    assert (table[GATES > 0] == 0.0).all()


def test_a_signal_that_tells_which_side_finds_more_is_learned():
    random = np.random.default_rng(1)
    signals = np.zeros((200, len(SIGNALS)))
    signals[:, 0] = 1.0
    cover = list(SIGNALS).index("cover")
    signals[:, cover] = random.choice([-1.0, 1.0], 200)
    good = 1 / (1 + np.exp(-3 * signals[:, cover, None] * -GATES))  # (q, gates)
    grids = np.repeat(good[:, :, None], len(SHIFTS), axis=2)
    alone = np.stack([good[:, -1], good[:, 0]], axis=1)
    gate, shift = learn_weights(["a", "b"] * 100, signals, grids, alone)
    assert gate["cover"] < -1.0
    assert abs(gate["terms"]) < 0.01
    assert set(gate) == set(shift) == set(SIGNALS)
    assert shift["cover"] == pytest.approx(0.0, abs=0.01)  # the grid says nothing of scales
    assert learn_weights(["a", "b"] * 100, signals, grids, alone) == (gate, shift)
