"""The page of the training stages says what its figures say."""

from __future__ import annotations

import json
import lzma
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[4] / "tools" / "make_stages.py"
if not SCRIPT.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
pytest.importorskip("matplotlib", reason="needs milepost-eval: pip install ./packages/eval")

COUNT = 40
SEEDS = (0, 1)
LEVELS = {
    (): 0.50,
    ("I",): 0.45,
    ("II",): 0.50,
    ("III",): 0.60,
    ("I", "III"): 0.70,
    ("III", "III"): 0.70,
    ("I", "II", "III"): 0.80,
    ("III", "III", "III"): 0.75,
    ("I", "II", "III-0"): 0.80,
    ("I", "II", "III-0.08"): 0.78,
}
"""Evidence found by hits alone; the rest is set off from it."""

UNSTEADY = ("I", "III")
"""One seed is far above its control of the same length, the other a little below."""


def figures(order: tuple[str, ...], seed: int) -> dict[str, list[float | None]]:
    level = LEVELS[order]
    if order == UNSTEADY:
        level += (0.1, -0.02)[seed]
    alone = [level + 0.001 * (n % 7) for n in range(COUNT)]
    last = level if order == ("I", "II", "III-0.08") else level - 0.1
    found: dict[str, list[float | None]] = {"alone": list(alone), "boundary": list(alone)}
    for k in (2, 4, 6):
        found[f"front-{k}"] = [value - 0.05 for value in alone]
        found[f"surround-{k}"] = [value - 0.05 * (k > 2) for value in alone]
    found["last"] = [None if n % 2 else last for n in range(COUNT)]
    found["last by chance"] = [None if n % 2 else 0.5 for n in range(COUNT)]
    return found


def result() -> list[dict[str, Any]]:
    """Two tasks of ten documents each."""
    tasks = ("written", "trials")
    facts = {
        "made": "some day",
        "settings": {
            "steps": 50,
            "rate": 1e-4,
            "merged": 2560,
            "budget": 1600,
            "documents": 10,
            "seeds": SEEDS,
        },
        "pairs": 6000,
        "documents": 300,
        "questions": [(tasks[n % 2], f"d{n // 2}", f"q{n}", "") for n in range(COUNT)],
    }
    runs = [
        {"order": order, "seed": seed, "seconds": [30.0, 30.0], "figures": figures(order, seed)}
        for order in LEVELS
        for seed in (SEEDS if order else SEEDS[:1])
    ]
    return [facts, *runs]


