"""The study of landmark pooling: what it measures, keeps and refuses."""

from __future__ import annotations

import gzip
import json
import lzma
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost.lab.data.long_documents import TASKS  # noqa: E402
from milepost.lab.lmk import study as module  # noqa: E402
from milepost.lab.lmk.arms import POOLINGS  # noqa: E402
from milepost.lab.lmk.base import BaseSettings  # noqa: E402
from milepost.lab.lmk.command import command  # noqa: E402
from milepost.lab.lmk.material import Amounts  # noqa: E402
from milepost.lab.lmk.pairs import SETS  # noqa: E402
from milepost.lab.lmk.study import LmkSettings, Study  # noqa: E402
from milepost.lab.lmk.training import Recipe  # noqa: E402

WORDS = [f"{a}{b}" for a in ("cat", "dog", "tree", "river", "bird") for b in ("", "s", "ly", "ing")]
SMALL = LmkSettings(
    BaseSettings(layers=2, width=16, heads=2, vocabulary=400, row=64, batch=2, steps=2),
    Recipe(steps=2, batch=4, passage=(32, 64), granularities=(16, 32)),
    Amounts((512, 1024), hosts=3, documents=3, questions=2, tuning=4, short=4),
    rates=(1e-4, 1e-3),
    tuning_steps=1,
    seeds=(0, 1),
    attributed=2,
)


def text(random: Random, words: int) -> str:
    return "".join(f"The {' '.join(random.choices(WORDS, k=9))}. " for _ in range(words // 10))


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of three splits, tasks whose documents are long enough, and pairs."""
    folder, random = tmp_path_factory.mktemp("data"), Random(1)
    splits = ["train", "dev", "test"]
    write(
        folder / "corpus" / "science.jsonl.gz",
        [
            {
                "id": f"{split}-{n}",
                "title": f"The {split} number {n}",
                "text": text(random, 2600),
                "kind": "science",
                "licence": "CC0",
                "source": "",
                "split": split,
            }
            for split in splits
            for n in range(2)
        ],
    )
    for name in TASKS:
        write(
            folder / "tasks" / name / "documents.jsonl.gz",
            [
                {"id": split, "title": "", "text": text(random, 2600), "meta": {}}
                for split in splits
            ],
        )
        write(
            folder / "tasks" / name / "questions.jsonl.gz",
            [
                {
                    "id": f"{split}{n}",
                    "document": split,
                    "question": "What sat?",
                    "spans": [[4, 40]],
                    "split": split,
                }
                for split in splits
                for n in range(2)
            ],
        )
    for name in SETS:
        rows = [
            {"query": f"what is {name} {n}?", "passage": f"{name} {n}. {text(random, 120)}"}
            for n in range(24)
        ]
        write(folder / "pairs" / f"{name}.jsonl.gz", rows)
    return folder


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
            assert len(each["ndcg"]) == len(each["reciprocal"]) == asked[each["material"]]
            assert all(0 <= figure <= 1 for figure in each["ndcg"])
    probes = {each["reading"] for each in runs["lmk", 0]["found"]} - {"own"}
    granular = {"granularity 64", "granularity 256", "granularity 2048"}
    assert probes == {*granular, "windows", "no positions"}
    assert [quarter for _, quarter in result["needles"]] == [0, 1, 2, 3] * 3


def test_finished_runs_are_not_repeated(data: Path, done: tuple[Path, dict[str, Any]]) -> None:
    """Not even without their figures: weights are read again. Other settings train anew."""
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
    other = replace(SMALL, recipe=replace(SMALL.recipe, temperature=0.1))
    study(data, out, other, said).run("mean", 0, 1e-3)
    assert trained


def test_the_command_prints_the_page_and_writes_the_figures(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module.SIZES, "quick", replace(SMALL, rates=(1e-3,)))
    file = tmp_path / "result.json.xz"
    args = ["--size", "quick", "--data", data, "--out", tmp_path / "runs", "--device", "cpu"]
    runner = CliRunner()

    def run(*more: object) -> Any:
        return runner.invoke(
            command,
            [str(each) for each in (*args, *more)],
            obj=Settings(quiet=True),
            standalone_mode=False,
        )

    base = run("--base-only")
    assert base.exception is None
    assert "loss" in base.stdout
    result = run("--result", file, "--seeds", 1)
    assert result.exception is None
    assert "## Verdict" in result.stdout
    found = json.loads(lzma.decompress(file.read_bytes()))
    assert found["settings"]["seeds"] == [0]
    assert len(found["runs"]) == 6


def test_too_little_data_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no corpus/"):
        study(tmp_path, tmp_path / "out").result()
    long = replace(SMALL, amounts=replace(SMALL.amounts, lengths=(512, 90_000)))
    with pytest.raises(InputError, match="0 held-out documents of 90,000 tokens, fewer than 2"):
        study(data, tmp_path / "long", long).result()
    held = replace(SMALL, amounts=replace(SMALL.amounts, tuning=1000))
    with pytest.raises(InputError, match="192 pairs are too few: 1004 are held out"):
        study(data, tmp_path / "held", held).result()
