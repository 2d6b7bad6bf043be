"""The benches of the ablation and of the stages, by hand and with tiny networks."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
if not (ROOT / "bench" / "ablation.py").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def bench() -> Iterator[ModuleType]:
    pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import ablation

        yield ablation


def recipe_of(bench: ModuleType, folder: Path) -> Any:
    shipped = bench.read_config(bench.RECIPE, init="base", out=folder)
    given = argparse.Namespace(shared=folder, base=folder, threads=1)
    return shipped, bench.cut(shipped, bench.Settings(), given)


@pytest.mark.torch
def test_the_base_row_is_the_shipped_recipe_cut_short(bench: ModuleType, tmp_path: Path) -> None:
    """Its stage III as the file says, and its windows; only length and data are others."""
    shipped, plain = recipe_of(bench, tmp_path)
    base = bench.changed(bench.ROWS["base"], plain, 1)
    (part,) = base.stages[0].parts
    assert part == shipped.stages[0].parts[0]
    assert (part.kind, part.settings.hard, part.settings.distil) == ("marked", 5, 0.7)
    assert (base.windows, base.average) == (shipped.windows, shipped.average)
    assert (base.stages[0].steps, base.seed) == (40, 1)


@pytest.mark.torch
def test_every_row_changes_one_setting_that_exists(bench: ModuleType, tmp_path: Path) -> None:
    """A name or value that cannot be would be refused here; a row of no effect is none."""
    _, plain = recipe_of(bench, tmp_path)
    configs = {name: bench.changed(row, plain, 1) for name, row in bench.ROWS.items()}
    assert len(set(map(repr, configs.values()))) == len(configs)
    for name, row in bench.ROWS.items():
        given = [change for change in (row.part, row.run, row.data, row.reads) if change]
        assert len(given) == (name != "base")
        assert len({"halo" if key in ("left", "right") else key for key in {**row.part, **row.run,
                    **row.data, **row.reads}}) == (name != "base")  # fmt: skip


@pytest.mark.torch
def test_rows_that_are_asked_for(bench: ModuleType) -> None:
    """The recipe is always among them; a name that is mistyped gets its neighbour."""
    assert bench.chosen("rank,distil-0") == ["base", "distil-0", "rank"]
    assert bench.chosen(None) == list(bench.ROWS)
    with pytest.raises(bench.InputError, match="hard-1") as wrong:
        bench.chosen("hard-1")
    assert "hard-10" in wrong.value.hint


@pytest.mark.torch
def test_rows_are_trained_measured_and_not_made_again(
    bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tiny network for two steps a row, its loop and its questions the real ones."""
    from milepost_eval.tasks.names import load
    from milepost_train.data import tokenize
    from support.tiny_runs import write_run

    np = pytest.importorskip("numpy")
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    stage = '[[stage]]\nkind = "marked"\ndistil = 0\nsteps = 2\nwarm_up = 1\n'
    plain = bench.read_config(write_run(tmp_path, stages=stage))
    tokenizer = sys.modules["short_runs"].reader_of(bench.opened(plain))
    task = load(str(tmp_path / "task"), "dev")
    asked = []
    for document in task.documents:
        own = tuple(q for q in task.questions if q.document == document.name)
        ids = tuple(
            np.array(each.ids, np.int32) for each in tokenizer.encode([q.text for q in own])
        )
        text = tokenize(tokenizer, document.name, "task", document.text)
        asked.append(bench.Asked("task", text, own, ids))
    made: list[str] = []
    trained = bench.trained
    monkeypatch.setattr(
        bench, "trained", lambda *given: (made.append(given[2].name), trained(*given))[1]
    )
    monkeypatch.setattr(bench, "WIDTHS", (8,))
    materials = bench.Materials()

    def run(*names: str) -> list[dict[str, Any]]:
        with bench.Journal(tmp_path / "results.jsonl", {}) as journal:
            for name in names:
                bench.run(bench.ROWS[name], name, 1, plain, materials, journal, asked, 60)
            return list(journal.rows())

    first = run("base", "landmark-own")
    assert [row["row"] for row in first] == ["base", "landmark-own"]
    assert first[0]["figures"].keys() >= {"alone", "front-2", "boundary", "last", "alone@8"}
    assert len(first[0]["figures"]["alone"]) == len(task.questions)
    assert {folder.name for folder in tmp_path.iterdir() if "_" in folder.name} == {"1_base"}
    again = run("base", "landmark-own", "read-no-halo")
    assert again[:2] == first
    assert again[2]["change"]["reads"] == {"left": 0, "right": 0}
    assert [name.partition("-")[0] for name in made] == ["1_base", "1_landmark", "1_base"]


@pytest.mark.torch
def test_the_figures_of_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: ten sentences of ten characters, evidence 3–5 and 8, a budget of three sentences."""
    pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
    np = pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    bench = runpy.run_path(str(ROOT / "bench" / "stages.py"))
    assert len(bench["stages"](bench["QUICK"])) == 2 + len(bench["ALPHAS"])
    bench = runpy.run_path(str(ROOT / "bench" / "short_runs.py"))
    spans = [(10 * n, 10 * n + 10) for n in range(10)]
    text = bench["Text"]("d", "t", np.zeros(0, np.int32), np.zeros(11, np.int64), spans)
    question = bench["Question"]("q", "?", "d", ((35, 55), (80, 90)))
    scores = np.array([0.0, 0.1, 0.2, 0.9, 0.3, 0.8, 0.1, 0.0, 0.5, 0.4], np.float32)
    found = bench["figures"](scores, text, question, 30)  # hits 3, 5, 8
    assert found["alone"] == pytest.approx(20 / 30)  # 35–40, 50–55, 80–90
    assert found["front-2"] == pytest.approx(5 / 30)  # sentences 3, 2, 1
    assert found["both-sides-2"] == pytest.approx(15 / 30)  # 3, 2, 4
    assert found["boundary"] == 1.0  # 5 and 8
    assert (found["last"], found["last by chance"]) == (0.0, pytest.approx(1 / 3))
    assert bench["alone"](scores, text, question, 30) == found["alone"]
