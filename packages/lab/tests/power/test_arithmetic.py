"""Watts and speeds: the checks by hand that need no simulation."""

from __future__ import annotations

import math

import pytest

from milepost.errors import InputError
from milepost_lab.power.measured import nearest_rank
from milepost_lab.power.server import OTHER_PARTS, Server

PROMPT = Server()
DECODING = Server(idle=OTHER_PARTS + 8 * 250.0)  # a server that decodes while it prompts not
BUDGET = 232_000.0


def test_check_5_a_row_of_public_servers():
    assert OTHER_PARTS == 996.0
    assert (PROMPT.busy, DECODING.idle, PROMPT.idle) == (4196.0, 2996.0, 1500.0)
    assert BUDGET / 40 == 5800.0
    assert [round(w / 5800.0, 4) for w in (4196.0, 2996.0, 1500.0)] == [0.7234, 0.5166, 0.2586]
    assert 52 * DECODING.idle == 155_792.0
    assert round(52 * DECODING.idle / BUDGET, 4) == 0.6715
    assert 52 * PROMPT.busy == 218_192.0
    assert round(52 * PROMPT.busy / BUDGET, 4) == 0.9405


def test_check_7_clocks_and_a_request():
    ratios = [clock / 1410 for clock in (1275, 1110, 1305)]
    assert [round(r, 5) for r in ratios] == [0.90426, 0.78723, 0.92553]
    squares = [PROMPT.extra(c) / PROMPT.extra(1410) for c in (1275, 1110, 1305)]
    assert [round(s, 5) for s in squares] == [0.81768, 0.61974, 0.85661]
    assert [PROMPT.rate(c) for c in (1275, 1110, 1305)] == pytest.approx(ratios)
    for bound, more in ((0.0, 2.457), (0.3, 9.828)):
        slowed = 1 / PROMPT.rate(1110) + 10 / Server(bound=bound).rate(1110)
        assert round(100 * (slowed / 11 - 1), 3) == more
    energy = 1 * 400 + 10 * 250
    assert (energy, round(energy / 11, 2), round(400 / (energy / 11), 3)) == (2900, 263.64, 1.517)


def test_check_8_ranks():
    assert nearest_rank(range(1, 101), 0.99) == 99.0


def test_nearest_ranks_of_few_values():
    assert nearest_rank([5.0], 0.5) == 5.0
    assert nearest_rank([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert nearest_rank([1.0, 2.0, 3.0], 1.0) == 3.0
    assert math.isnan(nearest_rank([], 0.5))


@pytest.mark.parametrize("wrong", [{"idle": 5000.0}, {"top": 0}, {"bound": 1.5}, {"idle": -1.0}])
def test_servers_that_cannot_be(wrong):
    with pytest.raises(InputError, match="no server"):
        Server(**wrong)
