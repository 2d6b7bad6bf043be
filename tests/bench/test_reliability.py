"""What is told of chances: bins, their error, and what a least chance costs."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def bench(script):
    return script("reliability")


def test_bins_by_hand(bench):
    """Borders belong to the bin above, 1 to the last, and empty bins are left out."""
    shown = [(0.05, False), (0.1, True), (0.19, False), (0.95, True), (1.0, False)]
    assert bench.binned(shown) == [
        {"said": 0.05, "true": 0.0, "passages": 1},
        {"said": 0.145, "true": 0.5, "passages": 2},
        {"said": 0.975, "true": 0.5, "passages": 2},
    ]


def test_the_error_by_hand(bench):
    """Distances weighed by passages: (1 · 0.05 + 2 · 0.355 + 2 · 0.475) / 5."""
    bins = [
        {"said": 0.05, "true": 0.0, "passages": 1},
        {"said": 0.145, "true": 0.5, "passages": 2},
        {"said": 0.975, "true": 0.5, "passages": 2},
    ]
    assert bench.error_of(bins) == pytest.approx(0.342)


def test_chances_that_are_true_have_hardly_an_error(bench):
    """Drawn by what they say, said and true agree; squared, they do not."""
    random = np.random.default_rng(1)
    said = random.random(20_000)
    held = random.random(20_000) < said

    def error(chances):
        return bench.error_of(bench.binned(list(zip(chances.tolist(), held.tolist(), strict=True))))

    assert error(said) < 0.02
    assert error(said**2) == pytest.approx(1 / 6, abs=0.02)  # the integral of x - x²


def found(bench):
    """Two questions, each in three settings; the second's collection shows nothing of use."""
    rows = [
        ("document", [(0.6, True), (0.3, False)]),
        ("document", [(0.25, False), (0.1, True)]),
        ("collection", [(0.5, True)]),
        ("collection", [(0.9, False)]),
        ("elsewhere", [(0.2, False), (0.1, False)]),
        ("elsewhere", [(0.05, False)]),
    ]
    return [bench.Asked("a task", setting, tuple(passages)) for setting, passages in rows]


def test_false_alarms_and_misses_by_hand(bench):
    """Of each least chance; a passage of just that chance is shown."""
    rows = {row["least"]: row for row in bench.limits(found(bench))}
    table = [
        (0.0, 1.0, 1.5, 0.0, 0.5),
        (0.1, 0.5, 1.0, 0.0, 0.5),
        (0.2, 0.5, 0.5, 0.5, 0.5),
        (0.3, 0.0, 0.0, 0.5, 0.5),
        (0.5, 0.0, 0.0, 0.5, 0.5),
    ]
    assert list(rows) == [row[0] for row in table]
    for least, alarms, passages, document, collection in table:
        assert rows[least] == {
            "least": least,
            "false alarms": alarms,
            "passages": passages,
            "misses": {"document": document, "collection": collection},
        }


def test_all_measures_of_some_questions(bench):
    """Counts, means by setting, and pairs told apart: 0.6 over both, 0.25 over both."""
    told = bench.measures(found(bench))
    assert (told["questions"], told["passages"]) == (6, 9)
    assert told["means"]["document"] == {"said": 0.3125, "true": 0.5}
    assert told["means"]["elsewhere"] == {"said": 0.1167, "true": 0.0}
    assert told["told apart"] == 1.0
    assert told["median best chance"] == {"answered": 0.425, "elsewhere": 0.125}
    assert told["tasks"] == {"a task": told["error"]}
