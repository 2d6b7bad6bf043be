"""``milepost lab power`` from arguments to table, JSON and drawing."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from milepost.console.options import Settings
from milepost.engine import find_model, shipped_models
from milepost.errors import InputError, MissingExtra
from milepost_lab.command import STUDIES
from milepost_lab.power import study, sweeps
from milepost_lab.power.command import NAMES, SWEEPS
from milepost_lab.power.command import command as power
from milepost_lab.power.speed import Speed

SMALL = ("--servers", "6", "--minutes", "0.5", "--seeds", "2", "--more", "50")


@pytest.fixture
def speed(tmp_path):
    """A record made for the shipped model."""
    if not shipped_models():
        pytest.skip("needs a shipped model")
    file = tmp_path / "speed.json"
    fingerprint = find_model(None).manifest.fingerprint
    Speed(0.005, 0.0003, fingerprint, "engine", "machine", "2026-11-20").write(file)
    return str(file)


def run(*args, **options):
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**apart).invoke(power, list(args), obj=Settings(), **options)


def test_names_are_those_of_the_lab():
    assert {study.FREE, *NAMES} == set(study.CONTROLLERS)
    assert set(sweeps.SWEEPS) == set(SWEEPS)
    assert "power" in STUDIES


def test_a_table_of_fleets(speed):
    done = run(*SMALL, "--controller", "polca", "--speed", speed)
    assert done.exit_code == 0, done.output
    assert "| servers | controller | search P50 |" in done.stdout
    assert done.stdout.count("| polca |") == 4  # 0, 17, 33 and 50 % of six


def test_the_same_seed_prints_the_same_and_another_does_not(speed):
    first, again, other = (
        run(*SMALL, "--controller", "polca", "--speed", speed, "--seed", seed).stdout
        for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_json_and_a_drawing(speed, tmp_path):
    pytest.importorskip("matplotlib")
    drawing = tmp_path / "power.svg"
    given = ("--sweep", "hysteresis", "--json", "--report", str(drawing), "--speed", speed)
    done = run(*SMALL, *given)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["settings"]["seeds"] == [0, 1]
    assert {row["controller"] for row in made["rows"]} == {"polca", "polca-kept"}
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")


def test_a_record_of_another_model_is_refused(tmp_path, speed):
    file = tmp_path / "other.json"
    Speed(0.005, 0.0003, "another", "engine", "machine", "2026-11-20").write(file)
    done = run(*SMALL, "--speed", str(file))
    assert isinstance(done.exception, InputError)
    assert "--measure" in str(done.exception)


def test_the_engine_is_measured_where_there_is_no_record(tmp_path, speed):
    new = tmp_path / "new" / "speed.json"
    done = run(*SMALL, "--more", "0", "--controller", "brake", "--speed", str(new))
    assert done.exit_code == 0, done.output
    assert Speed.read(new).model == Speed.read(Path(speed)).model


def test_a_drawing_that_cannot_be_drawn_is_told_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("--report", str(tmp_path / "power.svg"), "--speed", str(tmp_path / "speed.json"))
    assert isinstance(done.exception, MissingExtra)
    assert not (tmp_path / "speed.json").exists()
