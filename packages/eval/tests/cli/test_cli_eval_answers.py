"""``milepost eval answers``: a real server that answers from what it is sent, tables, failures."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.chat_server import Chat, serving
from support.cli_process import command, environment
from support.longbench_files import code, read_and_answer, row, write, write_codes

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def straight(monkeypatch: pytest.MonkeyPatch) -> None:
    """No endpoint and no proxy of the machine that runs the tests."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    for name in ("ENDPOINT", "MODEL_NAME", "ENDPOINT_KEY"):
        monkeypatch.delenv(f"MILEPOST_{name}", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def codes(tmp_path: Path) -> Path:
    return write_codes(tmp_path / "qasper.jsonl", 4)


def remote(chat: Chat) -> list[str]:
    return ["--endpoint", f"{chat.url}?signature=hidden", "--model-name", "small"]


def test_a_table_of_systems_and_budgets(
    cli: Any, model: list[str], codes: Path, tmp_path: Path
) -> None:
    """Retrieval beats the whole context cut to the same length, and that beats nothing at all."""
    kept = tmp_path / "kept"
    with serving(read_and_answer) as chat:
        done = cli(
            "eval", "answers", codes, *remote(chat), "--systems", "landmark,bm25,whole,none",
            "--tokens", "48", "--cache", kept, *model,
        )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "qasper: 4 questions about 2 contexts" in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    rows = {line[1]: line for line in lines if line and line[0] == "48"}
    assert list(rows) == ["landmark", "bm25", "whole", "none"]
    assert rows["landmark"][2:6] == ["100.0", "[100.0,", "100.0]", "–"]
    assert rows["bm25"][2:8] == ["100.0", "[100.0,", "100.0]", "+0.0", "[+0.0,", "+0.0]"]
    assert rows["none"][2:8] == ["0.0", "[0.0,", "0.0]", "-100.0", "[-100.0,", "-100.0]"]
    sent = {name: int(line[-1]) for name, line in rows.items()}
    assert sent["none"] == 0
    assert all(40 <= sent[name] <= 48 for name in ("landmark", "bm25", "whole"))
    assert f"up to 16 requests to small at {chat.url}/chat/completions" in done.stderr
    assert "16 answers asked for, 0 kept before" in done.stderr
    written = b"".join(each.read_bytes() for each in kept.rglob("*") if each.is_file())
    for secret in (KEY, "hidden"):
        assert secret not in done.stdout + done.stderr
        assert secret.encode() not in written


def test_json_lines_and_the_environment(
    cli: Any, codes: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One line a question, system and budget; a second run asks nothing."""
    args = [
        "eval", "answers", codes, "--systems", "bm25,none", "--tokens", "32,64", "--questions", "2",
        "--cache", tmp_path / "kept", "--json",
    ]  # fmt: skip
    with serving(read_and_answer) as chat:
        monkeypatch.setenv("MILEPOST_ENDPOINT", chat.url)
        monkeypatch.setenv("MILEPOST_MODEL_NAME", "medium")
        monkeypatch.setenv("MILEPOST_ENDPOINT_KEY", "mine")
        first = cli(*args)
        asked = len(chat.requests)
        again = cli(*args, "-q")
    assert first.exit_code == again.exit_code == 0, first.stderr
    records = [json.loads(line) for line in first.stdout.splitlines()]
    assert [(r["budget"], r["system"]) for r in records] == 2 * [
        (32, "bm25"), (32, "none"), (64, "bm25"), (64, "none"),
    ]  # fmt: skip
    assert all(r["answer"] == code(int(r["question"][1])) for r in records if r["f1"] == 1)
    assert {r["system"]: r["f1"] for r in records} == {"bm25": 1.0, "none": 0.0}
    assert asked == len(chat.requests) == 6
    assert {body["model"] for body in chat.requests} == {"medium"}
    assert chat.headers[0]["Authorization"] == "Bearer mine"
    assert "qasper: 2 questions are not asked (--questions)" in first.stderr
    assert (again.stdout, again.stderr) == (first.stdout, "")


def test_a_failure_half_way_is_continued(cli: Any, codes: Path, tmp_path: Path) -> None:
    """One line that says which question and what to do; finished answers are not asked again."""
    args = ["eval", "answers", codes, "--systems", "bm25", "--tokens", "32", "--cache", tmp_path]
    with serving(lambda n, body: 401 if n == 2 else read_and_answer(n, body)) as chat:
        failed = cli(*args, *remote(chat), "-q")
        assert len(chat.requests) == 3
        done = cli(*args, *remote(chat), "-q")
        assert len(chat.requests) == 3 + 2
    assert failed.exit_code == 2
    (line,) = failed.stderr.splitlines()
    assert line.startswith("milepost: qasper, question q")
    assert "(bm25, 32 tokens): http://" in line
    assert "HTTP 401" in line
    assert line.endswith(
        "2 answers are kept; try: set OPENAI_API_KEY to a key of this endpoint; then the same "
        "command again, which continues from here"
    )
    assert done.exit_code == 0, done.stderr


def test_several_files_have_a_mean(cli: Any, codes: Path, tmp_path: Path) -> None:
    """A table each, then one of their mean; cut and refused answers are told."""
    other = write(tmp_path / "hotpotqa.jsonl", row(5, "Nothing of that is here, however long."))

    def reply(n: int, body: dict[str, Any]) -> Any:
        if "Nothing of that" in body["messages"][0]["content"]:
            return 413
        choice = {"message": {"content": read_and_answer(n, body)}, "finish_reason": "length"}
        return json.dumps({"choices": [choice]}).encode()

    with serving(reply) as chat:
        done = cli(
            "eval", "answers", codes, other, "--systems", "bm25", "--tokens", "32", *remote(chat),
            "--cache", tmp_path / "kept",
        )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "mean of 2 files: 5 questions about 3 contexts" in done.stdout
    figures = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("32 ")]
    assert figures == ["100.0", "0.0", "50.0"]
    assert "4 answers were cut at the limit of --answer-tokens" in done.stderr
    first = "the first: hotpotqa, question q5 (bm25, 32 tokens): HTTP 413"
    assert f"1 request was refused and counted as F1 0; {first}" in done.stderr


def test_empty_answers_are_told(cli: Any, codes: Path, tmp_path: Path) -> None:
    """How many, the first of them, and what may help."""
    args = ["--systems", "bm25", "--tokens", "32", "--cache", tmp_path]
    with serving(lambda n, body: "" if n > 1 else read_and_answer(n, body)) as chat:
        done = cli("eval", "answers", codes, *remote(chat), *args)
    assert done.exit_code == 0, done.stderr
    assert "2 answers were empty and counted as F1 0; the first: qasper, question q" in done.stderr
    assert "try: a larger --answer-tokens" in done.stderr


def test_ctrl_c_keeps_the_answers(codes: Path, tmp_path: Path) -> None:
    """One line on stderr, exit code 130; what was answered is not asked again."""
    running: list[subprocess.Popen[bytes]] = []

    def reply(n: int, body: dict[str, Any]) -> Any:
        if n == 2:
            running[0].send_signal(signal.SIGINT)
            running[0].wait(60)
        return read_and_answer(n, body)

    with serving(reply) as chat:
        args = command(
            "eval", "answers", codes, "--systems", "bm25", "--tokens", "32", "--cache", tmp_path,
            *remote(chat), "-q",
        )  # fmt: skip
        with subprocess.Popen(args, stderr=subprocess.PIPE, env=environment()) as process:
            running.append(process)
            assert process.stderr is not None
            said = process.stderr.read().decode()
        assert process.returncode == 130
        assert said.splitlines() == [
            "milepost: interrupted; answers are kept; run the same command to continue"
        ]
        assert len(chat.requests) == 3
        assert subprocess.run(args, env=environment(), check=False).returncode == 0
        assert len(chat.requests) == 3 + 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "no language model is set; try: --endpoint http://"),
        (["--endpoint", "http://h/v1"], "the language model has no name; try: --model-name NAME"),
        (["--endpoint", "http://me:sk-very-secret@h/v1", "--model-name", "m"], "of h holds a name"),
        (["--tokens", "512,-1"], "--tokens 512,-1: not numbers of tokens such as 512,1024"),
        (["--systems", "landmrk"], "unknown system 'landmrk'; try: 'landmark', or one of"),
        (["--questions", "0"], "--questions"),
    ],
)
def test_what_makes_no_sense_is_refused(
    cli: Any, codes: Path, args: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line before anything is asked, without the password of an address."""
    if args and not args[0].startswith("--endpoint"):
        monkeypatch.setenv("MILEPOST_ENDPOINT", "http://127.0.0.1:9/v1")
        monkeypatch.setenv("MILEPOST_MODEL_NAME", "small")
    done = cli("eval", "answers", codes, *args)
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert said in line
    assert KEY not in line


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            [{"_id": "x", "input": "Why?"}],
            "line 1: no 'context'; try: add context; it has '_id' or 'input'",
        ),
        (
            [{"_id": "x", "question": "Why?", "choice_A": "So.", "context": "Some text."}],
            "line 1: no 'input'; try: add input",
        ),
        ([[row(0, "Some text.")]], "is not a JSON object; try: one JSON object per line"),
        (
            [{**row(0, "Some text."), "answers": {"text": ["4000"]}}],
            "line 1: 'answers' is not a list of strings; try: ",
        ),
    ],
)
def test_another_layout_is_named(cli: Any, tmp_path: Path, written: list[Any], said: str) -> None:
    """File, line, field and what to do; the endpoint hears nothing."""
    path = write(tmp_path / "qasper.jsonl", *written)
    with serving(read_and_answer) as chat:
        done = cli("eval", "answers", path, *remote(chat))
        assert not chat.requests
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert str(path) in line
    assert said in line
