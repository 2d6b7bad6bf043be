"""Small folders in the layout of each public format, written here and read back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from milepost.errors import InputError, UnreadableFile
from milepost_eval.tasks.names import load
from milepost_eval.tasks.public import FORMATS, format_of, read_public


def jsonl(path: Path, *rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "scifact"
    jsonl(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "Wax", "text": "Bees build cells.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "Ants carry leaves.", "metadata": {}},
        {"_id": "d3", "title": "", "text": "Nobody asks of me.", "metadata": {}},
    )
    jsonl(
        folder / "queries.jsonl",
        {"_id": "1", "text": "What do bees build?", "metadata": {}},
        {"_id": "2", "text": "Who carries leaves?", "metadata": {}},
        {"_id": "3", "text": "A question of another split?", "metadata": {}},
    )
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t1\n1\td3\t0\n2\td3\t0\n"
    )
    return folder


def test_beir(beir: Path) -> None:
    """Grades stay; grade 0 is not relevant; a question without a relevant document is counted."""
    task = read_public("beir", beir, "test")
    assert task.settings == ("collection",)
    assert [document.name for document in task.documents] == ["d1", "d2", "d3"]
    assert task.documents[0].text == "Wax\n\nBees build cells."
    (question,) = task.questions
    assert question.relevant == {"d1": 2, "d2": 1}
    assert (question.document, question.spans) == ("d1", ())
    assert task.notes == ("1 questions without a relevant document are left out",)


def test_beir_judgements_as_lines(beir: Path) -> None:
    """Judgements as JSON lines, as copies of BEIR on the hub have them, are read too."""
    (beir / "qrels" / "test.tsv").unlink()
    jsonl(beir / "qrels" / "test.jsonl", {"query-id": "2", "corpus-id": "d2", "score": 1.0})
    assert read_public("beir", beir, "test").questions[0].relevant == {"d2": 1}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1\td9\t1", "line 2: unknown document 'd9'"),
        ("9\td1\t1", "line 2: unknown question '9'"),
        ("1\td1", "line 2: 2 columns"),
        ("1\td1\tx", "line 2: 'x' is not a score"),
        ("1\td1\tinf", "line 2: 'inf' is not a score"),
        ("1\td1\t0.5", "line 2: '0.5' is not a whole number"),
    ],
)
def test_beir_mistakes_are_named(beir: Path, row: str, problem: str) -> None:
    """A judgement that cannot be used is named with file and line."""
    (beir / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{row}\n")
    with pytest.raises(InputError, match=rf"test\.tsv, {problem}"):
        read_public("beir", beir, "test")


def test_beir_judgements_begin_with_a_head_line(beir: Path) -> None:
    """A table without names of columns is refused: its first judgement would be lost."""
    (beir / "qrels" / "test.tsv").write_text("1\td1\t1\n2\td2\t1\n")
    with pytest.raises(InputError, match=r"test\.tsv, line 1: a judgement in place of"):
        read_public("beir", beir, "test")


def test_beir_names_the_splits_it_has(beir: Path) -> None:
    """A split without judgements is an error that says which there are."""
    with pytest.raises(UnreadableFile, match="has judgements for test"):
        read_public("beir", beir, "dev")


def test_beir_says_where_its_own_scorer_differs(beir: Path) -> None:
    """Questions that are documents too (as in ArguAna) are told in the notes."""
    jsonl(beir / "queries.jsonl", {"_id": "d1", "text": "What?"})
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nd1\td2\t1\n")
    assert "1 questions have the name of a document" in read_public("beir", beir, "test").notes[0]


@pytest.fixture
def longembed(tmp_path: Path) -> Path:
    for name, lengths in (("narrativeqa", [None]), ("needle", [256, 1024])):
        extra = [{} if length is None else {"context_length": length} for length in lengths]
        jsonl(
            tmp_path / name / "corpus.jsonl",
            *({"doc_id": f"d{n}", "text": f"Story {n}.", **e} for n, e in enumerate(extra)),
        )
        jsonl(
            tmp_path / name / "queries.jsonl",
            *({"qid": f"q{n}", "text": f"Which {n}?", **e} for n, e in enumerate(extra)),
        )
        jsonl(
            tmp_path / name / "qrels.jsonl",
            *({"qid": f"q{n}", "doc_id": f"d{n}", **e} for n, e in enumerate(extra)),
        )
    return tmp_path


def test_longembed(longembed: Path) -> None:
    """A task of LongEmbed is a folder of three files, test only."""
    task = read_public("longembed", longembed / "narrativeqa", "test")
    assert [question.relevant for question in task.questions] == [{"d0": 1}]
    with pytest.raises(InputError, match="has test questions only"):
        read_public("longembed", longembed / "narrativeqa", "dev")


def test_longembed_asks_one_length_at_a_time(longembed: Path) -> None:
    """Needle and passkey must be asked by context length, as the benchmark does."""
    task = load(f"longembed:{longembed / 'needle'}@1024", "test")
    assert task.name == "longembed:needle@1024"
    assert [document.name for document in task.documents] == ["d1"]
    with pytest.raises(InputError, match=r"context lengths 256, 1024;.*needle@LENGTH"):
        read_public("longembed", longembed / "needle", "test")
    with pytest.raises(InputError, match="context lengths 256, 1024"):
        read_public("longembed", longembed / "needle@512", "test")
    with pytest.raises(InputError, match=r"context lengths none;.*longembed:"):
        read_public("longembed", longembed / "narrativeqa@512", "test")


@pytest.fixture
def mldr(tmp_path: Path) -> Path:
    folder = tmp_path / "mldr-v1.0-en"
    jsonl(
        folder / "corpus.jsonl.gz",
        {"docid": "doc-en-1", "text": "Long."},
        {"docid": "doc-en-2", "text": "Longer."},
    )
    for split in ("dev", "test"):
        jsonl(
            folder / f"{split}.jsonl.gz",
            {
                "query_id": f"q-{split}",
                "query": "Which?",
                "positive_passages": [{"docid": "doc-en-2", "text": "Longer."}],
                "negative_passages": [{"docid": "doc-en-1", "text": "Long."}],
            },
        )
    return folder


def test_mldr(mldr: Path) -> None:
    """The corpus is the collection, the positive passages are relevant."""
    task = read_public("mldr", mldr, "dev")
    assert len(task.documents) == 2
    assert [(q.name, q.relevant) for q in task.questions] == [("q-dev", {"doc-en-2": 1})]


def test_mldr_mistakes_are_named(mldr: Path) -> None:
    """A passage that is not in the corpus, or of another shape, is named with file and line."""
    row = {"query_id": "q", "query": "Which?", "positive_passages": [{"docid": "doc-en-7"}]}
    jsonl(mldr / "dev.jsonl.gz", row)
    with pytest.raises(InputError, match=r"dev\.jsonl\.gz, line 1: unknown document 'doc-en-7'"):
        read_public("mldr", mldr, "dev")
    jsonl(mldr / "dev.jsonl.gz", {**row, "positive_passages": "doc-en-1"})
    with pytest.raises(InputError, match="line 1: 'positive_passages' is not a list"):
        read_public("mldr", mldr, "dev")


def parquet(path: Path, rows: list[dict]) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="ConTEB is stored as parquet")
    from pyarrow import parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pyarrow.Table.from_pylist(rows), path)


@pytest.fixture
def conteb(tmp_path: Path) -> Path:
    folder = tmp_path / "covid-qa"
    chunks = [("b_0", "Beta starts."), ("a_10", "Last. "), ("a_9", " Ninth."), ("b_1", "  ")]
    parquet(
        folder / "documents" / "validation-00000-of-00001.parquet",
        [{"chunk_id": name, "chunk": text} for name, text in chunks],
    )
    parquet(
        folder / "queries" / "validation-00000-of-00001.parquet",
        [
            {"query": "Which is last?", "chunk_id": "a_10"},
            {"query": "Which starts?", "chunk_id": "b_0"},
            {"query": "Which is blank?", "chunk_id": "b_1"},
        ],
    )
    return folder


def test_conteb(conteb: Path) -> None:
    """Chunks are joined in the order of their numbers; the evidence is the chunk's words."""
    task = read_public("conteb", conteb, "dev")
    texts = {document.name: document.text for document in task.documents}
    assert texts["a"] == " Ninth.\n\nLast. "
    assert [texts[q.document][slice(*q.spans[0])] for q in task.questions] == [
        "Last.",
        "Beta starts.",
    ]
    assert task.notes == ("1 questions whose chunk is blank are left out",)


