"""``milepost synthesize`` and ``milepost mine``: questions and hard negatives."""

import json

import pytest

from milepost_eval.tasks import load
from milepost_train.cli.mine import mine
from milepost_train.cli.synthesize import synthesize
from support.chat_server import serving
from support.cli_fixtures import invoked
from support.files import write_lines

TEXT = """Hives

What do bees eat in winter?

They eat the honey that they stored in the upper combs during the long days of summer. A strong \
colony needs about fifteen kilograms of it until the willows flower.
"""


@pytest.fixture(autouse=True)
def without_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def corpus(tmp_path):
    row = {"id": "bees", "text": TEXT, "title": "Hives"}
    return write_lines(tmp_path / "corpus.jsonl", [row])


def run(*args, command=synthesize):
    return invoked(command, *args, standalone_mode=False)


def test_questions_of_a_language_model(corpus, tmp_path, model, monkeypatch):
    """The key of the environment is sent; the questions are a task; counts are told."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    out = tmp_path / "out.jsonl"
    with serving(lambda n, body: "What feeds a colony until willows blossom?") as chat:
        result = run(
            corpus, "--out", out, "--endpoint", chat.url, "--model", "small", "--kind", "plain",
            "--per-document", 4, *[x.replace("--model", "--landmarks") for x in model],
        )  # fmt: skip
    assert result.exception is None, result.exception
    assert result.return_value == 0
    assert chat.headers[0]["Authorization"] == "Bearer secret-key"
    assert chat.requests[0]["model"] == "small"
    assert [q.kind for q in load(str(out), "train").questions] == ["plain"]
    assert "1  questions: plain" in result.output
    assert "1  dropped: asked before" in result.output
    assert "secret-key" not in result.output


def test_questions_by_rule(corpus, tmp_path):
    """By rule no endpoint is needed; kinds may be chosen; a second run adds nothing."""
    out = tmp_path / "out.jsonl"
    result = run(corpus, "--out", out, "--rules", "--kind", "question,term")
    assert result.return_value == 0
    assert [q.text for q in load(str(out), "train").questions] == ["What do bees eat in winter?"]
    kept = out.read_bytes()
    assert run(corpus, "--out", out, "--rules", "--kind", "question,term").return_value == 0
    assert out.read_bytes() == kept


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "missing --endpoint URL and --model NAME, or --rules"),
        (["--endpoint", "http://x/v1"], "missing --endpoint URL and --model NAME"),
        (["--rules", "--endpoint", "http://x/v1"], "--endpoint has no effect with --rules"),
        (["--rules", "--per-minute", "3"], "--per-minute has no effect with --rules"),
        (["--rules", "--kind", "headng"], "try: 'heading'"),
        (["--endpoint", "file:///x", "--model", "m"], "is not an address"),
        (
            ["--endpoint", "http://x/v1", "--model", "m", "--kind", "heading"],
            "unknown kind 'heading'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(corpus, tmp_path, args, said):
    result = run(corpus, "--out", tmp_path / "out.jsonl", *args)
    assert said in str(getattr(result.exception, "message", result.exception))
    assert not (tmp_path / "out.jsonl").exists()


def test_some_documents_are_for_development(tmp_path):
    """All questions of a document have one split; another fraction is another file."""
    hives = [f"hive {number}" for number in range(40)]
    rows = [{"id": hive, "text": TEXT.replace("bees", f"bees of {hive}")} for hive in hives]
    corpus, out = write_lines(tmp_path / "corpus.jsonl", rows), tmp_path / "out.jsonl"
    assert run(corpus, "--out", out, "--rules", "--dev", 0.25).return_value == 0
    train, dev = (load(str(out), split).questions for split in ("train", "dev"))
    assert len(train) + len(dev) == 40
    assert 4 <= len(dev) <= 16
    assert not {q.document for q in train} & {q.document for q in dev}
    whole = out.read_bytes()
    assert run(corpus, "--out", out, "--rules", "--dev", 0.25).return_value == 0
    assert out.read_bytes() == whole
    other = run(corpus, "--out", out, "--rules", "--dev", 0.5)
    assert "was made with dev 0.25, not 0.5" in str(other.exception)


def test_few_documents_leave_one_for_development(corpus, tmp_path):
    """Of two or more one is taken, the same each time; of one none, which is said."""
    result = run(corpus, "--out", tmp_path / "one.jsonl", "--rules", "--dev", 0.0001)
    assert "none is in dev" in result.stderr
    folder, out = tmp_path / "handbook", tmp_path / "out.jsonl"
    folder.mkdir()
    for name in ("winter", "summer", "autumn"):
        text = TEXT.replace("winter", name).replace("Hives", "# Hives").replace("What", "## What")
        (folder / f"{name}.md").write_text(text)
    for _ in range(2):
        result = run(folder, "--out", out, "--rules", "--dev", 0.0001)
        assert (result.return_value, result.stderr) == (0, "")
        train, dev = (load(str(out), split).questions for split in ("train", "dev"))
        assert (len(train), len(dev)) == (2, 1)


def test_no_question_is_said(tmp_path):
    (tmp_path / "text.txt").write_text("Nothing asks here.")
    result = run(tmp_path / "text.txt", "--out", tmp_path / "out.jsonl", "--rules", "--dev", 0.1)
    assert result.return_value == 1
    assert "no question was made" in result.stderr


BEES = (
    "The queen lays the eggs of the hive. Workers feed the young with pollen. "
    "Drones leave the hive in early summer. The old queen leaves it with a swarm. "
)
SHIPS = "Tugs pull large ships to the quay. A queen of the seas was launched here. "


@pytest.fixture
def task(tmp_path):
    lines = [
        {"id": "bees", "text": BEES},
        {"id": "ships", "text": SHIPS},
        {"document": "bees", "question": "Who lays the eggs?", "spans": [[0, 36]],
         "split": "train"},
    ]  # fmt: skip
    return write_lines(tmp_path / "task.jsonl", lines)


def test_negatives_and_counts(task, tmp_path, model):
    out = tmp_path / "out.jsonl"
    result = run(task, "--out", out, *model, command=mine)
    assert result.exception is None
    assert result.return_value == 0
    (row,) = map(json.loads, out.read_text().splitlines())
    assert {each["document"] for each in row["negatives"]} == {"bees", "ships"}
    assert "1  questions" in result.output
    assert "candidate: is next to the evidence" in result.output
    kept = out.read_bytes()
    assert run(task, "--out", out, *model, command=mine).output == result.output
    assert out.read_bytes() == kept


def test_bad_lines_are_named_and_end_in_1(task, tmp_path, model):
    with task.open("a") as file:
        file.write(
            '{"document": "beez", "question": "Who?", "spans": [[0, 1]], "split": "train"}\n'
        )
    result = run(task, "--out", tmp_path / "out.jsonl", "--collection", 0, *model, command=mine)
    assert result.return_value == 1
    assert "line 4: no document 'beez'; try: 'bees'" in result.stderr
    assert "1  lines or files that cannot be used" in result.output
