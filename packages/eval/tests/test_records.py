"""Records come back as they were written, and a bad line is named by file and line."""

import gzip
import json
import lzma
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError, MilepostError, UnreadableFile
from milepost_eval.records import Record, read, to_line, usual_metric
from support.eval_records import record_of


def record(**changes: Any) -> Record:
    made = record_of(
        "chunk:200@minilm+bm25",
        "trials",
        {"recall@800": (0.0, 0.5, 1.0), "mrr@10": (0.0, 0.25, 0.5)},
        ("a", "a", "Ü\u2028\x85\n.txt"),
        kinds=("", "context", "scattered"),
        positions=(0.0, 0.5, 0.125),
        lengths=(100, 100, 7000),
    )
    return replace(made, **changes)


PACKING = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


def written(path: Path, *records: Record) -> Path:
    """A file of records as ``milepost eval run --json`` prints them, packed as its name says."""
    text = "".join(to_line(each) + "\n" for each in records)
    path.write_bytes(PACKING.get(path.suffix, bytes)(text.encode()))
    return path


@pytest.mark.parametrize("suffix", PACKING)
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    records = [record(), record(system="bm25", cached=True)]
    assert read(written(tmp_path / f"run.jsonl{suffix}", *records)) == records


def test_line_ends_of_unicode_do_not_end_a_line(tmp_path: Path) -> None:
    """A file that another tool has rewritten with its characters as they are is read the same."""
    path = tmp_path / "run.jsonl"
    plain = json.dumps(json.loads(to_line(record())), ensure_ascii=False)
    assert "\u2028" in plain
    path.write_text(plain + "\n", encoding="utf-8")
    assert read(path) == [record()]


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    parsed = json.loads(to_line(record()))
    change(parsed)
    return json.dumps(parsed)


BAD = {
    "not JSON": '{"schema": ',
    ": not JSON": "[" * 100_000,
    "not a record of milepost eval": '{"metrics": {}}',
    "is not a JSON object": "[1]",
    "version 'milepost-eval/0'; this Milepost reads": changed(
        lambda parsed: parsed.update(schema="milepost-eval/0")
    ),
    "without metrics, task": changed(
        lambda parsed: [parsed.pop(name) for name in ("task", "metrics")]
    ),
    "damaged: system is 5": changed(lambda parsed: parsed.update(system=5)),
    "'high' is not a number": changed(lambda parsed: parsed["metrics"].update(new="high")),
    "nan is not a number": changed(lambda parsed: parsed["metrics"].update(new=float("nan"))),
    "damaged: 'names'": changed(lambda parsed: parsed["per_question"].pop("names")),
    "not as long as its 3": changed(
        lambda parsed: parsed["per_question"]["figures"].update(new=[0.5])
    ),
    "not as long as its": changed(lambda parsed: parsed["per_question"].update(kinds=[])),
    "a question, document or kind that is not a string": changed(
        lambda parsed: parsed["per_question"].update(kinds=["", [], {}])
    ),
    "two questions of the same name": changed(
        lambda parsed: parsed["per_question"].update(names=["q1", "q2", "q1"])
    ),
}


@pytest.mark.parametrize(("said", "line"), BAD.items(), ids=list(BAD))
def test_a_bad_line_is_named(tmp_path: Path, said: str, line: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(f"{to_line(record())}\n\n{line}\n".encode())
    with pytest.raises(InputError) as caught:
        read(path)
    assert f"{path}, line 3: " in str(caught.value)
    assert said in str(caught.value)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


PACKED = gzip.compress(b"x" * 1000 + bytes(range(256)) * 9)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\x00",
        PACKED[: len(PACKED) // 2],
        PACKED[:10] + b"\xff" * 20,
        lzma.compress(b"x" * 1000)[:40],
    ],
    ids=["no text", "cut off", "a damaged stream", "xz cut off"],
)
def test_a_file_without_text_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(data)
    with pytest.raises(MilepostError, match=r"run\.jsonl\.gz"):
        read(path)


def test_a_file_that_is_missing_empty_or_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"nothing\.jsonl cannot be read: No such file"):
        read(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="has no pieces"):
        read(tmp_path)
    path = tmp_path / "run.jsonl"
    for data in (b"", b"\n \n"):
        path.write_bytes(data)
        with pytest.raises(InputError, match="no records"):
            read(path)


def test_the_usual_metric_is_recall_at_the_middle_budget():
    budgets = record(metrics={f"recall@{n}": 0.5 for n in (3200, 800, 1600)} | {"mrr@10": 1.0})
    assert usual_metric([*budgets.metrics, *record().metrics]) == "recall@1600"
    assert usual_metric(["recall@60", "recall@x"]) == "recall@60"
    assert usual_metric(["ndcg@10", "doc-recall@100"]) == "ndcg@10"
