"""A figure's interval says how small a difference could have been found."""

from __future__ import annotations

import pytest

from milepost_eval.report.outcome import Figure


def test_the_minimum_detectable_effect() -> None:
    """2.80 standard errors; an interval of ±0.098 has a standard error of 0.05."""
    assert Figure(0.3, 0.202, 0.398, "difference").detectable == pytest.approx(0.14)
    assert Figure(0.3, 0.3, 0.3, "difference").detectable == 0.0
