"""The page about every test question says what its records say."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = "make_every_question.py"
pytest.importorskip("scipy", reason="needs milepost-eval: pip install ./packages/eval")

from best_of_each import COMMON, best_of_each  # noqa: E402
from milepost_eval.records import Record, read  # noqa: E402


@pytest.fixture(scope="module")
def records(made: dict) -> list[Record]:
    return read(made["RECORDS"])


@pytest.fixture(scope="module")
def page(made: dict, records: list[Record]) -> str:
    return made["page"](records)


def test_the_page_is_up_to_date(made: dict, page: str) -> None:
    """What stands in docs is what the records give."""
    assert page == made["TARGET"].read_text(encoding="utf-8")


def test_no_question_is_left_out(made: dict, records: list[Record]) -> None:
    """Every system was asked every question of every task."""
    assert {record.left_out for record in records} == {0}
    tasks = {record.task for record in records if record.system == made["OURS"]}
    assert len(tasks) == 8
    for name in {record.system for record in records}:
        assert {record.task for record in records if record.system == name} == tasks


def test_the_best_of_each_task_is_the_best(made: dict, records: list[Record], page: str) -> None:
    """The composite rival finds at least as much as each set-up it is made of, on every task."""
    chosen = best_of_each(records, COMMON)
    best = {record.task: record.metrics[made["METRIC"]] for record in chosen}
    for record in records:
        if record.system in COMMON:
            assert record.metrics[made["METRIC"]] <= best[record.task]
    ours = {r.task: r.metrics[made["METRIC"]] for r in records if r.system == made["OURS"]}
    gain = 100 * fmean(ours[task] - best[task] for task in best)
    assert f"{gain:+.1f} [" in next(
        line for line in page.splitlines() if line.startswith("| **mean** |")
    )
