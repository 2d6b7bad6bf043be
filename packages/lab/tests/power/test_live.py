"""A governor beside the real engine: searches are answered as if less were indexed."""

from __future__ import annotations

import os

import pytest

from milepost.engine import shipped_models
from milepost_lab.power.live import PHASES, contend

ATTEMPTS = 3  # other programs' load may fall on one phase alone


@pytest.mark.skipif(not shipped_models(), reason="needs a shipped model")
def test_searches_are_nearer_to_quiet_under_a_governor():
    # Two threads that want a core each, on two of them: beside others' load nothing can be told.
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > 2 * (os.cpu_count() or 1):
        pytest.skip("this machine is too busy to time anything")
    medians = []
    for _ in range(ATTEMPTS):
        phases = contend(seconds=0.5, turns=2)
        assert tuple(phases) == PHASES
        assert phases["quiet"].sentences == 0
        assert phases["governed"].sentences > 0  # slowed, not stopped
        quiet, free, governed = (phases[name].median for name in PHASES)
        if free < 1.2 * quiet:
            pytest.skip("on this machine bulk indexing does not hinder searches")
        if governed - quiet < 0.75 * (free - quiet):
            return
        medians.append((quiet, free, governed))
    pytest.fail(f"searches gain nothing by the governor: {medians}")
