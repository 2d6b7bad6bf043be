"""Counters of the kernel and shares of a budget, on files as the kernel writes them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time

import pytest

from milepost.errors import InputError
from milepost.govern.meters import GpuMeter, PackageMeter, ProcessorMeter
from milepost.govern.sensor import Sensor, open_sensor

TICK = os.sysconf("SC_CLK_TCK")


class Counter:
    """A meter that says what it is told to."""

    unit = "W"

    def __init__(self, *states):
        self.states = list(states)

    def read(self):
        return self.states.pop(0)


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def counter(folder, name, energy, most=1_000):
    package = folder / name
    package.mkdir(exist_ok=True)
    (package / "energy_uj").write_text(f"{energy}\n")
    (package / "max_energy_range_uj").write_text(f"{most}\n")


def process(folder, number, name, parent, *ticks):
    (folder / str(number)).mkdir()
    fields = f"S {parent} 1 1 0 -1 0 0 0 0 0 {' '.join(map(str, ticks))} 20 0 1 0"
    (folder / str(number) / "stat").write_text(f"{number} ({name}) {fields}\n")


def test_a_share_is_the_difference_over_time_and_budget():
    sensor = Sensor([Counter(100.0, 160.0), Counter(0.0, 60.0)], budget=200.0)
    assert sensor.share(10.0) is None
    assert sensor.share(12.0) == pytest.approx(120 / 2 / 200)


def test_a_reading_that_fails_is_missed_and_the_next_spans_both():
    sensor = Sensor([Counter(0.0, None, 40.0, 30.0, 50.0)], budget=10.0)
    assert [sensor.share(float(t)) for t in range(3)] == [None, None, 2.0]  # 40 in 2 s
    assert sensor.share(3.0) is None  # a counter that falls was reset
    assert sensor.share(4.0) == 2.0


def test_the_mean_is_over_the_window():
    sensor = Sensor([Counter(0.0, 10.0, 10.0, 10.0, 10.0)], budget=10.0, window=2.0)
    assert [sensor.share(float(t)) for t in range(5)] == [None, 1.0, 0.5, 0.0, 0.0]


def test_packages_are_added_up_and_their_parts_are_not(tmp_path):
    counter(tmp_path, "intel-rapl:0", 2_000_000)
    counter(tmp_path, "intel-rapl:1", 3_000_000)
    counter(tmp_path, "intel-rapl:0:0", 900_000)
    (tmp_path / "intel-rapl").mkdir()
    assert PackageMeter(tmp_path).read() == 5.0


def test_a_counter_that_begins_anew_goes_on(tmp_path):
    for name in ("intel-rapl:0", "intel-rapl:1"):
        counter(tmp_path, name, 900_000, most=1_000_000)
    meter = PackageMeter(tmp_path)
    assert meter.read() == 1.8
    counter(tmp_path, "intel-rapl:1", 100_000, most=1_000_000)
    assert meter.read() == pytest.approx(2.0)
    assert meter.read() == pytest.approx(2.0)
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    assert meter.read() is None


def test_without_counters_nothing_is_read(tmp_path):
    assert PackageMeter(tmp_path).read() is None


def test_a_process_tree_counts_children_and_ended_ones(tmp_path):
    process(tmp_path, 10, "milepost", 1, 100, 20, 3, 4)
    process(tmp_path, 11, "odd) name (", 10, 50, 0, 0, 0)
    process(tmp_path, 12, "grandchild", 11, 7, 0, 0, 0)
    process(tmp_path, 13, "another", 1, 1000, 0, 0, 0)
    (tmp_path / "14").mkdir()  # ended while we looked
    assert ProcessorMeter(10, tmp_path).read() == 184 / TICK
    assert ProcessorMeter(99, tmp_path).read() is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_real_work_of_this_process_and_of_a_child_is_seen():
    meter = ProcessorMeter()
    before = meter.read()
    burn(0.2)
    own = meter.read() - before
    assert 0.15 <= own <= 0.6
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    child.stdout.readline()
    running = meter.read() - before - own
    child.communicate("\n")
    ended = meter.read() - before - own
    assert running >= 0.25
    assert ended >= running


def test_where_proc_is_missing_the_own_time_is_known(tmp_path):
    before = ProcessorMeter(proc=tmp_path).read()
    burn(0.05)
    assert ProcessorMeter(proc=tmp_path).read() >= before + 0.03


def test_budgets_that_cannot_be():
    for budget in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(InputError, match="budget"):
            Sensor([Counter()], budget)
    with pytest.raises(InputError, match="window"):
        Sensor([Counter()], 1.0, window=-1.0)
    with pytest.raises(InputError, match="both watts and cores"):
        open_sensor(watts=100.0, cores=1.0)


def test_a_budget_in_cores_can_be_opened_everywhere():
    sensor = open_sensor(cores=1.5)
    assert (sensor.unit, sensor.budget) == ("cores", 1.5)
    assert open_sensor().budget >= 1
    assert sensor.share(0.0) is None
    burn(0.1)
    assert sensor.share(0.1) > 0.4


def test_watts_are_refused_where_nothing_counts_them():
    if PackageMeter().packages or GpuMeter().devices:
        assert open_sensor(watts=100.0).unit == "W"
    else:
        with pytest.raises(InputError, match="no energy counter"):
            open_sensor(watts=100.0)


@pytest.mark.skipif(importlib.util.find_spec("pynvml") is None, reason="needs pynvml")
def test_gpus_are_counted_where_there_are_some():
    meter = GpuMeter()
    first = meter.read()
    assert (first is None) == (not meter.devices)
    if first is not None:
        time.sleep(0.3)
        assert meter.read() >= first
