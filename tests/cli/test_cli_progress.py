"""Bars on a real terminal: what they say, and that nothing is left of them."""

import re

import pytest

pytest.importorskip("termios", reason="needs the terminals of Unix")

from milepost.cli.console.options import Settings
from milepost.cli.console.progress import Bar
from milepost.index.intake import Step
from support.terminal import plain, shown_by

COLOUR = r"\x1b\[[0-9;]*m"


@pytest.fixture(autouse=True)
def one_terminal(monkeypatch):
    """Colours and 80 columns, whatever the tests run on."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")


def reading(quiet=False):
    with Bar(Settings(quiet=quiet)) as bar:
        for done in (0, 3, 9):
            bar(Step("/notes/bees.txt", 2, 3, 10, done))


def test_the_bar_of_reading_says_document_share_and_speed():
    shown = plain(shown_by(reading))
    assert re.search(r"2/3 bees\.txt .* 45% [\d,]+ sentences/s 0:0\d left", shown)


def test_who_wants_no_colours_gets_a_bar_without_them():
    assert re.search(COLOUR, shown_by(reading, TERM="xterm-256color"))
    shown = shown_by(reading, TERM="xterm-256color", NO_COLOR="1")
    assert "2/3 bees.txt" in plain(shown)
    assert not re.search(COLOUR, shown)


def test_quiet_draws_nothing():
    assert shown_by(lambda: reading(quiet=True)) == ""
