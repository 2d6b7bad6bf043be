"""Tasks made from articles, and the questions that ship."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.text import split
from milepost_eval.tasks import load
from milepost_eval.tasks.articles import read_articles
from milepost_eval.tasks.reading import objects


def article(name: str, title: str, *parts: str, kind: str = "howto", split: str = "dev") -> dict:
    text = "\n\n".join([title, *parts, "Plain words follow here. " * 20])
    return {"id": name, "title": title, "text": text, "kind": kind, "split": split, "licence": "L"}


def corpus(folder: Path, *rows: dict) -> Path:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "howto.jsonl.gz").write_bytes(gzip.compress(data))
    return folder


def test_titles_and_headings_are_asked_and_taken_out(tmp_path: Path) -> None:
    folder = corpus(
        tmp_path,
        article("a", "Keeping bees", "Before you start", "Words.", "How wax is made", "Wax."),
        article("b", "Keeping ants", "Before you start", "Words.", "KEEPING ANTS", "More."),
        article("c", "Other", split="test"),
    )
    task = read_articles(folder, "dev", shortest=100)
    assert task.settings == ("collection",)
    texts = {document.name: document.text for document in task.documents}
    assert [(q.text, q.kind, q.relevant, q.spans) for q in task.questions] == [
        ("Keeping bees", "title", {"a": 1}, ()),
        ("How wax is made", "heading", {"a": 1}, ()),
        ("Keeping ants", "title", {"b": 1}, ()),
    ]
    assert texts["a"].startswith("Before you start\n\nWords.\n\nWax.\n\nPlain")
    assert "keeping" not in texts["b"].casefold()
    assert task.facts["a"] == {"kind": "howto", "title": "Keeping bees", "licence": "L"}


def test_a_line_that_is_no_heading_is_not_asked(tmp_path: Path) -> None:
    rows = (
        "- One item of a list",
        "This is a sentence.",
        "npm token create now",
        "Name | Age | Place",
        "The first half of a",
        "Two words",
        "X = compute the value",
    )
    folder = corpus(tmp_path, article("a", "Keeping bees", *rows))
    assert [q.kind for q in read_articles(folder, "dev", shortest=100).questions] == ["title"]


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    folder = corpus(
        tmp_path,
        article("a", "Keeping bees", "A heading of ants"),
        article("b", "Keeping bees", "A heading of bees"),
        {**article("c", "Short"), "text": "Short\n\nVery."},
    )
    task = read_articles(folder, "dev", shortest=100)
    assert [question.kind for question in task.questions] == ["heading", "heading"]
    assert set(task.notes) == {
        "2 titles that several articles have are left out",
        "1 articles shorter than 100 characters are left out",
    }


def test_an_article_stands_in_one_file(tmp_path: Path) -> None:
    corpus(tmp_path, article("a", "Keeping bees"))
    (tmp_path / "more.jsonl").write_text(json.dumps(article("a", "Keeping ants")))
    with pytest.raises(InputError, match=r"more\.jsonl, line 1: .*howto\.jsonl\.gz, line 1"):
        read_articles(tmp_path, "dev")


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no \*\.jsonl\.gz"):
        read_articles(tmp_path, "dev")
    corpus(tmp_path, {**article("a", "Keeping bees"), "title": "…"})
    with pytest.raises(InputError, match=r"howto\.jsonl\.gz, line 1: the title"):
        read_articles(tmp_path, "dev")
    with pytest.raises(InputError, match="no train question"):
        read_articles(tmp_path, "train")


def test_the_shared_corpus(shared_data: Path) -> None:
    task = load("articles", "dev", shared_data)
    texts = {document.name: document.text for document in task.documents}
    assert min(map(len, texts.values())) >= 8_000
    assert len(task.questions) > 300
    for question in task.questions:
        rows = {row.strip() for row in texts[question.document].split("\n")}
        assert question.text not in rows


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
