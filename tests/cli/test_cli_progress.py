"""Bars on a real terminal: what they say, and that nothing is left of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

if os.name == "nt":
    pytest.skip("no pseudo-terminals there", allow_module_level=True)

SHOW = """
from milepost.console.options import Settings
from milepost.console.progress import Bar
from milepost.intake import Step

with Bar(Settings({quiet})) as bar:
    for done in (0, 3, 9):
        bar(Step("/notes/bees.txt", 2, 3, 10, done))
"""
TRAIN = """
from types import SimpleNamespace as Event
from milepost.console.options import Settings
from milepost.cli.train import Screen

def event(doing, done, of, **line):
    return Event(doing=doing, done=done, of=of, line=line, note="", warning="")

with Screen(Settings({quiet})) as screen:
    screen(event("opening", 0, 0))
    screen(event("stage 1", 3, 5, loss=1.25))
    screen(event("", 0, 0, alarm="too steep"))
    screen(event("stage 2", 1, 7))
"""


COLOUR = r"\x1b\[[0-9;]*m"
MOVEMENT = r"\x1b\[[0-9;?]*[A-Za-z]"


def on_a_terminal(script, quiet=False, **environ):
    """What the script writes to a terminal of 80 columns on its stderr."""
    master, slave = os.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    environment |= environ
    text = script.replace("{quiet}", "quiet=True" if quiet else "")
    run = subprocess.Popen([sys.executable, "-c", text], stderr=slave, env=environment)
    os.close(slave)
    parts = []
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # how Linux tells that nobody writes any more
            break
        if not part:
            break
        parts.append(part)
    os.close(master)
    assert run.wait() == 0
    return b"".join(parts).decode()


def still(shown):
    """What was written without colours and movements."""
    return re.sub(MOVEMENT, "", shown)


def test_the_bar_of_reading_says_document_share_and_speed():
    """The second of three documents, most of it done; another document counts as a third."""
    shown = still(on_a_terminal(SHOW))
    assert re.search(r"2/3 bees\.txt .* 45% [\d,]+ sentences/s 0:0\d left", shown)


def test_the_bar_of_training_says_steps_and_loss_and_warnings_stand_above_it():
    """The loss stays until another is known; a stage has a bar of its own length."""
    shown = still(on_a_terminal(TRAIN))
    assert re.search(r"milepost: too steep\s", shown)
    assert re.search(r"stage 2 .* 1/7 loss 1\.250", shown)


def test_who_wants_no_colours_gets_a_bar_without_them():
    """NO_COLOR is about colours: the bar is drawn and moves."""
    assert re.search(COLOUR, on_a_terminal(SHOW))
    shown = on_a_terminal(SHOW, NO_COLOR="1")
    assert "2/3 bees.txt" in still(shown)
    assert not re.search(COLOUR, shown)


def test_quiet_draws_nothing():
    """Only what went wrong is said."""
    assert on_a_terminal(SHOW, quiet=True) == ""
    assert on_a_terminal(TRAIN, quiet=True) == "milepost: too steep\r\n"
