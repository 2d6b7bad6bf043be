"""What is told of chances: bins, their error, and what a least chance costs."""

import json
import sys

import pytest

import milepost
from support.ranking_cases import add_absent, book_task


@pytest.fixture
def bench(script):
    return script("reliability")


def test_bins_by_hand(bench):
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


def test_absent_questions_and_other_sizes_stand_beside_the_three_settings(bench):
    before = bench.measures(found(bench))
    more = [
        bench.Asked("absent", "absent", ((0.4, False),)),
        bench.Asked("absent", "absent", ((0.05, False),)),
        bench.Asked("a task", "100", ((0.9, True),), 60),
        bench.Asked("a task", "100", ((0.4, False),), 40),
    ]
    after = bench.measures([*found(bench), *more])
    assert [row.pop("absent") for row in after["limits"]] == [1.0, 0.5, 0.5, 0.5, 0.0]
    assert after["median best chance"].pop("absent") == 0.225
    assert after == before
    one, usual, hundred = bench.by_size([*found(bench), *more], ["1", "12", "100"])
    assert (one["size"], one["searched"], one["questions"]) == ("1", 1.0, 2)
    assert one["misses"]["0.2"] == usual["misses"]["0.2"] == 0.5
    assert hundred == {
        "size": "100",
        "searched": 50.0,
        "questions": 2,
        "error": 0.25,
        "said": 0.65,
        "true": 0.5,
        "misses": {"0.0": 0.5, "0.1": 0.5, "0.2": 0.5, "0.3": 0.5, "0.5": 0.5},
    }


def test_a_run_on_pieces_of_the_book(bench, tmp_path, monkeypatch):
    for name, first in (("one", 0), ("two", 10)):
        book_task(tmp_path / f"{name}.jsonl", first, 3, 2, size=800)
    book_task(tmp_path / "absent.jsonl", 20, 2, 1, size=800)
    add_absent(tmp_path / "absent.jsonl", 20, 2, 2, size=800)
    monkeypatch.setattr(
        bench, "TASKS", [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    )
    out = tmp_path / "out.json"
    options = ["--model", "landmark-light", "--questions", "1", "--collection", "1,2,12,mixed"]
    options += ["--absent", str(tmp_path / "absent.jsonl"), "--cache", str(tmp_path / "cache")]
    monkeypatch.setattr(sys, "argv", ["reliability.py", *options, "--out", str(out)])
    bench.main()
    told = json.loads(out.read_text(encoding="utf-8"))
    assert told["fingerprint"] == milepost.load("landmark-light").fingerprint
    assert told["sampled"] == {"documents": 16, "questions": 1}
    assert told["questions"] == 2 * 3 * 3
    assert told["absent"] == {"questions": 4, "documents": 2}
    rows = [(row["size"], row["searched"], row["questions"]) for row in told["collections"]]
    assert rows == [("1", 1.0, 6), ("2", 1.7, 6), ("12", 3.0, 6), ("mixed", 6.0, 6)]
    for row in told["collections"]:
        assert row["misses"]["0.0"] < 1.0
    assert all(0 <= row["absent"] <= 1 for row in told["limits"])
