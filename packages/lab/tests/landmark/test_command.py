"""``milepost lab landmark`` from the command line."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab.command import lab
from milepost_lab.landmark import EXPERIMENTS


def run(*args):
    done = CliRunner().invoke(
        lab, ["landmark", *map(str, args)], obj=Settings(quiet=True), standalone_mode=False
    )
    if done.exception:
        raise done.exception
    return done.stdout


@pytest.fixture
def asked(tmp_path):
    """One document of thirty sentences with three questions, and a cache."""
    things = [a + b for a in ("red", "tin", "old", "wet", "shy") for b in ("fox", "jar", "elm")]
    parts = [f"The {thing} was seen by the river. Nobody knew why. " for thing in things]
    text = "".join(parts)
    lines = [{"id": "river", "text": text}]
    for number in (0, 6, 12):
        start = text.index(parts[number])
        span = [start, start + parts[number].index(".") + 1]
        question = f"Where was the {things[number]} seen?"
        lines.append({"document": "river", "question": question, "spans": [span]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ("--tasks", path, "--cache", tmp_path / "kept")


def test_without_names_the_experiments_are_listed():
    """A line each, with the question."""
    lines = run().splitlines()
    assert [line.split()[0] for line in lines] == list(EXPERIMENTS)
    assert all(line.endswith("?") for line in lines)


@pytest.mark.usefixtures("model")
def test_an_experiment_prints_a_table_and_writes_its_plot(asked, tmp_path):
    """Markdown on stdout, the plot beside the report's name."""
    for module in ("matplotlib", "jinja2"):
        pytest.importorskip(module, reason="plots need the lab extra")
    shown = run("front-surround,position", *asked, "--report", tmp_path / "out.html")
    for name in ("front-surround", "position"):
        assert EXPERIMENTS[name].question in shown
        assert "<svg" in (tmp_path / f"out-{name}.svg").read_text(encoding="utf-8")
    assert re.search(r"^\| front-2 \|", shown, re.MULTILINE)


def test_an_unknown_experiment_is_answered_with_the_nearest(asked):
    with pytest.raises(InputError, match=r"'bounderies'.*'boundaries'"):
        run("bounderies", *asked)