def test_conteb_several_chunks(conteb: Path) -> None:
    """Several chunks are several spans; chunks of several documents are counted."""
    parquet(
        conteb / "queries" / "validation-00000-of-00001.parquet",
        [
            {"query": "Which two?", "chunk_ids": ["a_10", "a_9"]},
            {"query": "Which far?", "chunk_ids": ["a_9", "b_0"]},
        ],
    )
    task = read_public("conteb", conteb, "dev")
    assert [question.spans for question in task.questions] == [((1, 7), (9, 14))]
    assert task.notes == ("1 questions whose chunks are in several documents are left out",)


def test_conteb_mistakes_are_named(conteb: Path) -> None:
    """An unknown chunk, an id without number and a missing split are named."""
    path = conteb / "queries" / "validation-00000-of-00001.parquet"
    parquet(path, [{"query": "Which?", "chunk_id": "a_11"}])
    with pytest.raises(InputError, match=r"line 1: unknown chunk 'a_11'.*'a_1"):
        read_public("conteb", conteb, "dev")
    with pytest.raises(UnreadableFile, match="another split: it has validation"):
        read_public("conteb", conteb, "test")
    path.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"parquet cannot be read"):
        read_public("conteb", conteb, "dev")


def answer(*evidence: str, unanswerable: bool = False) -> dict:
    return {
        "answer": {
            "unanswerable": unanswerable,
            "extractive_spans": [],
            "yes_no": None,
            "free_form_answer": "",
            "evidence": list(evidence),
            "highlighted_evidence": [],
        },
        "annotation_id": "x",
        "worker_id": "y",
    }


