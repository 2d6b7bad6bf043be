"""``milepost lab compare`` and ``milepost lab show`` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from support.small_comparison import write_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost import pooling  # noqa: E402
from milepost.console.options import Interrupted, Settings  # noqa: E402
from milepost.errors import InputError, MilepostError  # noqa: E402
from milepost.lab.command import lab  # noqa: E402


def run(*args, quiet=False):
    return CliRunner().invoke(
        lab, [str(arg) for arg in args], obj=Settings(quiet=quiet), standalone_mode=False
    )


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), "bert")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_pairs(folder / "pairs", 200)
    return folder


def comparison(checkpoint, data, *more):
    sizes = ("--pairs", 30, "--asked", 10, "--seeds", 1, "--steps", 3, "--tasks", "sentences")
    return run("compare", "--model", checkpoint, "--data", data, *sizes, *more)


def test_tables_plots_and_a_file_of_runs(checkpoint, data, tmp_path, cache):
    """A table with a row an operator and control; the second time nothing is trained."""
    pytest.importorskip("matplotlib", reason="needs the eval extra")
    file, plots = tmp_path / "runs.jsonl", tmp_path / "plots"
    some = ("--no-controls", "--pool", "mean,lmk,mean@random", "--json", file, "--report", plots)
    result = comparison(checkpoint, data, *some)
    assert result.exception is None
    assert result.return_value == 0
    assert "### Ranking" in result.output
    for row in ("mean", "lmk", "mean@random"):
        assert f"| {row} |" in result.output
    assert (plots / "differences.svg").is_file()
    assert (cache / "lab").is_dir()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["kind"] for line in lines][:2] == ["task", "run"]
    before = file.read_bytes()
    again = comparison(checkpoint, data, *some)
    assert file.read_bytes() == before
    assert again.output.replace("\n\n\n", "\n\n") == result.output.replace("\n\n\n", "\n\n")


def test_without_training(checkpoint, data):
    result = comparison(checkpoint, data, "--pool", "mean,cls", "--no-train", "--no-controls")
    assert result.exception is None
    assert "| cls |" in result.output


def test_ctrl_c_says_what_is_kept(checkpoint, data, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("milepost.lab.compare.session.train", stop)
    result = comparison(checkpoint, data, "--pool", "mean", "--json", tmp_path / "runs.jsonl")
    assert isinstance(result.exception, Interrupted)
    assert "repeat the command" in str(result.exception)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--pool", "men"), "try: 'mean'"),
        (("--tasks", "sentense"), "try: 'sentences'"),
        (("--pool", "mean", "--data", "nowhere"), "nowhere is not there"),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(checkpoint, data, more, said):
    result = comparison(checkpoint, data, *more)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)


def test_an_experiment_that_is_none():
    result = run("compar")
    assert isinstance(result.exception, MilepostError)
    assert "try: 'compare'" in str(result.exception)


def test_show_explains_and_draws(checkpoint, tmp_path):
    out = tmp_path / "weights.svg"
    result = run("show", "max", "The cat sat on the mat.", "--model", checkpoint, "--out", out)
    assert result.exception is None
    for part in ("z_j = max_i x_ij", "docs/pooling/plain.md", "vectors", "What counts", " %  "):
        assert part in result.output
    assert out.read_text(encoding="utf-8").startswith("<svg")


def test_show_as_json(checkpoint):
    result = run("show", "attention:temperature=0.5", "The cat.", "--model", checkpoint, "--json")
    told = json.loads(result.output)
    assert told["settings"] == {"temperature": 0.5}
    assert told["needs"] == []
    assert [part for part, _ in told["counts"]] == ["[CLS]", "the", "cat", ".", "[SEP]"]
    assert sum(share for _, share in told["counts"]) == pytest.approx(1, abs=1e-4)
    shape = (len(told["example"]["states"]), len(told["example"]["vectors"][0]))
    assert shape == (5, 8)


def test_show_of_trained_weights(checkpoint, tmp_path):
    """A direction that one token has: it counts more than with the weights begun with."""
    file = tmp_path / "trained.npz"
    pooling.get("attention", weights={"query": np.ones(32, np.float32)}).save(file)
    given = ("show", "attention", "The cat sat.", "--model", checkpoint, "--json")
    begun, trained = (json.loads(run(*given, *w).output) for w in ((), ("--weights", file)))
    assert begun["counts"] != trained["counts"]
    result = run("show", "mean", "--weights", file, "--model", checkpoint)
    assert "holds attention, not mean" in str(result.exception)


def test_show_without_a_model_shows_the_rest(monkeypatch):
    monkeypatch.setattr("milepost.lab.compare.reading.CHECKPOINT", "nowhere")
    monkeypatch.setattr("milepost.evaluate.embedders.choose._MINILM", "no_such_package")
    result = run("show", "mean")
    assert result.exception is None
    assert "z = (1/n) Σ x_i" in result.output
    assert "What counts" not in result.stdout
    asked = run("show", "mean", "A text.")
    assert isinstance(asked.exception, InputError)
