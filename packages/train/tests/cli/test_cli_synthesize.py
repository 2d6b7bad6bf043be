"""``milepost synthesize`` and ``milepost mine``: questions and hard negatives."""

import json

import pytest

from milepost_eval.tasks import load
from support.chat_server import serving
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


def test_questions_of_a_language_model(cli, corpus, tmp_path, model, monkeypatch):
    """The key of the environment is sent; the questions are a task; counts are told."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret-key")
    out, checking = tmp_path / "out.jsonl", [x.replace("--model", "--landmarks") for x in model]
    with serving(lambda n, body: "What feeds a colony until willows blossom?") as chat:
        result = cli(
            "synthesize", corpus, "--out", out, "--endpoint", chat.url, "--model", "small",
            "--kind", "plain", "--per-document", 4, *checking,
        )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert chat.headers[0]["Authorization"] == "Bearer secret-key"
    assert chat.requests[0]["model"] == "small"
    assert [q.kind for q in load(str(out), "train").questions] == ["plain"]
    assert "1  questions: plain" in result.stdout
    assert "1  dropped: asked before" in result.stdout
    assert "secret-key" not in result.output


def test_questions_by_rule(cli, corpus, tmp_path):
    """By rule no endpoint is needed; kinds may be chosen."""
    out = tmp_path / "out.jsonl"
    done = cli("synthesize", corpus, "--out", out, "--rules", "--kind", "question,term")
    assert done.exit_code == 0
    assert [q.text for q in load(str(out), "train").questions] == ["What do bees eat in winter?"]


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
def test_what_makes_no_sense_is_refused(refusal, corpus, tmp_path, args, said):
    assert said in refusal("synthesize", corpus, "--out", tmp_path / "out.jsonl", *args)
    assert not (tmp_path / "out.jsonl").exists()


def test_some_documents_are_for_development(cli, refusal, tmp_path):
    """All questions of a document have one split; another fraction is another file."""
    hives = [f"hive {number}" for number in range(40)]
    rows = [{"id": hive, "text": TEXT.replace("bees", f"bees of {hive}")} for hive in hives]
    corpus, out = write_lines(tmp_path / "corpus.jsonl", rows), tmp_path / "out.jsonl"
    args = "synthesize", corpus, "--out", out, "--rules", "--dev"
    assert cli(*args, 0.25).exit_code == 0
    train, dev = (load(str(out), split).questions for split in ("train", "dev"))
    assert len(train) + len(dev) == 40
    assert 4 <= len(dev) <= 16
    assert not {q.document for q in train} & {q.document for q in dev}
    whole = out.read_bytes()
    assert cli(*args, 0.25).exit_code == 0
    assert out.read_bytes() == whole
    assert "was made with dev 0.25, not 0.5" in refusal(*args, 0.5)


def test_few_documents_leave_one_for_development(cli, corpus, tmp_path):
    """Of two or more one is taken, the same each time; of one none, which is said."""
    args = "synthesize", "--rules", "--dev", 0.0001, "--out"
    assert "none is in dev" in cli(*args, tmp_path / "one.jsonl", corpus).stderr
    folder, out = tmp_path / "handbook", tmp_path / "out.jsonl"
    folder.mkdir()
    for name in ("winter", "summer", "autumn"):
        text = TEXT.replace("winter", name).replace("Hives", "# Hives").replace("What", "## What")
        (folder / f"{name}.md").write_text(text)
    for _ in range(2):
        result = cli(*args, out, folder)
        assert (result.exit_code, result.stderr) == (0, "")
        train, dev = (load(str(out), split).questions for split in ("train", "dev"))
        assert (len(train), len(dev)) == (2, 1)


def test_no_question_is_said(cli, tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "out.jsonl"
    text.write_text("Nothing asks here.")
    result = cli("synthesize", text, "--out", out, "--rules", "--dev", 0.1)
    assert result.exit_code == 1
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


def test_negatives_and_counts(cli, task, tmp_path, model):
    out = tmp_path / "out.jsonl"
    result = cli("mine", task, "--out", out, *model)
    assert result.exit_code == 0, result.stderr
    (row,) = map(json.loads, out.read_text().splitlines())
    assert {each["document"] for each in row["negatives"]} == {"bees", "ships"}
    assert "1  questions" in result.stdout
    assert "candidate: is next to the evidence" in result.stdout


def test_bad_lines_are_named_and_end_in_1(cli, task, tmp_path, model):
    """Beside them what was asked for is written: negatives of the own document alone."""
    with task.open("a") as file:
        file.write(
            '{"document": "beez", "question": "Who?", "spans": [[0, 1]], "split": "train"}\n'
        )
    out = tmp_path / "out.jsonl"
    result = cli("mine", task, "--out", out, "--collection", 0, *model)
    assert result.exit_code == 1
    assert {each["document"] for each in json.loads(out.read_text())["negatives"]} == {"bees"}
    assert "line 4: no document 'beez'; try: 'bees'" in result.stderr
    assert "1  lines or files that cannot be used" in result.stdout
