"""Training text: sentences as ids, the files it is read from, and their licences."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import InputError, UnreadableFile
from milepost.testing import fake_encoder
from milepost_eval.tasks.reading import objects
from milepost_train.data import barred, held_out, tokenize, touched
from milepost_train.loading import Report, Texts, existing, load_negatives, load_pairs, load_task
from support.files import write_lines

TOKENIZER = fake_encoder().tokenizer
TEXT = "One whale sings. Two ships pass by. None of them stops."


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task of three documents, one of them not for commerce, and questions of two splits."""
    folder = tmp_path / "written"
    documents = [
        {"id": "a", "title": "Whales", "text": TEXT, "meta": {"licence": "CC-BY-4.0"}},
        {"id": "b", "text": TEXT + " b", "meta": {"licence": "CC-BY-NC-4.0"}},
        {"id": "c", "text": TEXT + " c"},
    ]
    questions = [
        {"id": "1", "document": "a", "question": "who sings", "spans": [[4, 9]], "split": "train"},
        {"id": "2", "document": "b", "question": "who sings", "spans": [[4, 9]], "split": "train"},
        {"id": "3", "document": "c", "question": "what", "spans": [[10, 40]], "split": "train"},
        {"id": "4", "document": "a", "question": "none", "spans": [[40, 45]], "split": "dev"},
    ]
    write_lines(folder / "documents.jsonl.gz", documents)
    return write_lines(folder / "questions.jsonl.gz", questions).parent


def test_long_sentences_are_cut() -> None:
    text = tokenize(TOKENIZER, "a", "t", "One whale sings all night long. Two do.", longest=4)
    assert text.lengths.tolist() == [4, 3]
    assert tokenize(TOKENIZER, "a", "t", "").spans == []


def test_evidence_touches_sentences() -> None:
    """A span belongs to each sentence it shares a character with, and to no neighbour it meets."""
    spans = [(0, 10), (10, 20), (20, 30)]
    assert touched(spans, [[0, 10]]) == (0,)
    assert touched(spans, [[9, 11]]) == (0, 1)
    assert touched(spans, [[25, 26], [3, 4]]) == (0, 2)
    assert touched(spans, [[30, 40]]) == ()
    assert touched([], [[0, 5]]) == ()


def test_a_task(task: Path) -> None:
    texts, report = Texts(TOKENIZER), Report()
    questions = load_task(task, texts, report)
    assert [text.name for text in texts.all] == ["a", "c"]
    assert [(q.name, texts.all[q.text].name, q.evidence, q.words) for q in questions] == [
        ("1", "a", (0,), "who sings"),
        ("3", "c", (0, 1, 2), "what"),
    ]
    assert {q.task for q in questions} == {"written"}
    assert report.bad == []
    assert report.counts[task] == {
        "questions of another split": 1,
        "document with a non-commercial licence": 1,
        "questions about a document that is left out": 1,
        "questions": 2,
        "documents asked of": 2,
    }
    (line,) = report.lines()
    assert line.startswith(f"{task}: 2 questions, 2 documents asked of, 1 question of another")
    everything = Texts(TOKENIZER)
    load_task(task, everything, Report(), allow_nc=True)
    assert [text.name for text in everything.all] == ["a", "b", "c"]
    assert [q.name for q in load_task(task, texts, report, split="dev")] == ["4"]


def test_what_synthesize_writes(tmp_path: Path) -> None:
    """One file with both kinds of line; headings and what may answer too keep their sentences."""
    rows = [
        {"id": "a", "text": TEXT, "ignore": [[0, 5]], "beside": {"a:1": [[20, 25]]}},
        {"id": "a:1", "document": "a", "question": "who stops", "type": "fact",
         "spans": [[36, 40]], "split": "train"},
        {"id": "a:2", "document": "a", "question": "who sings", "spans": [[4, 9]]},
    ]  # fmt: skip
    path = write_lines(tmp_path / "made.jsonl", rows)
    texts, report = Texts(TOKENIZER), Report()
    (question,) = load_task(path, texts, report)
    assert (question.task, question.evidence, question.beside) == ("made", (2,), (1,))
    assert texts.all[0].aside == (0,)
    assert report.counts[path]["questions of another split"] == 1  # who says nothing is of dev


def test_answers_are_evidence_and_what_nothing_answers_is_counted(tmp_path: Path) -> None:
    row = {"document": "a", "split": "train"}
    rows = [
        {"id": "a", "text": TEXT},
        {**row, "question": "who sings", "answer": TEXT[4:9]},
        {**row, "question": "who flies", "spans": []},
        {**row, "question": "who swims"},
    ]
    report = Report()
    (found,) = load_task(write_lines(tmp_path / "own.jsonl", rows), Texts(TOKENIZER), report)
    assert (found.words, found.evidence) == ("who sings", (0,))
    (line,) = report.lines()
    assert "1 question that nothing answers, not used" in line
    (wrong,) = report.bad
    assert "line 4: no 'spans'" in wrong.problem


