"""Who may ask: hosts, origins, keys, rates."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from milepost.cli.program import program
from support.server import Server, running_server

KEY = "correct horse battery"


@pytest.fixture(scope="module")
def guarded(texts: Path, tmp_path_factory: pytest.TempPathFactory):
    options = ["--allowed-host", "docs.example", "--cors", "https://app.example"]
    cache, more = tmp_path_factory.mktemp("cache"), {"MILEPOST_API_KEY": KEY}
    with (
        Server(str(texts), *options, cache=cache, more=more) as running,
        running.client() as client,
    ):
        yield client


def bearer(key: str = KEY) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


OWN = ["localhost:8077", "127.0.0.1", "[::1]:80", "docs.example"]
OTHERS = ["evil.example", "127.0.0.1.evil.example", "", "[::1", "a@localhost"]


@pytest.mark.parametrize("host", OWN + OTHERS)
def test_own_names_are_served_and_others_refused(guarded, host: str) -> None:
    """DNS rebinding: a name of the attacker's that resolves to this machine."""
    status = guarded.get("/health", headers={"host": host}).status_code
    assert status == 200 if host in OWN else status in (400, 421)


def test_a_key_is_needed(guarded) -> None:
    assert guarded.get("/documents").status_code == 401
    assert guarded.get("/documents", headers=bearer("wrong")).status_code == 401
    assert guarded.get("/documents", headers={"authorization": KEY}).status_code == 401
    got = guarded.get("/documents", headers=bearer())
    assert got.status_code == 200
    assert guarded.get("/").status_code == 200
    for path in ("/mcp", "/metrics", "/openapi.json", "/v1/models", "/indexing"):
        assert guarded.get(path).status_code == 401, path


def test_pages_of_other_origins_are_refused_unless_allowed(guarded) -> None:
    headers = {**bearer(), "origin": "https://evil.example"}
    assert guarded.get("/documents", headers=headers).status_code == 403
    assert guarded.delete("/documents/x", headers={**headers, "origin": "null"}).status_code == 403
    own = {**bearer(), "origin": str(guarded.base_url).rstrip("/")}
    assert guarded.get("/documents", headers=own).status_code == 200
    origin = {"origin": "https://app.example"}
    asked = guarded.options("/search", headers={**origin, "access-control-request-method": "POST"})
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    got = guarded.get("/documents", headers={**bearer(), **origin})
    assert got.headers["access-control-allow-origin"] == "https://app.example"


def test_every_answer_has_safe_headers(guarded) -> None:
    for path in ("/", "/health", "/documents", "/nothing"):
        headers = guarded.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_a_client_that_asks_too_often_waits(texts: Path, tmp_path: Path) -> None:
    with (
        Server(str(texts), "--rate", "1", cache=tmp_path / "c") as running,
        running.client() as client,
    ):
        codes = [client.get("/health") for _ in range(30)]
    assert codes[0].status_code == 200
    assert codes[-1].status_code == 429
    assert int(codes[-1].headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--host", "0.0.0.0"], "MILEPOST_API_KEY"),
        (["no-such-file.txt"], "does not exist"),
        (["--host", "203.0.113.9"], "cannot listen"),
    ],
)
def test_a_server_that_must_not_start(
    tmp_path: Path,
    args: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path))
    monkeypatch.delenv("MILEPOST_API_KEY", raising=False)
    if "0.0.0.0" not in args:
        monkeypatch.setenv("MILEPOST_API_KEY", KEY)
    with pytest.raises(SystemExit) as ended:
        program.main(["serve", "--port", "0", *args])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert words in said
    assert len(said.splitlines()) == 1
    assert KEY not in said


def test_a_request_that_outlasts_the_server_may_be_sent_again(texts, tmp_path, monkeypatch) -> None:
    heard, ended = Event(), Event()

    def encode(*_: object) -> None:
        heard.set()
        ended.wait(30)

    monkeypatch.setattr("milepost.server.running._GRACE", 0.2)
    monkeypatch.setattr("milepost.server.batching.Batcher._encode", encode)
    with (
        ThreadPoolExecutor(1) as beside,
        running_server(texts, cache=tmp_path / "cache") as (running, client),
    ):
        asked = beside.submit(client.post, "/v1/embeddings", json={"input": "When?"})
        asked.add_done_callback(lambda _: ended.set())
        assert heard.wait(30)
        running._started[0].should_exit = True
        answer = asked.result(30)
    assert (answer.status_code, answer.headers.get("retry-after")) == (503, "2")