def made(folder: Path, lines: list[dict[str, Any]]) -> str:
    source = folder / "found.jsonl.xz"
    source.write_bytes(lzma.compress("\n".join(map(json.dumps, lines)).encode()))
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "argv", [str(SCRIPT), str(source), "--docs", str(folder)])
    try:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    finally:
        patch.undo()
    assert "<svg" in (folder / "results" / "stages.svg").read_text(encoding="utf-8")
    return (folder / "results-stages.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("docs"), result())


def section(page: str, name: str) -> list[str]:
    return page.partition(f"## {name}\n")[2].partition("\n## ")[0].splitlines()


def rows(page: str, name: str) -> dict[str, list[str]]:
    cells = ([c.strip() for c in line.split("|")[1:-1]] for line in section(page, name))
    return {row[0]: row[1:] for row in cells if row}


def test_the_mean_of_the_seeds_and_their_spread(page: str) -> None:
    """Every order, its steps, its mean, and how far its seeds lie apart."""
    table = rows(page, "By stages")
    assert table["none"][:3] == ["0", "50.3 (50.2 to 50.4)", "–"]
    steps, mean, spread, *_ = table["I + III"]
    assert (steps, mean.split()[0], spread) == ("100", "74.3", "68.3–80.3")


def test_what_helps_what_harms_and_what_is_level(page: str) -> None:
    """Each difference stands in the list its interval puts it in, and nowhere else."""
    helped, harmed, rest = "\n".join(section(page, "What a stage adds")).split("\n\nWhat ")[-3:]
    assert "- III over none, alone: +10.0 (+10.0 to +10.0) points" in helped
    assert "- I over none, alone: -5.0 (-5.0 to -5.0) points" in harmed
    assert "- II over none, alone: +0.0 (+0.0 to +0.0) points" in rest
    line = "- I + II + III over III + III + III, alone: +5.0"
    assert (line in helped, line in harmed, line in rest) == (True, False, False)


def test_seeds_that_disagree_decide_nothing(page: str) -> None:
    """However narrow the interval over documents, two seeds of opposite sign are no gain."""
    text = "\n".join(section(page, "What a stage adds"))
    line = next(x for x in text.splitlines() if x.startswith("- I + III over III + III, alone"))
    assert "the seeds disagree" in line
    assert line in text.partition("What made no sure difference:")[2]
    cells = next(x for x in text.splitlines() if x.startswith("| I + III | III + III |"))
    assert "**" not in cells


def test_losing_rows_are_shown_losing(page: str) -> None:
    """Front-k loses here, and the position-aware weights lose evidence and win last sentences."""
    table = rows(page, "Front or both sides")
    assert [cell.split()[0] for cell in table["III"][:2]] == ["**-5.0", "**-5.0"]
    text = "\n".join(section(page, "Front or both sides"))
    assert f"Of these {4 * len(LEVELS)} differences 0 are surely in favour" in text
    said = "\n".join(section(page, "Position-aware weights"))
    _, helped, harmed, _ = said.split("\n\nWhat ")
    assert "- α = 0.08 over α = 0, alone: -2.0 (-2.0 to -2.0) points" in harmed
    assert "- α = 0.08 over α = 0, last: +8.0 (+8.0 to +8.0) points" in helped
    assert "20 questions have such a run" in said


def test_the_card_of_the_claim(page: str) -> None:
    """All stages less the last, and less as many steps of it; alone and in the paper's form."""
    card = " ".join(" ".join(section(page, "The claim, tested")).split())
    assert "found by hits alone: +20.0 (+20.0 to +20.0) points" in card
    assert "Less as many steps of stage III: +5.0 (+5.0 to +5.0)" in card
    front = "+20.0 (+20.0 to +20.0) and +5.0 (+5.0 to +5.0)"
    assert f"(`front-2`, as in the paper): {front}" in card
    assert "`python bench/stages.py --base GT_FOLDER --steps 50 --documents 10`" in card
    assert "`not decided`: the sign is the paper's, the set-up is not. Moreover, 50 steps" in card


def test_every_seed_and_every_task(page: str) -> None:
    """Per-seed values are kept."""
    assert rows(page, "Each seed")["I + III"][0] == "80.3 / 68.3"
    assert rows(page, "Each task")["III"] == ["60.3", "60.3"]


def test_a_run_that_was_stopped_makes_a_page(tmp_path: Path) -> None:
    """Orders that are missing, and one without its second seed, are compared with nothing."""
    page = made(tmp_path, result()[:9])
    assert "α = 0.08" not in "\n".join(section(page, "Each seed"))
    assert "| I + III | III | – | – | – | – |" in section(page, "What a stage adds")
    assert "III: not measured. With" in "\n".join(section(page, "The claim, tested"))


@pytest.mark.torch
def test_the_figures_of_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: ten sentences of ten characters, evidence 3–5 and 8, a budget of three sentences."""
    pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
    np = pytest.importorskip("numpy")
    monkeypatch.syspath_prepend(str(SCRIPT.parents[1] / "bench"))
    bench = runpy.run_path(str(SCRIPT.parents[1] / "bench" / "stages.py"))
    assert len(bench["stages"](bench["QUICK"])) == 2 + len(bench["ALPHAS"])
    bench = runpy.run_path(str(SCRIPT.parents[1] / "bench" / "short_runs.py"))
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


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.026, 0.094, "`not decided`: the interval contains 0 and the paper's 2.2 points alike"),
        (
            -0.005,
            0.018,
            "`not decided`: the interval contains 0 and excludes the paper's 2.2 points, but the "
            "run could not find half of them",
        ),
        (-0.005, 0.010, "`contradicted`: the interval excludes the paper's 2.2 points"),
        (-0.050, -0.010, "`contradicted`: stages I and II harm"),
        (0.010, 0.050, "`not decided`: the sign is the paper's, the set-up is not"),
    ],
)
def test_the_verdict_follows_the_rules(low: float, high: float, said: str) -> None:
    script = runpy.run_path(str(SCRIPT))
    assert script["judged"](script["Figure"]((low + high) / 2, low, high, "difference")) == said