def test_wrong_lines_are_named(tmp_path: Path) -> None:
    row = {"document": "a", "question": "who", "spans": [[4, 9]], "split": "train"}
    rows = [
        {"id": "a", "text": TEXT},
        row,
        {**row, "spans": [[4, 900]]},
        {**row, "spans": [[16, 17]]},
        {**row, "document": "aa"},
        {"id": "empty", "text": " "},
        {**row, "id": "x"},
        {**row, "id": "x"},
        {"id": "q2", "document": "d1", "qestion": "who sings?", "spans": [[4, 9]]},
    ]
    path = write_lines(tmp_path / "own.jsonl", rows)
    report = Report()
    found = load_task(path, Texts(TOKENIZER), report)
    assert [question.name for question in found] == ["line 2", "x"]
    told = sorted(map(str, report.bad))
    assert len(told) == 6
    for line, words in (
        (3, "outside document 'a'"),
        (4, "hold no words"),
        (5, "no document 'aa'"),
        (6, "'text' is empty"),
        (8, "is already in line 7"),
        (9, "'qestion'"),
    ):
        assert any(f"{path}, line {line}: " in each and words in each for each in told), words


def test_broken_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="questions"):
        load_task(tmp_path, Texts(TOKENIZER), Report())
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(gzip.compress(b'{"query": "a", "passage": "b"}\n' * 99)[:-9])
    with pytest.raises(UnreadableFile, match=r"pairs\.jsonl cannot be read"):
        load_pairs(path, Texts(TOKENIZER), Report())
    with pytest.raises(InputError, match="does not exist"):
        existing([tmp_path / "nothing.jsonl"])
    assert existing([tmp_path]) == [path]


BROKEN = b'{"id": \n[1]\n{"text": "\xff"}\n'
BROKEN_SAID = ("not JSON: Expecting value at character 7", "[1] is not a JSON object", "not UTF-8")


def named(report: Report, path: Path, first: int, said: tuple[str, ...]) -> bool:
    """Whether the report names lines of a file from a number on, and nothing else."""
    wanted = [f"{path}, line {n}: {words}" for n, words in enumerate(said, first)]
    told = [str(error) for error in report.bad]
    return len(told) == len(said) and all(map(str.startswith, told, wanted))


