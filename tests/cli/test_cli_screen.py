"""What is shown, as functions: rounding, marking, pace, places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.cli.answer import matched, reflowed
from milepost.cli.explain import summing
from milepost.console.options import DB, chosen_db
from milepost.console.progress import Pace
from milepost.console.screen import visible
from milepost.intake import Step


@settings(max_examples=200)
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=8))
def test_rounded_parts_add_up_and_stay_near(values):
    parts = {str(number): value for number, value in enumerate(values)}
    shown = summing(parts, sum(values))
    assert (
        round(sum(shown.values()), 6) == round(sum(values), 2)
        or abs(sum(shown.values()) - sum(values)) <= 0.005 + 1e-9
    )
    for name, value in parts.items():
        assert abs(shown[name] - value) <= 0.01 + 1e-9


@settings(max_examples=200)
@given(st.text())
def test_what_is_printed_keeps_its_length_and_steers_nothing(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in shown)
    assert len(reflowed(text)) == len(text)


def test_broken_lines_are_joined_and_lists_are_not():
    long = "This line was broken by a printer who had a narrow page"
    assert reflowed(f"{long}\nand goes on.") == f"{long} and goes on."
    for text in (f"{long}\n- item", f"{long}\n    code", "Short\nlines", f"{long}\n\nNext"):
        assert reflowed(text) == text


def test_words_are_found_in_every_script():
    text = "Building 1,600 cells, naïve Zellen 東京都庁"
    words = {"build", "1600", "naiv", "京都"}
    found = [text[start:end] for start, end in matched(text, words)]
    assert found == ["Building", "1,600", "naïve", "京都"]


def test_pace_counts_only_what_had_to_be_read():
    """Documents passed over at the start do not make the rest look done."""
    pace = Pace()
    assert pace.after(Step("c", 3, 4, 0, 0), 100.0) == (0.0, 0.0, None)
    assert pace.after(Step("c", 3, 4, 10, 5), 101.0) == (0.25, 5.0, 3.0)
    share, speed, left = pace.after(Step("d", 4, 4, 10, 10), 104.0)
    assert (share, left) == (1.0, 0.0)
    assert speed == pytest.approx(15 / 4)


def test_the_index_is_chosen_in_order(monkeypatch, tmp_path):
    assert chosen_db(None) is None
    DB.mkdir()
    assert chosen_db(None) == DB
    monkeypatch.setenv("MILEPOST_DB", str(tmp_path))
    assert chosen_db(None) == tmp_path
    assert chosen_db(DB) == DB


def test_an_address_that_holds_no_index_is_refused(cli, monkeypatch):
    address = "redis://anna:s3cret@localhost/notes"
    given = cli("info", "--db", address)
    monkeypatch.setenv("MILEPOST_DB", address)
    for result in (given, cli("info"), cli("index", "notes.txt"), cli("search", "bees")):
        assert result.exit_code == 2
        assert "redis://… cannot hold an index; try: --db FOLDER" in result.stderr
        assert "s3cret" not in result.stderr
    assert not list(Path.cwd().iterdir())
