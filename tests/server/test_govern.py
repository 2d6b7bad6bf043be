"""Bulk work waits for searches: real time and real threads."""

import threading

import pytest

from milepost.server import govern
from milepost.server.govern import Governor
from support.threads import at_once


def test_a_batch_waits_for_searches_and_no_longer_than_its_patience(monkeypatch):
    monkeypatch.setattr(govern, "LINGER_S", 0.2)
    monkeypatch.setattr(govern, "PATIENCE_S", 1.0)
    governor = Governor()
    with governor.search():
        assert 1.0 <= governor.batch(10.0) < 9.0
    after = governor.batch(10.0)
    assert 0.0 < after < 1.0  # lingers, and does not wait for a search that is over
    assert governor.paused >= 1.0


def test_bulk_work_keeps_its_least_share_however_many_searches_come(monkeypatch):
    monkeypatch.setattr(govern, "MIN_RATE", 0.2)
    monkeypatch.setattr(govern, "PATIENCE_S", 60.0)
    governor = Governor()
    with governor.search():
        assert 0.2 <= governor.batch(0.05) < 9.0
        assert governor.batch(0.0) < 9.0


def test_a_batch_begins_when_the_last_search_ends(monkeypatch):
    monkeypatch.setattr(govern, "PATIENCE_S", 60.0)
    governor = Governor()
    begun = threading.Event()

    def search():
        with governor.search():
            begun.set()
            threading.Event().wait(0.3)

    thread = threading.Thread(target=search)
    thread.start()
    begun.wait()
    assert governor.batch(10.0) < 30.0
    thread.join()


def test_a_search_that_fails_is_over():
    governor = Governor()
    with pytest.raises(ValueError, match="asked wrongly"), governor.search():
        raise ValueError("asked wrongly")
    assert governor.searches == 0


def test_many_threads_leave_it_whole(monkeypatch):
    monkeypatch.setattr(govern, "LINGER_S", 0.0)
    governor = Governor()

    def search():
        for _ in range(50):
            with governor.search():
                pass

    def index():
        step = governor.bulk()
        for number in range(50):
            step(number, 50)

    assert at_once(*(search, index) * 4) == []
    assert governor.searches == 0
