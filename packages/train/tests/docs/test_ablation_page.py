"""The page of the ablation says what its figures say, and the bench changes one thing a row."""

from __future__ import annotations

import argparse
import json
import lzma
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[4]
if not (ROOT / "tools" / "make_ablation.py").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

COUNT = 40
LEVELS = {
    "base": (0.60, 0.62, 0.61),
    "good": (0.70, 0.72, 0.71),
    "bad": (0.50, 0.53, 0.50),
    "same": (0.60, 0.63, 0.60),
    "unsteady": (0.90, 0.61, 0.90),
    "dimensions": (0.60, 0.62),
}
"""Evidence found by hits alone, by seed; one row was stopped."""

WIDTHS = {"alone@384": 0.0, "alone@192": 0.01, "alone@128": 0.02, "alone@64": 0.2}


def figures(level: float) -> dict[str, list[float | None]]:
    alone = [level + 0.001 * (n % 7) for n in range(COUNT)]
    found: dict[str, list[float | None]] = {"alone": list(alone), "front-2": list(alone)}
    found["boundary"] = [0.5] * COUNT
    for metric, less in WIDTHS.items():
        found[metric] = [value - less for value in alone]
    return found


def result() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two tasks of ten documents each; all rows of a seed come before the next."""
    tasks = ("written", "trials")
    facts = {
        "made": "some day",
        "settings": {"steps": 40, "rate": 1e-4, "budget": 1600},
        "windows": {"size": 320, "left": 48, "right": 16},
        "steps of the recipe": 2400,
        "documents": 210,
        "trained on": 3563,
        "questions": [(tasks[n % 2], f"d{n // 2}", f"q{n}", "") for n in range(COUNT)],
    }
    runs = [
        {"row": row, "told": f"{row} told", "seed": seed + 1, "seconds": [60.0, 30.0],
         "figures": figures(levels[seed])}
        for seed in range(3)
        for row, levels in LEVELS.items()
        if seed < len(levels)
    ]  # fmt: skip
    return facts, runs


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "make_ablation.py"))


@pytest.fixture(scope="module")
def page(maker: dict[str, Any]) -> str:
    return maker["page"](*result())


def section(page: str, name: str) -> str:
    return page.partition(f"## {name}\n")[2].partition("\n## ")[0]


def rows(page: str, name: str) -> dict[str, list[str]]:
    lines = section(page, name).splitlines()
    cells = ([c.strip() for c in line.split("|")[1:-1]] for line in lines)
    return {row[0]: row[1:] for row in cells if row}


def test_the_page_is_up_to_date(maker: dict[str, Any]) -> None:
    """What stands in docs is what the figures of the bench give."""
    text = maker["page"](*maker["read"](maker["RESULT"]))
    assert text == (ROOT / "docs" / maker["PAGE"]).read_text(encoding="utf-8")


def test_rows_are_put_in_order_with_their_seeds(page: str) -> None:
    """The recipe first, then the best; mean and spread by hand."""
    table = rows(page, "Against the recipe")
    assert list(table)[2:] == [
        f"{row} told" for row in ("base", "unsteady", "good", "same", "dimensions", "bad")
    ]
    assert table["base told"] == ["3", "61.3", "60.3–62.3", "–", "–", "–", "–", "–", "–"]
    seeds, mean, spread, less, side, *_ = table["good told"]
    assert (seeds, mean, spread, side) == ("3", "71.3", "70.3–72.3", "above")
    assert less == "**+10.0 (+10.0 to +10.0)**"


def test_only_what_is_beyond_the_seeds_is_a_difference(page: str) -> None:
    """A large mean of seeds that reach into the recipe's is none; neither is a level boundary."""
    table = rows(page, "Against the recipe")
    assert table["unsteady told"][3].startswith("+19.3")
    assert table["unsteady told"][4] == table["same told"][4] == "within"
    assert table["bad told"][4] == "below"
    assert table["good told"][-2:] == ["+0.0 (+0.0 to +0.0)", "within"]
    better, worse, rest = section(page, "Against the recipe").rsplit(":\n\n", 3)[-3:]
    assert "good told" in better
    assert "unsteady" not in better
    assert "bad told" in worse
    assert "good" not in worse
    assert all(f"- {row} told" in rest for row in ("same", "unsteady", "dimensions"))


def test_a_row_of_fewer_seeds_is_compared_with_the_same_seeds(page: str) -> None:
    """What was stopped after two seeds differs from the recipe of those two by nothing."""
    assert rows(page, "Against the recipe")["dimensions told"][:4] == [
        "2", "61.3", "60.3–62.3", "+0.0 (+0.0 to +0.0)",
    ]  # fmt: skip
    assert rows(page, "Each seed")["dimensions told"][0] == "60.3 / 62.3"


def test_one_seed_has_no_spread(maker: dict[str, Any]) -> None:
    """Nothing is called a difference then, however large."""
    facts, runs = result()
    text = maker["page"](facts, [run for run in runs if run["seed"] == 1])
    assert rows(text, "Against the recipe")["good told"][3:5] == ["+10.0 (+10.0 to +10.0)", "–"]
    assert "**+" not in text


def test_widths_and_limits_are_told(page: str) -> None:
    """Cut vectors of the recipe and of the row that was trained for it; what steps cannot say."""
    widths = rows(page, "By width")["dimensions told"]
    assert [cell.split()[0] for cell in widths] == ["61.3", "60.3", "59.3", "41.3"]
    assert "40 steps are a minute or two; the recipe has 2,400" in page


def test_the_page_is_written_where_it_is_asked_for(
    maker: dict[str, Any], page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file of the bench in, the page out."""
    facts, runs = result()
    source = tmp_path / "found.jsonl.xz"
    source.write_bytes(lzma.compress("\n".join(map(json.dumps, [facts, *runs])).encode()))
    monkeypatch.setattr(sys, "argv", ["make", str(source), "--docs", str(tmp_path)])
    maker["main"]()
    assert (tmp_path / "results-ablation.md").read_text(encoding="utf-8") == page


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
