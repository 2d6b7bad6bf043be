"""The study of landmark pooling: what it measures, keeps and refuses."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import shutil
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from click.testing import CliRunner

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost_eval.embedders import choose  # noqa: E402
from milepost_lab.lmk.arms import POOLINGS  # noqa: E402
from milepost_lab.lmk.command import command  # noqa: E402
from milepost_lab.lmk.settings import CONTROLS, SIZES, LmkSettings, chosen_settings  # noqa: E402
from milepost_lab.lmk.study import Study  # noqa: E402
from support.small_lmk import SMALL, write_minilm  # noqa: E402


def study(data: Path, out: Path, settings: LmkSettings = SMALL, said: Any = None) -> Study:
    cpu = torch.device("cpu")
    return Study(out, data, settings, cpu, torch.float32, said or (lambda *_: None))


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("runs")
    return out, study(data, out).result()


def test_every_pooling_is_measured_at_every_length(done: tuple[Path, dict[str, Any]]) -> None:
    """The three of the claim with every seed, the controls with one; probes with the first."""
    result = done[1]
    runs = {(run["pooling"], run["seed"]): run for run in result["runs"]}
    claimed = {(pooling, seed) for pooling in ("lmk", "mean", "cls") for seed in (0, 1)}
    assert set(runs) == claimed | {(pooling, 0) for pooling in ("every", "multi-cls", "last")}
    assert set(result["gate"]) == set(result["rates"]) == set(POOLINGS)
    assert set(result["rates"].values()) <= {1e-4, 1e-3}
    for (_, seed), run in runs.items():
        own = [
            (each["material"], each["length"]) for each in run["found"] if each["reading"] == "own"
        ]
        long = [(kind, length) for length in (512, 1024) for kind in ("needles", "natural")]
        assert own == [("short", 256), *long]
        assert bool(run.get("attribution")) == (seed == 0)
        for each in run["found"]:
            asked = {"short": 4, "needles": 12, "natural": len(result["natural"])}
            assert len(each["ndcg"]) == asked[each["material"]]
            assert all(0 <= figure <= 1 for figure in each["ndcg"])
    probes = {each["reading"] for each in runs["lmk", 0]["found"]} - {"own"}
    granular = {"granularity 64", "granularity 256", "granularity 2048"}
    assert probes == {*granular, "windows", "no positions"}
    assert [quarter for _, quarter in result["needles"]] == [0, 1, 2, 3] * 3


def test_finished_runs_are_not_repeated(data: Path, done: tuple[Path, dict[str, Any]]) -> None:
    """Not even without their figures: weights are read again."""
    out, first = done
    trained: list[str] = []

    def said(name: str, *_: int) -> None:
        if "rate" in name:
            trained.append(name)

    again = study(data, out, said=said).result()
    assert again["runs"] == json.loads(json.dumps(first["runs"]))
    (out / "lmk-0.json").unlink()
    (out / "cls-1.json").write_text("{")
    assert study(data, out, said=said).result()["runs"] == again["runs"]
    assert not trained


def test_controls_can_wait(data: Path, done: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    """Without them the claim is judged by the same runs; the gate is about all poolings."""
    out, whole = done
    few = shutil.copytree(out, tmp_path / "few")
    for file in (file for name in CONTROLS for file in few.glob(f"*{name}-*")):
        file.unlink()
    kept = {file.name for file in few.iterdir()}
    claimed = study(data, few, replace(SMALL, controls=False)).result()
    assert {file.name for file in few.iterdir()} == kept
    assert set(claimed["rates"]) == {"lmk", "mean", "cls"}
    assert claimed["gate"] == whole["gate"]
    ours = [run for run in whole["runs"] if run["pooling"] in claimed["rates"]]
    assert claimed["runs"] == json.loads(json.dumps(ours))


def test_other_settings_are_refused_and_what_is_done_stays(
    data: Path, done: tuple[Path, dict[str, Any]]
) -> None:
    """Named are the folder and both values; a third seed is none of them."""
    out = done[0]
    kept = {file: file.read_bytes() for file in out.glob("*.*")}
    recipe = replace(SMALL.recipe, temperature=0.1)
    for other, said in (
        (replace(SMALL, recipe=recipe), "recipe.temperature=0.03, not recipe.temperature=0.1"),
        (replace(SMALL, attributed=0), "attributed=2, not attributed=0"),
        (replace(SMALL, rates=(1e-4,)), "rates=(0.0001, 0.001), not rates=(0.0001,)"),
    ):
        with pytest.raises(InputError, match=re.escape(f"{out} holds runs with {said}; try: ")):
            study(data, out, other).result()
    older = out / "study.json"
    older.unlink()  # as a folder has none that was made before there was one
    with pytest.raises(InputError, match=r"gate-lmk\.json was made with other settings"):
        study(data, out, replace(SMALL, recipe=recipe)).result()
    (out / "mean-0.json").unlink()
    with pytest.raises(InputError, match=r"mean-0\.safetensors was made with other settings"):
        study(data, out, replace(SMALL, recipe=recipe)).run("mean", 0, 1e-3)
    more = study(data, out, replace(SMALL, seeds=(0, 1, 2)))
    rate = json.loads(kept[out / "cls-1.json"])["made"]["rate"]
    assert more.run("cls", 2, rate)["seed"] == 2
    assert more.result()["runs"]
    assert {file: file.read_bytes() for file in kept} == kept


def test_the_control_has_short_passages_and_one_rate() -> None:
    for size, settings in SIZES.items():
        name, control = chosen_settings(size, minilm=True)
        assert name == f"{size}-minilm"
        assert control.recipe.passage == (
            settings.recipe.passage[0],
            128 if size == "quick" else 256,
        )
        assert control.rates == (1e-4,)
        assert control.amounts == settings.amounts


def test_other_data_is_refused(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the command, also where the encoder is not pre-trained on it."""
    monkeypatch.setitem(SIZES, "quick", replace(SMALL, rates=(1e-3,), attributed=0))
    write_minilm(tmp_path / "minilm")
    monkeypatch.setattr(choose, "minilm_folder", lambda: tmp_path / "minilm")
    other = tmp_path / "data"
    shutil.copytree(data, other)
    for file in (other / "pairs").iterdir():
        file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"what", b"who")))

    def run(data: Path, *more: object) -> Any:
        given = ["--size", "quick", "--minilm", "--seeds", 1, "--out", tmp_path / "out", *more]
        return CliRunner().invoke(
            command,
            [str(each) for each in (*given, "--data", data, "--device", "cpu", "--json")],
            obj=Settings(quiet=True),
            standalone_mode=False,
        )

    first = run(data)
    assert first.exception is None
    for each in json.loads(first.stdout)["runs"]:
        assert 0 <= each["flat"]["best"] <= each["flat"]["steps"] <= 3
        assert each["flat"]["flat"] in (True, False)
    kept = {file: file.read_bytes() for file in (tmp_path / "out").glob("*/*.*")}
    refused = run(other).exception
    assert isinstance(refused, InputError)
    assert "quick-minilm holds runs with the --data of fingerprint" in str(refused)
    assert json.loads(run(data).stdout)["runs"] == json.loads(first.stdout)["runs"]
    assert {file: file.read_bytes() for file in (tmp_path / "out").glob("*/*.*")} == kept