@pytest.fixture
def qasper(tmp_path: Path) -> Path:
    paper = {
        "title": "A Paper",
        "abstract": "We try.",
        "full_text": [
            {"section_name": "Intro", "paragraphs": ["First words.", ""]},
            {"section_name": None, "paragraphs": ["Second  words.\n", "Third words."]},
        ],
        "figures_and_tables": [],
        "qas": [
            {
                "question": "Which words?",
                "question_id": "q1",
                "answers": [
                    answer("Third words.", "Second words."),
                    answer("Third words.", "FLOAT SELECTED: Table 1: Words."),
                ],
            },
            {"question": "Who?", "question_id": "q2", "answers": [answer(unanswerable=True)]},
            {
                "question": "Which table?",
                "question_id": "q3",
                "answers": [answer("FLOAT SELECTED: Table 2: More.")],
            },
            {"question": "Where?", "question_id": "q4", "answers": [answer("Nowhere at all.")]},
        ],
    }
    (tmp_path / "qasper-dev-v0.3.json").write_text(json.dumps({"1904.09131": paper}))
    return tmp_path


def test_qasper(qasper: Path) -> None:
    """Evidence paragraphs of all annotators are the spans; what has none is counted by reason."""
    task = read_public("qasper", qasper, "dev")
    (document,), (question,) = task.documents, task.questions
    assert document.text.startswith("A Paper\n\nWe try.\n\nIntro\n\nFirst words.\n\nSecond")
    assert [document.text[a:b] for a, b in question.spans] == ["Second  words.", "Third words."]
    assert task.notes == (
        "1 questions are asked without the part of their evidence that is not text",
        "1 questions that the paper does not answer are left out",
        "1 questions whose evidence is in figures or tables are left out",
        "1 questions whose evidence is not in the text are left out",
    )


