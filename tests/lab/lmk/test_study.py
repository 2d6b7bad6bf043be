"""The comparison of document poolings: what it measures, keeps and refuses."""

from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from safetensors.torch import save_file  # noqa: E402

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost.lab.lmk import study as module  # noqa: E402
from milepost.lab.lmk.command import command, shown  # noqa: E402
from milepost.lab.lmk.readouts import POOLINGS  # noqa: E402
from milepost.lab.lmk.study import LmkSettings, ndcg, study  # noqa: E402
from milepost.lab.lmk.training import LmkRecipe  # noqa: E402
from milepost.model.bert import Bert  # noqa: E402
from support.long_corpus import write_corpus  # noqa: E402
from support.small_comparison import write_pairs  # noqa: E402
from support.small_models import CONFIGS, write_tokenizer  # noqa: E402

SMALL = LmkSettings(
    LmkRecipe(steps=2, batch=4),
    (1024, 2048),
    min_tokens=2048,
    documents=4,
    questions=2,
    states=64,
    held=8,
    seeds=(0,),
    dtype="float32",
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A BERT of six layers, and data with long documents."""
    base, data = tmp_path_factory.mktemp("base"), tmp_path_factory.mktemp("data")
    config = {**CONFIGS["bert"], "num_hidden_layers": 6}
    (base / "config.json").write_text(json.dumps(config))
    torch.manual_seed(0)
    save_file(Bert(config).state_dict(), base / "model.safetensors")
    write_tokenizer(base / "tokenizer.json")
    write_pairs(write_corpus(data) / "pairs")
    return base, data


@pytest.fixture(scope="module")
def done(
    folders: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("runs")
    return out, study(*folders, out, SMALL)


def plain(result: dict[str, Any]) -> Any:
    """Runs without seconds, as JSON holds them."""
    runs = [{name: run[name] for name in run if name != "seconds"} for run in result["runs"]]
    return json.loads(json.dumps(runs))


def test_every_pooling_is_measured_at_every_length(done: tuple[Path, dict[str, Any]]) -> None:
    """In one pass, by sentences and over windows where these exist."""
    result = done[1]
    assert [run["pooling"] for run in result["runs"]] == list(POOLINGS)
    read = {
        run["pooling"]: [(f["reading"], f["granularity"], f["length"]) for f in run["figures"]]
        for run in result["runs"]
    }
    assert read["cls"] == read["last"] == [("whole", 32, 1024), ("whole", 32, 2048)]
    assert [reading for reading, _, _ in read["mean"]] == ["whole"] * 2 + ["windows"] * 2
    assert len(read["lmk"]) == 6
    for run in result["runs"]:
        assert len(run["losses"]) == 2
        assert 0 <= run["short"] <= 1
        for figure in run["figures"]:
            assert len(figure["ndcg"]) == len(result["questions"])
    mean = next(run for run in result["runs"] if run["pooling"] == "mean")
    assert 0.5 < mean["estimate"] <= 1.0001


def test_finished_runs_are_not_repeated(
    folders: tuple[Path, Path], done: tuple[Path, dict[str, Any]]
) -> None:
    """Not even without their figures: weights are read again. Other settings train anew."""
    out, first = done
    trained: list[str] = []
    again = study(*folders, out, SMALL, lambda name, _, __: trained.append(name))
    assert plain(again) == plain(first)
    (out / "lmk-0.json").unlink()
    (out / "cls-0.json").write_text("{")
    again = study(*folders, out, SMALL, lambda name, _, __: trained.append(name))
    assert plain(again) == plain(first)
    assert not trained
    other = replace(SMALL, recipe=replace(SMALL.recipe, rate=1e-3))
    study(*folders, out, other, lambda name, _, __: trained.append(name))
    assert set(trained) == {f"{pooling}-0" for pooling in POOLINGS}


def test_the_rank_of_the_right_document_decides() -> None:
    queries, vectors = torch.eye(3), torch.eye(3)
    assert ndcg(queries, vectors, [0, 1, 2]) == [1, 1, 1]
    assert ndcg(queries[:1], vectors, [1]) == pytest.approx([0.63093], abs=1e-5)


def test_the_command_prints_a_table_and_writes_the_file_of_the_page(
    folders: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUICK", SMALL)
    file = tmp_path / "result.json.xz"
    args = ["--quick", "--base", folders[0], "--data", folders[1], "--out", tmp_path / "runs"]
    args += ["--result", file, "--steps", 1, "--dtype", "float32"]
    result = CliRunner().invoke(
        command, list(map(str, args)), obj=Settings(quiet=True), standalone_mode=False
    )
    assert result.exception is None
    head, *lines = result.stdout.splitlines()
    assert head.split()[-2:] == ["1,024", "2,048"]
    assert len(lines) == 7
    found = json.loads(lzma.decompress(file.read_bytes()))
    assert found["settings"]["recipe"]["steps"] == 1
    assert list(shown(found["runs"])) == [head, *lines]


def test_too_little_data_is_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    base, data = folders
    with pytest.raises(InputError, match="has no tokenizer"):
        study(tmp_path, data, tmp_path, SMALL)
    with pytest.raises(InputError, match="has no pairs/"):
        study(base, tmp_path, tmp_path, SMALL)
    with pytest.raises(
        InputError, match="documents of 90,000 tokens with a question, fewer than 2"
    ):
        study(base, data, tmp_path, replace(SMALL, min_tokens=90_000))
    with pytest.raises(InputError, match="pairs, fewer than 1004"):
        study(base, data, tmp_path, replace(SMALL, held=1000))