def test_lines_that_are_no_json_stop_nothing(task: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_bytes(BROKEN + b'{"query": "whale", "passage": "One sings."}\n')
    report = Report()
    assert len(load_pairs(pairs, Texts(TOKENIZER), report)) == 1
    assert named(report, pairs, 1, BROKEN_SAID)
    assert list(report.lines()) == [f"{pairs}: 1 pair, 3 bad lines"]

    for name in ("documents", "questions"):
        whole = gzip.decompress((task / f"{name}.jsonl.gz").read_bytes())
        (task / f"{name}.jsonl").write_bytes(whole + BROKEN)  # goes before the packed one
        report = Report()
        assert len(load_task(task, Texts(TOKENIZER), report)) == 2
        assert named(report, task / f"{name}.jsonl", whole.count(b"\n") + 1, BROKEN_SAID)
        assert next(report.lines()).endswith("3 bad lines")
        (task / f"{name}.jsonl").unlink()

    both = tmp_path / "both.jsonl"
    parts = [(task / f"{name}.jsonl.gz").read_bytes() for name in ("documents", "questions")]
    both.write_bytes(BROKEN + b"".join(map(gzip.decompress, parts)))
    report = Report()
    assert len(load_task(both, Texts(TOKENIZER), report)) == 2
    assert named(report, both, 1, BROKEN_SAID)


def test_documents_held_out(task: Path) -> None:
    texts, report = Texts(TOKENIZER), Report()
    assert load_task(task, texts, report, hold_out=1.0) == []
    assert texts.all == []
    assert report.counts[task]["questions about documents held out"] == 3
    names = [f"document {n}" for n in range(2000)]
    quarter = {name for name in names if held_out(name, 0.25)}
    assert {name for name in names if held_out(name, 0.1)} < quarter
    assert 400 < len(quarter) < 600


def test_the_same_text_is_one(task: Path, tmp_path: Path) -> None:
    """A document in two files is one text, so that evidence is nowhere its own negative."""
    rows = [
        {"id": "z", "text": TEXT, "ignore": [[17, 20]]},
        {"document": "z", "question": "who stops", "spans": [[36, 40]], "split": "train"},
    ]
    other = write_lines(tmp_path / "again.jsonl", rows)
    texts = Texts(TOKENIZER)
    first = load_task(task, texts, Report())
    second = load_task(other, texts, Report())
    assert second[0].text == first[0].text
    assert second[0].task == "again"
    assert len(texts.all) == 2
    assert texts.all[first[0].text].aside == (1,)


def test_pairs(tmp_path: Path) -> None:
    """Passages are cut at a sentence's end, the first sentence stays; what is wrong is named."""
    rows = [
        {"query": "whale", "passage": TEXT, "negatives": ["Two ships."]},
        {"query": "", "passage": TEXT},
        {"query": "ship", "passage": " "},
        {"query": "ship", "passage": TEXT, "negatives": "none"},
        {"query": "ship", "passage": TEXT, "licence": "CC BY-NC 4.0"},
    ]
    path = write_lines(tmp_path / "terms.jsonl.gz", rows)
    report = Report()
    (pair,) = load_pairs(path, Texts(TOKENIZER), report)
    assert pair.text.task == "terms"
    assert len(pair.text.spans) == 3
    assert [text.words for text in pair.negatives] == ["Two ships."]
    assert report.counts[path] == {"pairs with a non-commercial licence": 1, "pairs": 1}
    assert all(f"line {n}: " in str(e) for n, e in zip((2, 3, 4), report.bad, strict=True))
    lengths = pair.text.lengths
    for most in (1, int(lengths[0]), int(lengths[:2].sum()), int(lengths.sum()) - 1):
        (short,) = load_pairs(path, Texts(TOKENIZER), Report(), most_tokens=most)
        count = max(1, int((np.cumsum(lengths) <= most).sum()))
        assert short.text.spans == pair.text.spans[:count]
        assert short.text.ids.tolist() == pair.text.ids[: int(lengths[:count].sum())].tolist()
        assert short.text.lengths.tolist() == lengths[:count].tolist()


def test_mined_negatives(tmp_path: Path) -> None:
    """As ``milepost mine`` writes them: sentences of the texts that are there."""
    texts = [tokenize(TOKENIZER, "a", "t", TEXT)]
    row = {"id": "1", "question": "who sings", "document": "a", "spans": [[4, 9]], "positive": 0.9}
    rows = [
        {**row, "negatives": [{"document": "a", "span": [17, 35], "score": 0.1, "by": "words"},
                              {"document": "far", "span": [0, 9], "score": 0.1, "by": "words"}]},
        {**row, "negatives": [{"document": "a", "span": [170, 350]}]},
        {**row, "negatives": [{"document": "a", "span": ["x", 1]}]},
        {**row, "negatives": "none"},
    ]  # fmt: skip
    path = write_lines(tmp_path / "mined.jsonl.gz", rows)
    report = Report()
    first = ("1", "who sings")
    assert list(load_negatives(path, texts, report, {first}, ())) == [(first, [(0, 1)])]
    assert report.counts[path]["negatives in documents that are not read"] == 1
    assert all(f"line {n}: " in str(e) for n, e in zip((2, 3, 4), report.bad, strict=True))


CLOSED = [
    "cc-by-nc-4.0", "CC BY-NC-SA", "ccbync-sa NC", "Non-Commercial", "research only",
    "Creative Commons Attribution-NonCommercial 4.0", "CC BY 4.0, no commercial use",
    "Commercial use prohibited (CC BY)", "For research purposes", "evaluation only",
    "mit; policies of OPP-115: attribution, non-commercial",
    "Speaker's permission of the House of Commons of Canada: non-commercial (nc)",
]  # fmt: skip
UNKNOWN = ["CC-BY-ND 4.0", "cc_by_nd", "All rights reserved", "Proprietary", "Foo License", "?"]
UNKNOWN += ["© MIT Press", "Artistic works reserved", "Abdruck nur mit Genehmigung"]
UNKNOWN += ["non-free software"]
FREE = [
    "", "cc0-1.0", "CC-BY 4.0", "Creative Commons Attribution 4.0", "public domain in the US",
    "MIT", "Apache-2.0", "GPLv3+", "MPL-2.0", "OGL-UK-3.0 (Senedd record); collection MIT",
    "BSD 3-Clause", "The MIT License", "Open Database License", "GNU General Public License",
    "CC BY 4.0; academic use welcome",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "licence"),
    [
        *(("a non-commercial", each) for each in CLOSED),
        *(("an unrecognised", each) for each in UNKNOWN),
        *(("", each) for each in FREE),
    ],
)
def test_licences_in_any_spelling(kind: str, licence: str) -> None:
    assert barred(None) == ""
    for spelling in (licence, licence.upper(), licence.lower()):
        assert barred(spelling) == kind


def test_the_shared_documents_are_told_apart(shared_data) -> None:
    """All licences of the shared data are known; those that bar are the ones its page names."""
    found = {}
    for path in sorted((shared_data / "tasks").glob("*/documents.jsonl.gz")):
        for row in objects(path):
            licence = row["meta"]["licence"]
            found.setdefault(barred(licence), set()).add((path.parent.name, licence))
    assert set(found) == {"", "a non-commercial"}
    assert {task for task, _ in found["a non-commercial"]} == {"trials", "policies", "meetings"}
    for path in sorted((shared_data / "corpus").glob("*.jsonl.gz")):
        assert {barred(row["licence"]) for row in objects(path)} == {""}
