"""The governor at work: real time, real threads, and real load on real processors."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from milepost.errors import InputError
from milepost.govern import LIVE, Governor, Sensor, open_sensor

FAST = replace(LIVE, tick=0.01, telemetry=0.0, cap_delay=0.0, brake_delay=0.0)


class Told(Sensor):
    """Says the share it is set to: what a meter says of 10 ms hangs on who else is running."""

    def __init__(self, told):
        super().__init__([], 1.0)
        self.told = told

    def share(self, now):
        return self.told


def governed(share, policy=FAST, **settings):
    sensor = Told(share)
    governor = Governor(sensor, policy, **settings)
    for _ in range(6):  # readings, so that the controller has seen the share
        with governor.search():
            time.sleep(0.012)
    return governor, sensor


def test_batches_go_at_once_while_there_is_room():
    governor, _ = governed(0.5, linger=0.0)
    assert governor.batch(10.0) < 0.8
    assert governor.status().rate == 1.0


def test_over_t2_a_batch_is_followed_by_its_share_of_rest():
    governor, _ = governed(0.92, linger=0.0)
    assert governor.status().rate == pytest.approx(1110 / 1410)
    rest = 0.5 * (1410 / 1110 - 1)
    assert rest <= governor.batch(0.5) < rest + 3.0
    assert governor.status().paused >= rest


def test_over_t1_the_rest_is_shorter():
    governor, _ = governed(0.85, linger=0.0)
    assert governor.status().rate == pytest.approx(1275 / 1410)
    rest = 0.5 * (1410 / 1275 - 1)
    assert rest <= governor.batch(0.5) < rest + 3.0


def test_the_brake_holds_batches_until_it_is_released():
    governor, sensor = governed(1.2, linger=0.0)
    assert governor.status().braked

    def calm():
        sensor.told = 0.1

    later = threading.Timer(0.3, calm)
    later.start()
    assert governor.batch(0.0) < 30.0  # the longest that it is held at all
    assert sensor.told == 0.1
    assert not governor.status().braked
    later.join()


def test_a_brake_that_never_ends_lets_a_batch_through_at_last():
    governor, _ = governed(1.5, linger=0.0, longest=0.2)
    assert 0.2 <= governor.batch(5.0) < 3.0


def test_telemetry_that_is_lost_slows_bulk_work_and_brakes_nothing():
    governor, sensor = governed(0.3, linger=0.0)
    sensor.told = None
    for _ in range(2 + FAST.missed):
        time.sleep(0.012)
        governor.batch(0.0)
    state = governor.status()
    assert (state.share, state.braked) == (None, False)
    assert state.rate == pytest.approx(1110 / 1410)


def test_a_batch_waits_for_searches_and_no_longer_than_its_patience():
    governor, _ = governed(0.1, linger=0.5, patience=2.0)
    with governor.search():
        assert 2.0 <= governor.batch(10.0) < 9.0
    after = governor.batch(10.0)
    assert 0.0 < after < 2.0  # lingers, and does not wait for a search that is over


def test_bulk_work_keeps_its_least_share_however_many_searches_come():
    governor, _ = governed(0.1, least=0.2, patience=60.0)
    with governor.search():
        assert 0.2 <= governor.batch(0.05) < 9.0
        assert governor.batch(0.0) < 9.0


def test_under_the_brake_searches_begin_one_at_a_time_and_none_is_stopped():
    governor, _ = governed(1.5, linger=0.0, patience=60.0)
    most, running, done, lock = 0, 0, [], threading.Lock()

    def work():
        nonlocal most, running
        with governor.search():
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.03)
            with lock:
                running -= 1
                done.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(done)) == (1, 6)


def test_a_search_that_fails_is_over():
    governor, _ = governed(0.1)
    with pytest.raises(ValueError, match="asked wrongly"), governor.search():
        raise ValueError("asked wrongly")
    assert governor.status().searches == 0


def test_many_threads_leave_it_whole():
    governor = Governor(open_sensor(cores=64), FAST, linger=0.0)

    def search():
        for _ in range(50):
            with governor.search():
                pass

    def index():
        step = governor.bulk()
        for number in range(50):
            step(number, 50)

    threads = [threading.Thread(target=target) for target in (search, index) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert governor.status().searches == 0


def test_a_real_burner_is_slowed_to_its_budget():
    """A thread that takes whatever it can get of a processor gets little more than a tenth.

    Its own time: servers of other tests run in threads of this process.
    """
    governor = Governor(open_sensor(cores=0.1), replace(FAST, tick=0.05), linger=0.0)
    step = governor.bulk()
    wall, used = time.monotonic(), time.thread_time()
    while time.monotonic() - wall < 3.0:
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass
        step()
    share = (time.thread_time() - used) / (time.monotonic() - wall)
    assert 0.04 < share < 0.3  # one alone takes 1; a busy machine's ticks come late
    assert governor.status().paused > 1.0


def test_times_below_zero_are_refused():
    with pytest.raises(InputError, match="negative"):
        Governor(open_sensor(cores=1), linger=-1.0)
    with pytest.raises(InputError, match="least = "):
        Governor(open_sensor(cores=1), least=0.0)
