"""The questions that ship as training data: what their page says of them holds."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from milepost.text import split
from milepost_eval.tasks.reading import objects

FOLDER = Path(__file__).parents[3] / "data" / "questions"


@pytest.fixture(scope="module")
def questions() -> list[dict]:
    with gzip.open(FOLDER / "questions.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_no_question_is_there_twice(questions: list[dict]) -> None:
    assert len({each["id"] for each in questions}) == len(questions)
    asked = Counter((each["document"], each["question"].casefold()) for each in questions)
    assert max(asked.values()) == 1


def test_evidence_is_whole_sentences_of_training_documents(
    questions: list[dict], shared_data: Path
) -> None:
    other = {row["document"] for row in objects(shared_data / "tasks/written/questions.jsonl.gz")}
    about: dict[str, list[dict]] = {}
    for each in questions:
        about.setdefault(each["document"], []).append(each)
    assert not other & about.keys()
    seen = 0
    for path in sorted((shared_data / "corpus").glob("*.jsonl.gz")):
        for row in objects(path):
            asked = about.pop(row["id"], [])
            if not asked:
                continue
            assert row["split"] == "train"
            if seen % 10 == 0:  # splitting them all takes a minute
                text = row["text"]
                edges = [(a, b) for a, b in split(text) if text[a:b].strip()]
                starts = {b - len(text[a:b].lstrip()) for a, b in edges}
                ends = {a + len(text[a:b].rstrip()) for a, b in edges}
                for each in asked:
                    flat = [place for span in each["spans"] for place in span]
                    assert flat == sorted(set(flat))
                    assert {a for a, _ in each["spans"]} <= starts
                    assert {b for _, b in each["spans"]} <= ends
                    assert bool(each["spans"]) != (each["type"] == "absent")
            seen += 1
    assert not about
    assert seen > 700
