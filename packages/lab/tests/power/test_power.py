"""POLCA's controller by hand (facts page 02), the row's arithmetic, and the study."""

import pytest

from milepost_lab.power.model import FULL, Controller
from milepost_lab.power.study import command


def test_1_a_script_of_utilisations():
    seen = [0.70, 0.81, 0.82, 0.90, 0.91, 0.91, 0.92, 0.86, 0.83, 0.80, 0.76, 0.74, 0.74, 0.74]
    made = Controller(delay=4, brake_delay=2)
    effective = {}
    for number, value in enumerate(seen):
        made.tick(2.0 * number, value)
        effective[2 * number] = made.clocks["LP"], made.clocks["HP"]
    assert made.log == [
        (2, "LP", 1275),
        (6, "LP", 1110),
        (12, "HP", 1305),
        (16, "HP", 1410),
        (16, "LP", 1275),
        (22, "LP", 1410),
    ]
    assert [effective[at][0] for at in (4, 6, 10, 20, 26)] == [1410, 1275, 1110, 1275, 1410]
    assert [effective[at][1] for at in (16, 20)] == [1305, 1410]


@pytest.mark.parametrize(("gap", "commands"), [(0.05, 1), (0.0, 10)])
def test_2_hysteresis_stops_flapping(gap, commands):
    made = Controller(delay=0, brake_delay=0, gap=gap)
    for number in range(10):
        made.tick(2.0 * number, 0.81 if number % 2 == 0 else 0.79)
    assert len(made.log) == commands


def closed_loop(**settings):
    """2 LP and 2 HP busy servers of 1000 + 4000 (f/1410)² watts, budget 22 kW."""
    made, found, history = Controller(**settings), [], []
    for tick in range(200):
        if tick:
            made.tick(2.0 * tick, history[tick - 1])
        clocks = made.clock("HP"), made.clock("LP")
        watts = sum(2 * (1000 + 4000 * (clock / FULL) ** 2) for clock in clocks)
        history.append(watts / 22_000)
        found.append(round(history[-1], 4))
    return made, found


def test_3_one_step_releases_settle_and_full_releases_never_do():
    made, found = closed_loop()
    assert found[0] == 0.9091
    assert [each[1:] for each in made.log] == [("LP", 1110), ("LP", 1275)]
    assert sorted(set(found)) == [0.7708, 0.8428, 0.9091]
    assert found[-1] == 0.8428
    swinging, _ = closed_loop(full_release=True)
    assert len(swinging.log) > 6


def test_4_the_brake_is_sent_once_and_released():
    made = Controller()
    for number, value in enumerate([0.99, 1.0, 1.01, 0.95, 0.90, 0.83]):
        made.tick(2.0 * number, value)
        assert made.braked == (number >= 4)
    brakes = [each for each in made.log if each[1] == "brake"]
    assert brakes == [(2, "brake", 1), (10, "brake", 0)]


def test_the_study_runs(run_study):
    found = run_study(command, "--more", 0, "--more", 60, "--seeds", 2, "--seconds", 100)
    rows = {(row["policy"], row["more servers, %"]): row for row in found["rows"]}
    assert rows["POLCA", 0]["brakes"]["mean"] == 0
    assert rows["no cap", 60]["seconds over"] > 0
