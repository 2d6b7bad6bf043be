"""GGeM against GeM, mean and maximum on digits."""

import json

import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("sklearn", reason="needs the lab extra")

from click.testing import CliRunner

from milepost.console.options import Settings
from milepost.errors import InputError
from milepost_lab.ggem import study as module
from milepost_lab.ggem.command import command
from milepost_lab.ggem.study import ARMS, PAIRS, study

pytestmark = pytest.mark.torch


def test_a_study_that_was_stopped_goes_on_with_what_is_kept(tmp_path):
    def stop(arm, done, of):
        assert of == len(ARMS)
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(1, 1, folds=1, folder=tmp_path, progress=stop)
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(kept) == 3 + 1  # and their settings
    found = study(1, 1, folds=1, folder=tmp_path)
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    assert found == study(1, 1, folds=1)
    assert list(found.gains) == [f"{a} - {b}" for a, b in PAIRS]
    gain = found.gains["ggem - mean"]
    assert gain.questions == gain.clusters == 597
    apart = found.accuracies("ggem")[0] - found.accuracies("mean")[0]
    assert gain.mean == pytest.approx(apart)


def test_the_command_prints_poolings_and_differences(tmp_path):
    given = ["--seeds", "1", "--rounds", "1", "--folds", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(command, given, obj=Settings(), standalone_mode=False)
    assert result.exception is None
    for name in (*ARMS, "ggem - gem", "detectable"):
        assert name in result.output
    again = CliRunner().invoke(command, [*given, "--json"], obj=Settings(), standalone_mode=False)
    assert set(json.loads(again.output)["accuracies"]) == set(ARMS)


def test_the_command_refuses_a_folder_of_other_settings(monkeypatch, tmp_path):
    """What is there stays; more seeds may join it."""
    monkeypatch.setattr(module, "ARMS", {name: ARMS[name] for name in ("mean", "max")})
    monkeypatch.setattr(module, "PAIRS", (("mean", "max"),))

    def run(seeds, rounds):
        given = ["--seeds", seeds, "--rounds", rounds, "--folds", 1, "--out", tmp_path, "--json"]
        return CliRunner().invoke(
            command, [str(each) for each in given], obj=Settings(), standalone_mode=False
        )

    assert run(1, 1).exception is None
    kept = {file: file.read_bytes() for file in tmp_path.iterdir()}
    refused = run(1, 2).exception
    assert isinstance(refused, InputError)
    assert str(refused).startswith(f"{tmp_path} holds runs with --rounds 1, not --rounds 2; try: ")
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == kept
    assert run(2, 1).exception is None
    assert {file: file.read_bytes() for file in kept} == kept
