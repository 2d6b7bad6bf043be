"""The scripts of ``examples/`` run as users have them, where what they need is installed."""

import importlib.util
import io
import json
import re
import runpy
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from milepost.encoder.engine import shipped_models
from support.chat_server import serving
from support.cli_process import environment
from support.files import write_files
from support.postgres import server

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
if not EXAMPLES:
    pytest.skip("needs the checkout", allow_module_level=True)

TEXT = (
    "# Harbours\n\nA ship needs deep water, and tugs pull large ships to the quay. "
    + "The harbour master keeps a book of every vessel that comes in. " * 12
    + "\n\n# Gold\n\nGold melts at 1064 degrees Celsius. It is heavier than lead. "
    + "The price of gold is fixed twice a day in London by telephone. " * 12
)


QUESTION = "At what temperature does gold melt?"
STORES = {
    "qdrant_chunks": "qdrant_client",
    "chroma_chunks": "chromadb",
    "pgvector_chunks": "pgvector",
    "lancedb_chunks": "lancedb",
}
"""Each example of a vector database → what it needs."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not shipped_models():
        pytest.skip("no model is shipped here")
    write_files(tmp_path, {"notes/notes.md": TEXT})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(name: str, *arguments: str) -> None:
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("default")  # as the interpreter has it
        patch.setattr(sys, "argv", [f"{name}.py", *arguments])
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")


def need(*packages: str) -> None:
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}")


@pytest.mark.parametrize("name", STORES)
def test_an_example_stores_and_finds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    need(STORES[name])
    more = [server()] if name == "pgvector_chunks" else []
    for address in more:  # an earlier run may have left vectors of another model
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS milepost_chunks")
    run(name, "notes/notes.md", QUESTION, *more)
    printed = capsys.readouterr().out
    found = re.findall(r"^(-?0\.\d{3}) from (\d+): (.+(?:\n(?!-?0\.).*)*)", printed, re.M)
    assert len(found) == 3
    assert [score for score, _, _ in found] == sorted((s for s, _, _ in found), reverse=True)
    assert "1064 degrees" in found[0][2]
    for _, start, text in found:
        assert TEXT[int(start) :].lstrip().startswith(text.strip())


def test_a_folder_is_searched(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        run("folder_search", "notes", QUESTION)
        place, sentence = capsys.readouterr().out.splitlines()[:2]
        assert place.endswith(str(here / "notes" / "notes.md"))
        assert sentence == "Gold melts at 1064 degrees Celsius."
    assert (here / "notes.milepost" / "milepost.sqlite").is_file()


def test_a_language_model_answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("openai")
    with serving("At 1064 degrees [1].") as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n\n"))
        run("openai_rag", "notes", "small")
        (body,) = model.requests
    assert body["model"] == "small"
    assert "[1] " in body["messages"][1]["content"]
    assert "Gold melts at 1064 degrees" in body["messages"][1]["content"]
    answer, source, *_ = capsys.readouterr().out.splitlines()[1:]
    assert answer == "At 1064 degrees [1]."
    found = re.fullmatch(r"\[1\] \S+notes\.md (\d+)-(\d+)", source)
    assert found
    assert "Gold melts" in TEXT[int(found[1]) : int(found[2])]


def test_own_questions_are_measured(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need("milepost_eval")
    monkeypatch.setenv("MILEPOST_CACHE", str(here / "cache"))
    line = {"document": "notes/notes.md", "question": QUESTION, "answer": "melts at 1064 degrees"}
    (here / "questions.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    run("own_questions", "questions.jsonl")
    ours, theirs = capsys.readouterr().out.splitlines()
    assert ours.startswith("landmark: of 1 questions, 100% are answered")
    assert theirs.startswith("bm25: of 1 questions")


def test_a_web_service_answers(here: Path) -> None:
    """A question without words is the client's mistake, as is a k of 0."""
    need("fastapi", "uvicorn", "httpx2")
    import httpx2

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = ROOT / "examples" / "fastapi_app.py"
    with (
        (here / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, script, "notes", str(port)], env=environment(), stdout=log, stderr=log
        ) as process,
    ):
        try:
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                until = time.monotonic() + 120
                while b"running on" not in (here / "log").read_bytes():
                    assert process.poll() is None, (here / "log").read_text()
                    assert time.monotonic() < until, (here / "log").read_text()
                    time.sleep(0.05)
                found = client.get("/search", params={"question": QUESTION, "k": 1}).json()
                assert "Gold melts at 1064 degrees" in found[0]["text"]
                assert client.get("/search", params={"question": "?!"}).status_code == 422
                assert client.get("/search", params={"question": "x", "k": 0}).status_code == 422
        finally:
            process.terminate()
