"""Files of questions, and their mistakes named with file and line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost_eval.answers.questions import read_exams
from support.longbench_files import code, row, write, write_codes


def test_questions_share_their_context(tmp_path: Path) -> None:
    """Six questions about three contexts; all answers are kept, offsets are not looked for."""
    (exam,) = read_exams([write_codes(tmp_path / "qasper.jsonl")])
    assert exam.task.name == "qasper"
    assert len(exam.task.documents) == 3
    assert {q.name: q.document for q in exam.task.questions} == {
        "q0": "q0", "q1": "q0", "q2": "q2", "q3": "q2", "q4": "q4", "q5": "q4",
    }  # fmt: skip
    assert exam.references["q3"] == (code(3),)
    assert exam.left_out == 0
    assert exam.task.notes == ()


def test_fewer_questions_span_the_contexts(tmp_path: Path) -> None:
    """The maximum is spread; what is left out is counted."""
    (exam,) = read_exams([write_codes(tmp_path / "qasper.jsonl")], questions=3)
    assert {question.document for question in exam.task.questions} == {"q0", "q2", "q4"}
    assert exam.left_out == 3


def test_packed_files_and_other_measures(tmp_path: Path) -> None:
    """A gzipped file is read; a data set that LongBench measures otherwise has a note."""
    plain = write(tmp_path / "a.jsonl", row(0, "Some text.", dataset="gov_report_e"))
    packed = tmp_path / "trec.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    (exam,) = read_exams([packed])
    assert exam.task.name == "trec"
    assert exam.task.notes == ("LongBench measures gov_report by something else than F1",)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"input": " "}, "'input' is empty"),
        ({"input": "?!"}, "the question '?!' has neither letter nor digit"),
        ({"input": 3}, "'input' is 3, not a string"),
        ({"context": "\n "}, "'context' is empty"),
        ({"context": None}, "'context' is null, not a string"),
        ({"answers": "4711"}, "'answers' is not a list of strings"),
        ({"answers": [" "]}, "'answers' has no answer"),
        ({"answers": []}, "'answers' has no answer"),
        ({"dataset": 7}, "'dataset' is 7, not a string"),
        ({"_id": "q0"}, "question 'q0' is already in line 1"),
        ({"_id": ""}, "'_id' is empty"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(
    tmp_path: Path, changed: dict[str, object], problem: str
) -> None:
    """File, line and what is wrong."""
    path = write(tmp_path / "qasper.jsonl", row(0, "One text."), row(1, "Two.", **changed))
    with pytest.raises(InputError, match=re.escape(f"qasper.jsonl, line 2: {problem}")):
        read_exams([path])


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """Missing, empty, not JSON, twice the same name."""
    with pytest.raises(UnreadableFile, match=r"none\.jsonl cannot be read: No such file"):
        read_exams([tmp_path / "none.jsonl"])
    with pytest.raises(InputError, match=r"empty\.jsonl has no questions"):
        read_exams([write(tmp_path / "empty.jsonl")])
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"input": \n')
    with pytest.raises(InputError, match=r"broken\.jsonl, line 1: not JSON"):
        read_exams([broken])
    path = write_codes(tmp_path / "qasper.jsonl")
    with pytest.raises(InputError, match="2 of the files are named 'qasper'"):
        read_exams([path, path])
