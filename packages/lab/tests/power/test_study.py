"""Traffic, fleets, tables and sweeps, on small rows."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.testing import fake_encoder
from milepost_eval.report.outcome import as_markdown
from milepost_lab.power.policy import PAPER
from milepost_lab.power.report import as_json, contention, contention_json, outcome
from milepost_lab.power.speed import Speed, measure, text
from milepost_lab.power.study import CONTROLLERS, FREE, METRICS, Fleet, study
from milepost_lab.power.sweeps import SWEEPS, servers, sweep
from milepost_lab.power.traffic import CHAT, CODE, Traffic

SPEED = Speed(0.005, 0.0003, "model", "engine", "machine", "2026-11-20")
FLEET = Fleet(SPEED, servers=8, traffic=Traffic(window=60.0), seeds=(0, 1))


def test_streams_have_the_statistics_they_are_made_from():
    traffic = Traffic(window=4000.0, swing=0.0)
    search, bulk = traffic.streams(20, 20, SPEED, 3)
    assert np.all(np.diff(search.times) >= 0)
    assert 0 <= search.times[0] < search.times[-1] < 4000e6
    gaps = np.diff(search.times)
    assert gaps.std() / gaps.mean() == pytest.approx(CHAT.spread, rel=0.05)
    tokens = bulk.work / 1e6 / SPEED.token
    assert np.median(tokens) == pytest.approx(CODE.median, rel=0.03)
    assert tokens.mean() == pytest.approx(CODE.mean, rel=0.03)
    # Bursts: far more spread than chance has; a finite sample of so heavy a tail shows less of it.
    gaps = np.diff(bulk.times)
    assert 5 < gaps.std() / gaps.mean() < 25


def test_loads_are_what_keeps_servers_busy():
    search, bulk = Traffic(window=1000.0).streams(10, 30, SPEED, 0)
    assert search.work.sum() / 1e6 / 1000 == pytest.approx(0.3 * 10, rel=0.02)
    assert bulk.work.sum() / 1e6 / 1000 == pytest.approx(0.7 * 30, rel=0.02)
    assert search.work.mean() / 1e6 == pytest.approx(32 * SPEED.question, rel=0.02)


def test_the_day_swings_from_lowest_over_highest():
    search, _ = Traffic(window=800.0, swing=0.5).streams(100, 0, SPEED, 0)
    counts, _ = np.histogram(search.times / 1e6, bins=8, range=(0, 800))
    assert counts.argmax() in (3, 4)
    assert counts[0] / counts.mean() == pytest.approx(1 - 0.5 * 0.9745, abs=0.06)


def test_the_same_seed_gives_the_same_jobs_and_another_gives_others():
    one, same, other = (Traffic().streams(5, 5, SPEED, seed)[1] for seed in (1, 1, 2))
    assert np.array_equal(one.times, same.times)
    assert not np.array_equal(one.times, other.times)


def test_every_controller_serves_the_same_jobs():
    lines = study([("+25 %", FLEET, 0.25)], list(CONTROLLERS))
    assert [line.controller for line in lines] == list(CONTROLLERS)
    for line in lines:
        assert all(len(line.figures[metric]) == 2 for metric in METRICS)
        assert all(0 < figure <= 1.001 for figure in line.figures["work"])
    free = lines[0]
    assert free.controller == FREE
    assert all(set(free.figures[metric]) == {1.0} for metric in METRICS[:5])
    assert free.figures["brakes"] == (0.0, 0.0)


def test_with_budget_to_spare_controllers_do_nothing():
    lines = study(
        [("wide", replace(FLEET, provision=50_000.0), 0.5)], ["brake", "polca", "in-band"]
    )
    for line in lines:
        assert all(set(line.figures[metric]) == {1.0} for metric in METRICS[:5])
        assert line.kept


def test_a_budget_that_is_far_too_small_keeps_no_target():
    fleet = replace(FLEET, provision=2500.0, traffic=Traffic(window=30.0))
    (line,) = study([("tight", fleet, 0.5)], ["polca"])
    assert not line.kept
    assert min(line.figures["brakes"]) >= 1


def test_a_limit_fits_jobs_into_the_budget():
    # 40 servers of 4,200 W: room for 40 busy ones. Searches keep 7.5 busy at noon: 16 for them.
    fleet = Fleet(SPEED, servers=40)
    assert fleet.limit(0.0) == 40 - math.ceil(7.5 + 3 * math.sqrt(7.5)) == 24
    assert fleet.limit(3.0) == 1  # four times the servers leave no room: one job goes on


def test_fleets_grow_in_both_classes():
    fleet = Fleet(SPEED, servers=40, share=0.25)
    assert fleet.sized(0.0) == (30, 10)
    assert fleet.sized(0.3) == (39, 13)
    assert fleet.budget == 168_000.0
    assert [label for label, _, _ in servers(fleet, 0.5)] == [
        "+0 %", "+10 %", "+20 %", "+30 %", "+40 %", "+50 %",
    ]  # fmt: skip
    assert [label for label, _, _ in servers(fleet, 0.0)] == ["+0 %"]


def test_tables_hold_a_row_a_line_and_json_every_seed():
    lines = study([("+0 %", FLEET, 0.0), ("+25 %", FLEET, 0.25)], ["polca", "slow"])
    made = outcome(lines, "servers", SPEED, PAPER)
    assert len(made.rows) == 4
    assert len(made.columns) == len(made.rows[0]) == 3 + len(METRICS)
    assert [panel.ticks for panel in made.panels] == [("+0 %", "+25 %")] * 4
    assert "| +25 % | slow |" in as_markdown(made)
    given = json.loads(
        json.dumps(as_json(lines, "servers", SPEED, {"servers": 8}), allow_nan=False)
    )
    assert given["rows"][0]["figures"]["brakes"] == list(lines[0].figures["brakes"])
    assert given["speed"]["token"] == 0.0003


def test_a_row_without_searches_has_no_figure_for_them():
    lines = study([("all bulk", replace(FLEET, share=1.0), 0.0)], ["polca"])
    assert lines[0].figure("search P50") is None
    assert lines[0].figure("bulk P50") is not None
    made = as_json(lines, "servers", SPEED, {})
    assert made["rows"][0]["figures"]["search P50"] == [None, None]
    assert json.dumps(made, allow_nan=False)
    assert "–" in as_markdown(outcome(lines, "servers", SPEED, PAPER))


@pytest.mark.parametrize("name", SWEEPS)
def test_every_sweep_runs(name):
    fleet = replace(FLEET, servers=2, traffic=Traffic(window=20.0), seeds=(0,))
    across, fleets = sweep(name, fleet, 0.25)
    lines = study(fleets, ["polca-kept"])
    labels = [line.label for line in lines]
    assert len(labels) == len(set(labels)) >= 4
    assert outcome(lines, across, SPEED, PAPER).columns[0] == across


def test_sweeps_reach_the_controller():
    """A sweep that changed nothing would look like a result."""
    _, fleets = sweep("delay", replace(FLEET, provision=3300.0), 0.5)
    found = {line.figures["bulk P50"] for line in study(fleets, ["polca-kept"])}
    assert len(found) > 3


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(InputError, match="'polca'"):
        study([("", FLEET, 0.0)], ["polka"])
    with pytest.raises(InputError, match="'delay'"):
        sweep("delays", FLEET, 0.2)
    with pytest.raises(InputError, match="seeds"):
        replace(FLEET, seeds=())


def test_speed_is_measured_kept_and_read(tmp_path):
    speed = measure(fake_encoder())
    assert speed.question > 0
    assert speed.token > 0
    assert speed.machine
    file = tmp_path / "new" / "speed.json"
    speed.write(file)
    assert Speed.read(file) == speed
    for wrong in ("{}", "[1]", "no", json.dumps({"question": 0})):
        file.write_text(wrong)
        with pytest.raises(UnreadableFile, match="not a record of speed"):
            Speed.read(file)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        Speed.read(tmp_path / "nothing.json")


def test_made_text_has_as_many_sentences_as_asked_for():
    assert len(fake_encoder().encode(text(40)).spans) == 40


def test_contention_is_told_in_both_forms():
    from milepost_lab.power.live import Phase

    phases = {"quiet": Phase((0.01, 0.03, 0.02), 0, 2.0), "governed": Phase((0.04,), 30, 3.0)}
    assert "| quiet | 3 | 20.0 | 30.0 | 0.0 |" in contention(phases)
    assert contention_json(phases)["phases"]["governed"]["sentences"] == 30
