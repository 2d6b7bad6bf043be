"""Files of questions."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from milepost.errors import BadQuestion, InputError, UnreadableFile
from milepost.tables import read_questions

QUESTIONS = ["Who paid, and why?", 'What is "it"?', "Wie heißt das?"]


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_form_gives_the_same_questions(tmp_path: Path, encoding: str, end: str) -> None:
    rows = io.StringIO(newline="")
    for delimiter in ",;":
        rows = io.StringIO(newline="")
        writer = csv.writer(rows, delimiter=delimiter, lineterminator=end)
        writer.writerow(["id", " Question "])
        writer.writerows([str(number), text] for number, text in enumerate(QUESTIONS))
        writer.writerows([["7", ""], ["8", QUESTIONS[0]], ["9"]])
        path = write(tmp_path, f"q{ord(delimiter)}.csv", rows.getvalue(), encoding)
        assert read_questions(path) == QUESTIONS
    lines = end.join([QUESTIONS[0], "", f"  {QUESTIONS[1]}  ", QUESTIONS[2], QUESTIONS[0], ""])
    assert read_questions(write(tmp_path, "q.txt", lines, encoding)) == QUESTIONS
    records = end.join(json.dumps({"id": 1, "question": text}) for text in QUESTIONS)
    assert read_questions(write(tmp_path, "q.jsonl", records, encoding)) == QUESTIONS


@pytest.mark.parametrize(
    ("name", "text", "kind", "said"),
    [
        ("q.txt", "\n \n", InputError, "has no questions"),
        ("q.txt", "Who?\n???\n", BadQuestion, "line 2: '\\?\\?\\?' has neither"),
        ("q.csv", "id,text\n1,Who?\n", UnreadableFile, "no column named 'question'"),
        ("q.csv", 'question\n"Who"x\n', UnreadableFile, "line 2 is not CSV"),
        ("q.jsonl", '{"question": "Who?"}\n{', UnreadableFile, "line 2 is not JSON"),
        ("q.jsonl", '{"question": 3}', UnreadableFile, "line 1 has no field 'question'"),
        ("q.jsonl", "[1]", UnreadableFile, "line 1 has no field 'question'"),
        ("q.txt", "\0\1\2" * 50, UnreadableFile, "binary"),
    ],
)
def test_what_cannot_be_read_is_named(
    tmp_path: Path, name: str, text: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        read_questions(write(tmp_path, name, text))
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_questions(tmp_path / "none.txt")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=6))
def test_csv_gives_back_what_was_written(tmp_path: Path, texts: list[str]) -> None:
    rows = io.StringIO(newline="")
    csv.writer(rows).writerows([["question"], ["First one?"], *([text] for text in texts)])
    wanted = [" ".join(text.replace("\ufeff", "").split()) for text in ["First one?", *texts]]
    path = write(tmp_path, "q.csv", rows.getvalue())
    if all(any(map(str.isalnum, text)) or not text for text in wanted):
        assert read_questions(path) == list(dict.fromkeys(filter(None, wanted)))
    else:
        with pytest.raises(BadQuestion):
            read_questions(path)
