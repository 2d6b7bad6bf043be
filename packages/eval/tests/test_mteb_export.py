"""Records written as mteb's results, and read by mteb's own tools."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError
from milepost_eval.metrics import AT_BUDGET, AT_RANK, BUDGETS, OF_DOCUMENTS
from milepost_eval.mteb_export import export, metric_name, task_name
from milepost_eval.records import PerQuestion, Record

ALL_METRICS = [
    *(f"{name}@{budget}" for name in AT_BUDGET for budget in BUDGETS),
    *AT_RANK,
    *OF_DOCUMENTS,
]


@pytest.fixture(scope="module")
def mteb() -> Any:
    """The library; writing does without it."""
    return pytest.importorskip("mteb", reason="needs the mteb extra")


def a_record(**changes: Any) -> Record:
    """A record of two questions in the collection setting."""
    figures = {
        name: (number / 100, number / 200) for number, name in enumerate(sorted(ALL_METRICS))
    }
    metrics = {name: sum(pair) / 2 for name, pair in figures.items()}
    record = Record(
        system="landmark",
        fingerprint="ae99081335168e21",
        task="covid_papers",
        setting="collection",
        split="dev",
        documents=3,
        questions=2,
        left_out=0,
        metrics=metrics,
        intervals={name: (value - 0.1, value + 0.1) for name, value in metrics.items()},
        open_seconds=2.5,
        search_seconds=0.5,
        tokens=1000,
        cached=False,
        date="2026-11-20",
        version="0.1.0",
        commit="9f8987f",
        machine="a machine, 2 cores, Linux",
        per_question=PerQuestion(
            ("a", "b"), ("one", "two"), ("", ""), (0.1, 0.9), (100, 200), figures
        ),
    )
    return replace(record, **changes)


def test_mteb_reads_what_was_written(tmp_path: Path, mteb: Any) -> None:
    """``TaskResult``, ``ResultCache`` and the table of all results give the same figures."""
    record = a_record()
    chunks = a_record(system="chunk:200+bm25", fingerprint="minilm, 1.2", task="meetings")
    task, meta, *others = export([record, chunks], tmp_path)
    folder = tmp_path / "results" / "milepost__landmark" / "ae99081335168e21"
    assert (task, meta) == (folder / "MilepostCovidPapers.json", folder / "model_meta.json")
    assert [path.parent.parent.name for path in others] == ["milepost__chunk-200+bm25"] * 2

    result = mteb.TaskResult.from_disk(task)
    assert result.task_name == "MilepostCovidPapers"
    assert result.get_score() == pytest.approx(record.metrics["ndcg@10"], abs=1e-6)
    assert result.evaluation_time == pytest.approx(3.0)
    assert result.date is not None
    assert f"{result.date:%Y-%m-%d}" == "2026-11-20"
    (scores,) = result.scores["dev"]
    for metric, value in record.metrics.items():
        assert scores[metric_name(metric)] == pytest.approx(value, abs=1e-6)
    assert scores["milepost"]["system"] == "landmark"

    loaded = mteb.ResultCache(tmp_path).load_results(include_remote=False)
    assert sorted(loaded.model_names) == ["milepost/chunk-200+bm25", "milepost/landmark"]
    assert {"model_name": "milepost/landmark", "revision": record.fingerprint} in (
        loaded.model_revisions
    )
    one = mteb.ResultCache(tmp_path).load_task_result(
        "MilepostCovidPapers", "milepost/landmark", record.fingerprint
    )
    assert one == result

    table = loaded.to_dataframe(aggregation_level="split", format="long")
    rows = {
        (row["model_name"], row["task_name"], row["split"]): row["score"]
        for row in table.to_dict("records")
    }
    assert rows == {
        ("milepost/landmark", "MilepostCovidPapers", "dev"): pytest.approx(
            record.metrics["ndcg@10"], abs=1e-6
        ),
        ("milepost/chunk-200+bm25", "MilepostMeetings", "dev"): pytest.approx(
            chunks.metrics["ndcg@10"], abs=1e-6
        ),
    }


def test_mteb_takes_the_record_of_the_model(tmp_path: Path, mteb: Any) -> None:
    """``model_meta.json`` has mteb's fields and no other."""
    kinds = {}
    for system in ("landmark", "landmark-only", "bm25:200", "chunk:200+bm25|rerank:/a/b"):
        *_, path = export([a_record(system=system)], tmp_path)
        meta = mteb.models.ModelMeta.model_validate_json_resolved(path.read_text("utf-8"))
        kinds[meta.name] = meta.model_type
        assert path.parent.parent.name == meta.model_name_as_path()
        assert path.parent.name == meta.revision
    assert kinds == {
        "milepost/landmark": ["hybrid"],
        "milepost/landmark-only": ["dense"],
        "milepost/bm25-200": ["sparse"],
        "milepost/chunk-200+bm25-rerank-a-b": ["hybrid", "cross-encoder"],
    }


def test_every_metric_keeps_a_name_of_its_own() -> None:
    """No two are written under one key, and sentences are not taken for mteb's documents."""
    names = {metric_name(metric) for metric in ALL_METRICS}
    assert len(names) == len(ALL_METRICS)
    assert {name for name in names if not name.endswith(("_characters", "_places"))} == {
        "ndcg_at_10",
        "recall_at_100",
    }


def test_splits_of_a_task_share_a_file(tmp_path: Path, mteb: Any) -> None:
    """One file with both splits; its revision of the data depends on which questions were asked."""
    first = export([a_record()], tmp_path / "one")[0]
    both = export([a_record(), a_record(split="test")], tmp_path / "two")[0]
    assert set(mteb.TaskResult.from_disk(both).scores) == {"dev", "test"}
    revisions = [json.loads(path.read_text("utf-8"))["dataset_revision"] for path in (first, both)]
    assert revisions[0] != revisions[1]
    again = export([a_record(date="2026-11-21")], tmp_path / "three")[0]
    assert json.loads(again.read_text("utf-8"))["dataset_revision"] == revisions[0]


def test_records_with_the_document_given_stay_out(tmp_path: Path) -> None:
    """There is no such setting in mteb; where there is nothing else, it is said."""
    paths = export([a_record(), a_record(setting="document", task="meetings")], tmp_path)
    assert [path.name for path in paths] == ["MilepostCovidPapers.json", "model_meta.json"]
    with pytest.raises(InputError, match="--setting collection"):
        export([a_record(setting="document")], tmp_path)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({}, "two records of landmark on covid_papers, dev questions"),
        ({"task": "covid-papers", "split": "test"}, "would both be MilepostCovidPapers"),
        ({"system": "landmark:", "task": "meetings"}, "landmark and landmark: would both be"),
        ({"metrics": {"recall@800": 0.5}, "task": "meetings"}, "on meetings has no ndcg@10"),
    ],
)
def test_nothing_is_overwritten_in_silence(
    tmp_path: Path, other: dict[str, Any], message: str
) -> None:
    """Two records for one place, or one without the main score, are named; no file is written."""
    with pytest.raises(InputError, match=message):
        export([a_record(), a_record(**other)], tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "results").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be written.*another folder"):
        export([a_record()], tmp_path)


@pytest.mark.parametrize(
    ("task", "name"),
    [("written", "MilepostWritten"), ("my own/set.jsonl", "MilepostMyOwnSetJsonl")],
)
def test_task_names_are_mtebs(task: str, name: str) -> None:
    """Words joined, each with a capital."""
    assert task_name(task) == name