def test_qasper_mistakes_are_named(qasper: Path) -> None:
    """A missing file, a paper of another shape and the file of another split are named."""
    with pytest.raises(UnreadableFile, match=r"qasper-test-v0\.3\.json cannot be read"):
        read_public("qasper", qasper, "test")
    with pytest.raises(InputError, match="is not the test file"):
        read_public("qasper", qasper / "qasper-dev-v0.3.json", "test")
    (qasper / "qasper-dev-v0.3.json").write_text('{"1904.1": {"title": "A"}}')
    with pytest.raises(InputError, match=r"paper 1904\.1 is damaged"):
        read_public("qasper", qasper, "dev")


def bench(number: int, answers: list[str], context: str, words: str = "Which one?") -> dict:
    return {
        "input": words,
        "context": context,
        "answers": answers,
        "length": 3,
        "dataset": "qasper",
        "language": "en",
        "all_classes": None,
        "_id": f"id{number}",
    }


def test_longbench(tmp_path: Path) -> None:
    """An answer is evidence where it stands exactly once and not inside another word."""
    text = "Paris, France. Rome, and Rome again. Parisian art. 東京都は首都。"
    jsonl(
        tmp_path / "data" / "multifieldqa_en.jsonl",
        bench(1, ["Paris", "Paris, France"], text),
        bench(2, ["Rome"], text),
        bench(3, ["Berlin"], text),
        bench(4, ["Paris"], text, words="  "),
        bench(5, ["首都"], text),
    )
    task = read_public("longbench", tmp_path, "test")
    assert task.name == "longbench:multifieldqa_en"
    assert [text[slice(*q.spans[0])] for q in task.questions] == ["Paris, France", "首都"]
    assert len(task.documents) == 1
    assert task.notes == (
        "1 questions whose answers occur more than once are left out",
        "1 questions whose answers are not in the text are left out",
        "1 questions without words are left out",
    )


def test_longbench_needs_one_file(tmp_path: Path) -> None:
    """A folder of several files asks which; other splits do not exist."""
    for name in ("qasper", "musique"):
        jsonl(tmp_path / f"{name}.jsonl", bench(1, ["one"], "Only one here."))
    with pytest.raises(InputError, match=r"2 files of questions \(musique\.jsonl, qasper"):
        read_public("longbench", tmp_path, "test")
    assert len(load(f"longbench:{tmp_path}/qasper.jsonl", "test").questions) == 1
    with pytest.raises(InputError, match="has test questions only"):
        read_public("longbench", tmp_path / "qasper.jsonl", "dev")


@pytest.mark.parametrize("kind", ["beir", "conteb", "mldr", "qasper"])
def test_a_folder_shows_its_format(kind: str, request: pytest.FixtureRequest) -> None:
    """A folder given without a format is known by its files."""
    folder = request.getfixturevalue(kind)
    assert format_of(folder) == kind
    split = "test" if kind == "beir" else "dev"
    assert load(str(folder), split) == read_public(kind, folder, split)


def test_longembed_shows_its_format(longembed: Path) -> None:
    """The three files of LongEmbed are known too."""
    assert format_of(longembed / "narrativeqa") == "longembed"


def test_an_unknown_folder_or_format_is_told(tmp_path: Path) -> None:
    """A folder of no format, a missing folder and a misspelt format are errors with a way out."""
    with pytest.raises(InputError, match=r"looks like no known format;.*beir:FOLDER"):
        format_of(tmp_path)
    with pytest.raises(UnreadableFile, match="does not exist"):
        read_public("beir", tmp_path / "none", "test")
    with pytest.raises(InputError, match="'mldr'"):
        read_public("mdlr", tmp_path, "test")
    assert sorted(FORMATS) == list(FORMATS)
