"""The runner of studies, and its statistics."""

import json
import math

import click
import numpy as np
import pytest
from click.testing import CliRunner

from milepost.cli.console.options import Interrupted, Settings
from milepost.errors import InputError
from milepost_lab import runner
from milepost_lab.command import lab
from milepost_lab.runner import Lines, Report, Results, Run, study, table
from milepost_lab.statistics import Difference, Interval, difference, holm, interval, over_seeds


def test_a_part_is_computed_once_and_read_again(tmp_path):
    results, calls = Results(tmp_path / "kept", {"steps": 3}), []

    def compute():
        calls.append(1)
        return {"loss": 0.5}

    assert results.get_or_compute("a", compute) == results.get_or_compute("a", compute)
    assert len(calls) == 1
    (tmp_path / "kept" / "a.json").write_text("{")  # cut off: computed again
    assert results.get_or_compute("a", compute) == {"loss": 0.5}
    assert len(calls) == 2


def test_other_settings_in_the_same_folder_are_refused(tmp_path):
    Results(tmp_path, {"steps": 3, "rates": (1, 2)}).get_or_compute("a", lambda: 1)
    Results(tmp_path, {"steps": 3, "rates": [1, 2]}).check()
    with pytest.raises(InputError, match="holds results of steps 3, not 4") as refused:
        Results(tmp_path, {"steps": 4, "rates": [1, 2]}).get_or_compute("b", lambda: 1)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "b.json").exists()
    with pytest.raises(InputError, match="more"):
        Results(tmp_path, {"steps": 3, "rates": [1, 2], "more": 1}).check()


def test_files_of_something_else_are_refused(tmp_path):
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match=r"no settings\.json"):
        Results(tmp_path, {}).check()


def test_without_a_folder_nothing_is_kept():
    assert Results(None, {}).get_or_compute("a", lambda: 1) == 1
    assert Run(seeds=[3, 4]).per_seed("x", lambda seed: seed) == [3, 4]


def test_the_table_knows_intervals_differences_and_gaps():
    rows = [
        {"name": "mean", "nDCG": Interval(0.5, 0.4, 0.6), "over": None, "n": 1200},
        {"name": "lmk", "nDCG": 0.25, "over": Difference(0.1, 0.0, 0.2, 0.04, 0.3), "n": 3},
    ]
    assert [" ".join(line.split()) for line in table(rows)] == [
        "name nDCG over n",
        "mean 0.500 (0.400 to 0.600) – 1,200",
        "lmk 0.250 +0.100 (+0.000 to +0.200) 3",
    ]
    assert table([]) == []


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


def call(command, *args):
    given = [str(arg) for arg in args]
    return CliRunner().invoke(command, given, obj=Settings(), standalone_mode=False)


def test_a_command_prints_a_table_or_json_and_continues(tmp_path):
    out = tmp_path / "out"
    first = call(made(), "--out", out, "--seed", 5)
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


def test_a_seed_is_not_negative():
    assert isinstance(call(made(), "--seed", -1).exception, click.BadParameter)


def test_the_table_of_studies_says_what_they_say():
    for name, (_, text) in lab.table.items():
        command = lab.get_command(None, name)
        assert command.name == name
        assert command.get_short_help_str(200) == text.rstrip(".") + "."


def test_an_interval_covers_the_mean_at_its_rate():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(100):
        low, high = interval(rng.normal(2, 1, 40))[1:]
        hits += low <= 2 <= high
    assert 88 <= hits <= 99


def test_figures_of_one_document_are_drawn_together():
    """Ten equal figures a document say no more than one."""
    rng = np.random.default_rng(1)
    documents = rng.normal(0, 1, 12)
    figures, names = np.repeat(documents, 10), np.repeat(np.arange(12), 10).tolist()
    assert interval(figures, names)[1:] == pytest.approx(interval(documents)[1:])
    apart = interval(figures)
    assert apart.high - apart.low < 0.5 * (interval(documents).high - interval(documents).low)


def test_one_document_has_no_spread():
    assert interval([1.0, 3.0], ["a", "a"]) == (2.0, 2.0, 2.0)


def test_a_difference_and_what_could_be_found():
    rng = np.random.default_rng(2)
    base = rng.normal(0, 1, 60)
    found = difference(base + 1 + rng.normal(0, 0.1, 60), base)
    assert found.low < 1 < found.high
    assert found.p < 0.001
    assert found.detectable == pytest.approx(2.8 * 0.1 / math.sqrt(60), rel=0.3)
    assert difference([1.0, 2.0], [1.0, 2.0]) == (0, 0, 0, 1, 0)


def test_three_seeds_use_students_t():
    """Mean 2, standard deviation 1, t(0.975, 2) = 4.3027: half width 4.3027 / √3."""
    found = over_seeds([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.high - found.mean == pytest.approx(4.30265 / math.sqrt(3), rel=1e-4)
    assert found.p == pytest.approx(0.0742, abs=1e-4)
    assert math.isnan(over_seeds([1.0], [0.0]).low)


def test_holm_multiplies_the_smallest_p_by_their_number():
    found = {n: Difference(0, 0, 0, p, 0) for n, p in (("a", 0.03), ("b", 0.01), ("c", 0.04))}
    adjusted = {n: each.p for n, each in holm(found).items()}
    assert adjusted == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})
    assert list(adjusted) == ["a", "b", "c"]