def test_the_command_prints_the_page_and_writes_the_figures(
    commanded: tuple[Path, list[Any]],
) -> None:
    folder, (base, result) = commanded
    assert "loss" in base.stdout
    assert "## Verdict" in result.stdout
    written = (folder / "result.json.xz").read_bytes()
    assert written == (folder / "runs" / "quick" / "result.json.xz").read_bytes()
    found = json.loads(lzma.decompress(written))
    assert found["settings"]["seeds"] == [0]
    assert len(found["runs"]) == 6


def test_longer_training_starts_from_the_same_encoder(
    data: Path, commanded: tuple[Path, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of its own, at the rate that was given."""
    monkeypatch.setitem(SIZES, "quick", replace(SMALL, rates=(1e-3,)))
    shutil.copytree(commanded[0] / "runs", tmp_path / "runs")
    encoder = tmp_path / "runs" / "quick" / "base"
    kept = {file: file.stat().st_mtime_ns for file in encoder.glob("checkpoint/*")}
    given = ["--size", "quick", "--data", data, "--out", tmp_path / "runs", "--device", "cpu"]
    longer = ["--steps", 3, "--rate", 1e-2, "--seeds", 1, "--no-controls", "--json"]
    done = CliRunner().invoke(
        command,
        [str(each) for each in (*given, *longer)],
        obj=Settings(quiet=True),
        standalone_mode=False,
    )
    assert done.exception is None
    found = json.loads(done.stdout)
    assert found["settings"]["recipe"]["steps"] == 3
    assert found["rates"] == dict.fromkeys(("lmk", "mean", "cls"), 1e-2)
    assert (tmp_path / "runs" / "quick-3-steps" / "lmk-0.json").is_file()
    assert {file: file.stat().st_mtime_ns for file in encoder.glob("checkpoint/*")} == kept
    assert not (tmp_path / "runs" / "quick-3-steps" / "base").exists()
    before = json.loads(lzma.decompress((commanded[0] / "result.json.xz").read_bytes()))
    assert found["gate"] == before["gate"]
    assert found["runs"][0]["found"] != before["runs"][0]["found"]


def test_steps_are_not_for_networks_that_train_until_flat(tmp_path: Path) -> None:
    given = ["--minilm", "--steps", "3", "--data", str(tmp_path), "--out", str(tmp_path)]
    done = CliRunner().invoke(command, given, obj=Settings(quiet=True))
    assert done.exit_code == 2
    assert "give --steps or --minilm, which trains until the loss is flat" in done.output


@pytest.mark.parametrize("other", ["--minilm", "--result=figures.json.xz"])
def test_the_encoder_alone_has_no_other_outcome(other: str, tmp_path: Path) -> None:
    given = ["--base-only", other, "--data", str(tmp_path), "--out", str(tmp_path)]
    done = CliRunner().invoke(command, given, obj=Settings(quiet=True))
    assert done.exit_code == 2
    assert f"give --base-only or {other.partition('=')[0]}, not both" in done.output


def test_words_alone_are_asked_the_same(done: tuple[Path, dict[str, Any]]) -> None:
    """BM25 at every length; only a passage put in has the words of its query."""
    result = done[1]
    own = [each for each in result["runs"][0]["found"] if each["reading"] == "own"]
    for words, network in zip(result["words"], own, strict=True):
        for name in ("material", "length", "reading"):
            assert words[name] == network[name]
        assert len(words["ndcg"]) == len(network["ndcg"])
        if words["material"] in ("short", "needles"):
            assert fmean(words["ndcg"]) > 0.9


def test_too_little_data_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no corpus/"):
        study(tmp_path, tmp_path / "out").result()
    long = replace(SMALL, amounts=replace(SMALL.amounts, lengths=(512, 90_000)))
    with pytest.raises(InputError, match="0 held-out documents of 90,000 tokens, fewer than 2"):
        study(data, tmp_path / "long", long).result()
    held = replace(SMALL, amounts=replace(SMALL.amounts, tuning=1000))
    with pytest.raises(InputError, match="192 pairs are too few: 1004 are held out"):
        study(data, tmp_path / "held", held).result()
    large = replace(SMALL, recipe=replace(SMALL.recipe, batch=500))
    with pytest.raises(InputError, match="left for training, fewer than a batch of 500"):
        study(data, tmp_path / "large", large).result()
