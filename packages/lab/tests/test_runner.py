"""The runner of studies."""

import json
import re
import shlex
from functools import partial
from importlib import import_module

import click
import pytest

from milepost.cli.console.options import Interrupted
from milepost.errors import InputError
from milepost_eval.runs import Run as Results
from milepost_eval.statistics import Difference, Interval, interval, over_seeds
from milepost_lab import runner
from milepost_lab.command import STUDIES, lab
from milepost_lab.runner import Lines, Report, study, table
from support.cli_fixtures import invoked


def test_the_table_knows_intervals_differences_and_gaps():
    difference = Difference(0.1, 0.0, 0.2, 0.04, 0.04, 9, 3, 0.3)
    rows = [
        {"name": "mean", "nDCG": Interval(0.5, 0.4, 0.6), "over": None, "n": 1200},
        {"name": "lmk", "nDCG": 0.25, "over": difference, "n": 3},
    ]
    assert [" ".join(line.split()) for line in table(rows)] == [
        "name nDCG over n",
        "mean 0.500 (0.400 to 0.600) – 1,200",
        "lmk 0.250 +0.100 (+0.000 to +0.200) 3",
    ]
    assert table([]) == []


def test_one_seed_has_no_interval():
    row = {"name": "mean", "score": interval([0.5]), "over": over_seeds([0.5], [0.25])}
    assert table([row])[1].split() == ["mean", "0.500", "+0.250"]


def test_examples_of_the_help_name_options_that_there_are():
    """Of the group and of each study."""
    commands = {name: import_module(f"milepost_lab.{name}.study").command for name in STUDIES}
    for command in (lab, *commands.values()):
        for example in re.findall(r"milepost lab (.+)", command.epilog or ""):
            name, *words = shlex.split(example)
            known = {opt for param in commands[name].params for opt in param.opts}
            assert {word for word in words if word.startswith("--")} <= known, example


def made(returned=None, interrupt=False):
    @study("tried", "A study.", "milepost lab tried", seeds=2)
    @click.option("--steps", default=3)
    def command(run, steps):
        if interrupt:
            raise KeyboardInterrupt
        parts = run.per_seed("part", lambda seed: seed * steps)
        rows = [{"seed": n, "value": value} for n, value in zip(run.seeds, parts, strict=True)]
        return returned or Report(rows, ["A note."], {"more": 1})

    return command


call = partial(invoked, standalone_mode=False)


def test_a_command_prints_a_table_or_json_and_continues(tmp_path):
    out = tmp_path / "out"
    first = call(made(), "--out", out, "--seed", 5)
    assert dict(Results(out, None)) == {"part-5": 15, "part-6": 18}
    assert first.output.splitlines() == ["seed  value", "5        15", "6        18", "", "A note."]
    assert "note" not in call(made(), "--out", out, "--quiet").output
    found = json.loads(call(made(), "--out", out, "--json").stdout)
    assert {n: found[n] for n in ("rows", "more")} == {
        "rows": [{"seed": 0, "value": 0}, {"seed": 1, "value": 3}],
        "more": 1,
    }
    refused = call(made(), "--out", out, "--steps", 4)
    assert isinstance(refused.exception, InputError)


def test_an_interrupted_run_says_how_to_continue(tmp_path):
    with_out = call(made(interrupt=True), "--out", tmp_path)
    assert isinstance(with_out.exception, Interrupted)
    assert "same command" in str(with_out.exception)
    assert "--out" in str(call(made(interrupt=True)).exception)


def test_a_plot_is_drawn_where_a_study_has_lines(tmp_path):
    rows = [
        {"arm": arm, "length": n, "score": Interval(n / 10, n / 11, n / 9)}
        for arm in ("a", "b")
        for n in (1, 2)
    ]
    report, file = Report(rows, lines=Lines("length", "score", "arm", log=True)), tmp_path / "a.svg"
    assert call(made(report), "--plot", file).exception is None
    assert file.read_text().startswith("<?xml")
    with pytest.raises(InputError, match="no plot"):
        runner.draw(Report(rows), file)
