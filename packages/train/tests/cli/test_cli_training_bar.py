"""The bar of training on a real terminal."""

from __future__ import annotations

import re
from types import SimpleNamespace as Event

import pytest

pytest.importorskip("termios", reason="needs the terminals of Unix")

from milepost.console.options import Settings
from milepost_train.cli.train import Screen
from support.terminal import plain, shown_by


@pytest.fixture(autouse=True)
def one_terminal(monkeypatch):
    """Colours and 80 columns, whatever the tests run on."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")


def training(quiet=False):
    """Show the bar of training."""

    def event(doing, done, of, **line):
        return Event(doing=doing, done=done, of=of, line=line, note="", warning="")

    with Screen(Settings(quiet=quiet)) as screen:
        screen(event("opening", 0, 0))
        screen(event("stage 1", 3, 5, loss=1.25))
        screen(event("", 0, 0, alarm="too steep"))
        screen(event("stage 2", 1, 7))


def test_the_bar_of_training_says_steps_and_loss_and_warnings_stand_above_it():
    """The loss stays until another is known; a stage has a bar of its own length."""
    shown = plain(shown_by(training))
    assert re.search(r"milepost: too steep\s", shown)
    assert re.search(r"stage 2 .* 1/7 loss 1\.250", shown)


def test_quiet_draws_nothing():
    """Only what went wrong is said."""
    assert shown_by(lambda: training(quiet=True)) == "milepost: too steep\r\n"
