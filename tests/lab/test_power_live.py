"""A governor beside the real engine: searches are answered as if less were indexed."""

from __future__ import annotations

import pytest

from milepost.engine import shipped_models
from milepost.lab.power.live import PHASES, contend


@pytest.mark.skipif(not shipped_models(), reason="needs a shipped model")
def test_searches_are_nearer_to_quiet_under_a_governor():
    phases = contend(seconds=1.2, turns=2)
    assert tuple(phases) == PHASES
    quiet, free, governed = (phases[name].median for name in PHASES)
    if free < 1.2 * quiet:
        pytest.skip("on this machine bulk indexing does not hinder searches")
    assert governed - quiet < 0.75 * (free - quiet)
    assert phases["quiet"].sentences == 0
    # Bulk indexing is slowed, not stopped.
    assert phases["governed"].sentences > 0
