"""Tasks of one's own, made from articles, and the questions that ship."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from milepost.documents import split
from milepost.errors import InputError, UnreadableFile
from milepost_eval.tasks import load
from milepost_eval.tasks.articles import read_articles
from milepost_eval.tasks.own import read_own
from milepost_eval.tasks.reading import objects
from support.files import write_lines

TEXT = "Leave is signed by the head of office. Lunch is at noon."
DOCUMENT = {"id": "handbook", "text": TEXT, "licence": "mine"}
QUESTION = {"document": "handbook", "question": "Who signs leave?", "spans": [[23, 37]]}


def write(path: Path, *lines: dict | str) -> Path:
    rows = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def changed(**fields: object) -> dict:
    return {key: value for key, value in {**QUESTION, **fields}.items() if value is not ...}


def test_two_lines_are_a_task(tmp_path: Path) -> None:
    task = read_own(write(tmp_path / "mine.jsonl", DOCUMENT, QUESTION), "dev")
    assert (task.name, task.split, task.settings) == ("mine", "dev", ("document", "collection"))
    (document,), (question,) = task.documents, task.questions
    assert (document.name, document.text) == ("handbook", TEXT)
    assert TEXT[slice(*question.spans[0])] == "head of office"
    assert question.relevant == {"handbook": 1}
    assert task.facts == {"handbook": {"licence": "mine"}}


def test_a_document_may_stand_after_its_question_and_the_file_be_packed(tmp_path: Path) -> None:
    plain = write(tmp_path / "mine.jsonl", QUESTION, "", DOCUMENT)
    packed = tmp_path / "other.jsonl"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_own(plain, "dev").questions == read_own(packed, "dev").questions


def test_a_text_may_stand_beside_its_question(tmp_path: Path) -> None:
    row = changed(document=..., text=TEXT)
    second = {**row, "question": "When is lunch?", "spans": [[50, 54]], "id": "lunch"}
    task = read_own(write(tmp_path / "t.jsonl", row, second), "dev")
    assert len(task.documents) == 1
    assert [question.name for question in task.questions] == ["line 1", "lunch"]
    assert {question.document for question in task.questions} == {task.documents[0].name}


def test_a_document_may_be_a_file_beside(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.html").write_text("<h1>Leave</h1><p>The head signs.</p>")
    row = {"document": "papers/a.html", "question": "Who signs?", "spans": [[7, 15]]}
    task = read_own(write(tmp_path / "t.jsonl", row), "dev")
    (document,) = task.documents
    assert document.name == "papers/a.html"
    assert document.text[slice(*task.questions[0].spans[0])] == "The head"


def test_splits_and_types(tmp_path: Path) -> None:
    other = {"id": "other", "text": "Nothing here."}
    row = {"document": "other", "question": "What?", "spans": [[0, 7]], "split": "test"}
    path = write(tmp_path / "t.jsonl", DOCUMENT, other, changed(type="fact"), row)
    assert [q.kind for q in read_own(path, "dev").questions] == ["fact"]
    assert [d.name for d in read_own(path, "test").documents] == ["other"]
    with pytest.raises(InputError, match="no train question"):
        read_own(path, "train")


def test_the_place_of_an_answer_is_found(tmp_path: Path) -> None:
    """One or several, as the document has the words but for case, white space and typography."""
    answer = "“signed by  the Head of Office…”"
    rows = [changed(spans=..., answer=answer), changed(spans=..., answer=["noon", "Leave"])]
    one, two = read_own(write(tmp_path / "t.jsonl", DOCUMENT, *rows), "dev").questions
    assert [TEXT[slice(*span)] for span in one.spans] == ["signed by the head of office"]
    assert [TEXT[slice(*span)] for span in two.spans] == ["Leave", "noon"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (changed(spans=[[50, 99]]), "span 50–99 is outside document 'handbook' of 56 characters"),
        (changed(spans=[[0, 9], [5, 12]]), "spans 0–9 and 5–12 overlap"),
        (changed(spans=...), "no 'spans'"),
        (changed(spans=[[9, 4]]), "span 9–4 ends before it starts"),
        (changed(twins=None), "'twins' is null"),
        (changed(spans=..., answer=[]), "'answer' has no words"),
        (changed(document=None), "no 'document'; try: add document; it has 'q"),
        ({"document": "handbook", "qestion": "Who?"}, "no 'text' or 'question'"),
        (changed(twins=[[23, 99]]), "span 23–99 is outside"),
        (changed(distance="far"), "'distance' is \"far\""),
        (changed(answer="noon"), "both 'answer' and 'spans'"),
        (changed(spans=..., answer="midnight"), "has the answer 'midnight' in 0 places"),
        (changed(spans=..., answer="is"), "has the answer 'is' in 2 places"),
        (changed(spans=[[0, True]]), "[0, true] is not a span"),
        (changed(question="?!"), "the question '?!' has neither letter nor digit"),
        (changed(document="handbok"), "'handbook'"),
        (changed(document=TEXT * 9), "the text under 'text'"),
        (changed(text=TEXT), "both 'document' and 'text'"),
        (changed(split="deb"), "unknown split 'deb'"),
        (changed(splt="test"), "unknown key 'splt'"),
        (changed(id="line 2"), "question 'line 2' is already in line 2"),
        ({"id": "handbook", "text": "Again."}, "document 'handbook' is already in line 1"),
        ({"id": "blank", "text": " "}, "'text' is empty"),
        ("[1, 2]", "[1, 2] is not a JSON object"),
        ('{"id": ', "not JSON: Expecting value at character 7"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: dict | str, problem: str) -> None:
    path = write(tmp_path / "t.jsonl", DOCUMENT, QUESTION, row)
    with pytest.raises(InputError) as caught:
        read_own(path, "dev")
    assert f"{path}, line 3: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, " cannot be read: No such file"),
        (b"\n\xff\xfe\x00x", ", line 2: not UTF-8: invalid start byte at byte 1"),
        (b"\x1f\x8b\x08broken", " cannot be read: "),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "t.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableFile) as caught:
        read_own(path, "dev")
    assert f"{path}{said}" in str(caught.value)


def test_a_document_that_nobody_asks_of_is_searched_too(tmp_path: Path) -> None:
    spare = {"id": "spare", "text": "Rooms are cleaned at night."}
    other = {"id": 7, "text": TEXT}
    rows = (DOCUMENT, spare, other, QUESTION, changed(document=7, split="test"))
    path = write(tmp_path / "t.jsonl", *rows)
    names = {split: [d.name for d in read_own(path, split).documents] for split in ("dev", "test")}
    assert names == {"dev": ["handbook", "spare"], "test": ["7", "spare"]}


def test_twins_and_distance_are_read(tmp_path):
    text = "Gannick flashes twice. Tressaloe flashes once."
    question = {
        "id": "q", "document": "d", "question": "How often does Gannick flash?", "split": "dev",
        "spans": [[0, 22]], "twins": [[23, 46]], "distance": 2,
    }  # fmt: skip
    document = {"id": "d", "text": text}
    own = write(tmp_path / "own.jsonl", document, question)
    write_lines(tmp_path / "folder" / "documents.jsonl", [document])
    folder = write_lines(tmp_path / "folder" / "questions.jsonl", [question]).parent
    for path in (own, folder):
        (found,) = load(str(path), "dev").questions
        assert (found.twins, found.distance) == (((23, 46),), 2)


def article(name: str, title: str, *parts: str, kind: str = "howto", split: str = "dev") -> dict:
    text = "\n\n".join([title, *parts, "Plain words follow here. " * 20])
    return {"id": name, "title": title, "text": text, "kind": kind, "split": split, "licence": "L"}


def corpus(folder: Path, *rows: dict) -> Path:
    return write_lines(folder / "howto.jsonl.gz", rows).parent


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
        "left out: 2 titles that several articles have",
        "left out: 1 article shorter than 100 characters",
    }


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no \*\.jsonl\.gz"):
        read_articles(tmp_path, "dev")
    corpus(tmp_path, {**article("a", "Keeping bees"), "title": "…"})
    with pytest.raises(InputError, match=r"howto\.jsonl\.gz, line 1: the title"):
        read_articles(tmp_path, "dev")
    with pytest.raises(InputError, match="no train question"):
        read_articles(tmp_path, "train")
    corpus(tmp_path, article("a", "Keeping bees"))
    (tmp_path / "more.jsonl").write_text(json.dumps(article("a", "Keeping ants")))
    with pytest.raises(InputError, match=r"more\.jsonl, line 1: .*howto\.jsonl\.gz, line 1"):
        read_articles(tmp_path, "dev")


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


@pytest.mark.parametrize("rows", [(), (DOCUMENT,)])
def test_a_file_without_questions_has_none_of_another_split(tmp_path: Path, rows: tuple) -> None:
    with pytest.raises(InputError, match=r"t\.jsonl holds no question"):
        read_own(write(tmp_path / "t.jsonl", *rows), "dev")
