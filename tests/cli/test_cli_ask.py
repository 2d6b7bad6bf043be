"""``milepost ask``: answers, their citations, and endpoints that are down or talk nonsense."""

import json
import os
import socket
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from milepost.chat import Endpoint
from support.chat_server import Chat, Reply, Stream, refused, serving
from support.cli_process import command, environment

KEY = "sk-very-secret"
GOLD = "At what temperature does gold melt?"
QUOTED = 'Gold "melts at 1064 degrees" [1].'


@pytest.fixture(autouse=True)
def straight(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENDPOINT", "MODEL_NAME", "API_KEY"):
        monkeypatch.delenv(f"MILEPOST_{name}", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    hasty = partial(Endpoint, wait_s=0.1)  # before the second try
    monkeypatch.setattr("milepost.chat.Endpoint", hasty)


def remote(model: Chat) -> list[str]:
    return ["--endpoint", model.url, "--model-name", "small"]


def test_an_answer_and_its_sources(cli: Any, model: list[str], notes: Path) -> None:
    with serving(QUOTED) as there:
        done = cli("ask", GOLD, notes, *remote(there), *model)
    assert done.exit_code == 0, done.stderr
    answer, sources = done.stdout.split("\n\n")
    assert answer == QUOTED
    first, second = sources.splitlines()
    assert first.startswith("[1] ")
    assert "gold.txt" in first
    assert first.endswith("word for word")
    assert second.strip() == "“melts at 1064 degrees”"
    assert there.headers[0]["authorization"] == f"Bearer {KEY}"
    sent = there.requests[0]
    assert sent["model"] == "small"
    assert "Gold melts at 1064 degrees." in sent["messages"][1]["content"]
    assert str(notes) not in json.dumps(sent)
    assert KEY not in done.stdout + done.stderr


def test_pieces_are_printed_as_they_come(model: list[str], db: Path) -> None:
    seen = threading.Event()

    def between(number: int) -> None:
        assert number == 0 or seen.wait(60)

    with serving(Stream(["Gold ", "melts [1]."], between=between)) as there:
        args = command("ask", GOLD, "--db", db, *remote(there), *model)
        with subprocess.Popen(args, stdout=subprocess.PIPE, env=environment()) as running:
            first = os.read(running.stdout.fileno(), 5)
            seen.set()
            rest = running.stdout.read()
    assert first == b"Gold "
    assert rest.startswith(b"melts [1].\n\n[1] ")
    assert running.returncode == 0


def test_without_an_endpoint_the_passages_are_shown(
    cli: Any, model: list[str], notes: Path
) -> None:
    done = cli("ask", GOLD, notes, *model)
    assert done.exit_code == 0
    assert "Gold melts at 1064 degrees." in done.stdout
    assert "MILEPOST_ENDPOINT" in done.stderr
    assert "--endpoint http://" in done.stderr
    found = json.loads(cli("ask", GOLD, notes, "--json", *model).stdout)
    assert found["answer"] is None
    assert found["error"] is None
    assert "1064" in found["passages"][0]["text"]


def test_the_environment_names_the_endpoint(
    cli: Any, model: list[str], db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("Gold melts at 1064 degrees [1].") as there:
        monkeypatch.setenv("MILEPOST_ENDPOINT", there.url)
        monkeypatch.setenv("MILEPOST_MODEL_NAME", "medium")
        monkeypatch.setenv("MILEPOST_ENDPOINT_KEY", "mine")
        assert cli("ask", GOLD, "--db", db, *model).exit_code == 0
        assert cli("ask", GOLD, "--db", db, "--model-name", "large", *model).exit_code == 0
    assert [body["model"] for body in there.requests] == ["medium", "large"]
    assert there.headers[0]["authorization"] == "Bearer mine"


def test_json_has_answer_citations_and_passages(cli: Any, model: list[str], db: Path) -> None:
    said = QUOTED + ' It "never rusts" [1]. It "floats" [1]. Nobody knows.'
    with serving(said) as there:
        done = cli("ask", GOLD, "--db", db, "--json", *remote(there), *model)
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["answer"]["text"] == said
    verdicts = [citation["verdict"] for citation in found["citations"]]
    assert verdicts == ["verbatim", "verbatim", "misquoted"]
    start, end = found["citations"][0]["spans"][0]
    first = found["passages"][0]
    assert first["text"][start - first["start"] : end - first["start"]] == "melts at 1064 degrees"
    assert found["answer"]["uncited"] == ["Nobody knows."]
    assert found["answer"]["cut"] is False
    assert "not in the passages that it cites: 'floats'" in done.stderr


def test_a_citation_of_no_passage(cli: Any, model: list[str], db: Path) -> None:
    with serving("It melts at 1064 degrees [9].") as there:
        done = cli("ask", GOLD, "--db", db, "-k", 2, *remote(there), *model)
    assert done.exit_code == 1
    assert "[9] no such passage" in done.stdout
    assert done.stdout.count("It melts at 1064 degrees") == 2
    assert "cites [9], but there are 2 passages" in done.stderr
    assert "no sentence of the answer rests on a passage" in done.stderr


def test_an_endpoint_that_is_down(cli: Any, model: list[str], db: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = cli("ask", GOLD, "--db", db, "--endpoint", url, "--model-name", "x", *model)
    assert done.exit_code == 2
    assert "Gold melts at 1064 degrees." in done.stdout
    assert done.stderr.count("milepost: http") == 1
    assert f"{url}/chat/completions: " in done.stderr
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("reply", "said", "as_json"),
    [
        (refused(401, f"Incorrect API key provided: {KEY}."), "OPENAI_API_KEY", False),
        (refused(401, f"Incorrect API key provided: {KEY}."), "OPENAI_API_KEY", True),
        (refused(404, "The model `small` does not exist"), "does not exist", False),
        (refused(500, "out of memory"), "out of memory (tried 2 times)", False),
        (Reply(b"<html>", headers={"Content-Type": "text/html"}), "unknown form", True),
        (Stream([b'data: {"error": {"message": "crashed"}}\n\n']), "crashed", False),
        (Stream([], reason="content_filter"), "gave no text (content_filter)", False),
    ],
)
def test_an_endpoint_that_refuses_or_talks_nonsense(
    cli: Any, model: list[str], db: Path, reply: Any, said: str, *, as_json: bool
) -> None:
    options = ["--json"] if as_json else []
    with serving(reply) as there:
        done = cli("ask", GOLD, "--db", db, "--debug", *options, *remote(there), *model)
    assert done.exit_code == 2
    assert said in done.stderr.splitlines()[-1]
    assert "1064 degrees" in done.stdout
    assert KEY not in done.stdout + done.stderr
    if as_json:
        assert said in json.loads(done.stdout)["error"]


def test_an_answer_that_breaks_off(cli: Any, model: list[str], db: Path) -> None:
    with serving(Stream(["Gold melts", " at 1064 degrees [1]"], reason=None)) as there:
        done = cli("ask", GOLD, "--db", db, *remote(there), *model)
    assert done.exit_code == 2
    assert done.stdout.startswith("Gold melts at 1064 degrees [1]\n\n/")
    assert "broke off" in done.stderr
    assert "word for word" not in done.stdout


def test_control_characters_do_not_reach_the_terminal(cli: Any, model: list[str], db: Path) -> None:
    with serving('Gold \x1b[31m"melts\x1b[0m" [1].') as there:
        done = cli("ask", GOLD, "--db", db, *remote(there), *model)
    assert "\x1b" not in done.stdout + done.stderr
    assert "Gold ␛[31m" in done.stdout


def test_nothing_found_asks_nothing(cli: Any, model: list[str], db: Path) -> None:
    with serving("Yes [1].") as there:
        done = cli("ask", GOLD, "--db", db, "--min-score", 1, *remote(there), *model)
    assert done.exit_code == 1
    assert not there.requests
    assert done.stdout == ""
    assert "nothing found at 100% or more; " in done.stderr


def test_wrong_usage_is_refused_before_anything_is_read(cli: Any, tmp_path: Path) -> None:
    missing = tmp_path / "missing"

    def said(*args: object, **options: Any) -> str:
        done = cli("ask", GOLD, missing, *args, **options)
        assert done.exit_code == 2
        assert "missing" not in done.stderr
        return str(done.stderr)

    assert "--model-name" in said("--endpoint", "http://127.0.0.1/v1")
    assert "not an address" in said("--endpoint", "localhost:80", "--model-name", "x")
    shown = said("--endpoint", "http://me:pw123@h/v1", "--model-name", "x")
    assert "pw123" not in shown
    bad = {"MILEPOST_ENDPOINT_KEY": "sk-a\nb"}
    shown = said("--endpoint", "http://h/v1", "--model-name", "x", env=bad)
    assert "MILEPOST_ENDPOINT_KEY" in shown
    assert "sk-a" not in shown
