"""Answers of a language model: the events of ``/ask``, and the box on the page."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.browser_page import Tabs, answered, ask, ready
from support.chat_server import Chat, Stream, refused, serving
from support.server import Server, ServerProcess, running_server
from support.shipped_book import hive_bees

QUESTION = "How fast does a trail of scent fade?"
KEY, OURS = "sk-of-the-endpoint", "key-of-this-server"
SAID = [
    "A trail of scent fades ",
    "within an hour [1]. 😀 It is said to be “blue and green all over” [1]. ",
    "Ants know [99]. Nobody says this.",
]


class Writer:
    reply: Any


@pytest.fixture(scope="module")
def writer() -> Writer:
    return Writer()


@pytest.fixture(scope="module")
def model(writer: Writer) -> Iterator[Chat]:
    with serving(lambda *_: writer.reply) as running:
        yield running


@pytest.fixture(scope="module")
def server(folder: Path, model: Chat, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    options = ["--endpoint", model.url, "--model-name", "parrot"]
    cache, more = tmp_path_factory.mktemp("cache"), {"MILEPOST_ENDPOINT_KEY": KEY}
    with running_server(folder / "notes.md", *options, cache=cache, more=more) as (running, client):
        assert client.get("/ready").json()["language_model"] == "parrot"
        yield running


@pytest.fixture(autouse=True)
def parrot(writer: Writer, model: Chat) -> None:
    writer.reply = Stream(SAID)
    model.requests.clear()
    model.left.clear()


def events(server: Server, **question: Any) -> list[tuple[str, dict[str, Any]]]:
    with (
        server.client() as client,
        client.stream("POST", "/ask", json={"question": QUESTION, "k": 2, **question}) as got,
    ):
        assert got.status_code == 200
        assert got.headers["content-type"].startswith("text/event-stream")
        parts = got.read().decode("utf-8").split("\n\n")
    assert parts.pop() == ""
    lines = [part.split("\n") for part in parts]
    return [(name[len("event: ") :], json.loads(data[len("data: ") :])) for name, data in lines]


def test_events_come_in_order(server: Server, model: Chat) -> None:
    found = events(server)
    names = [name for name, _ in found]
    assert names == ["passages", *["text"] * 3, *["citation"] * 3, "answer"]
    passages = found[0][1]["passages"]
    assert passages[0]["document"] == "notes.md"
    assert "".join(data["text"] for name, data in found if name == "text") == "".join(SAID)
    citations = [data for name, data in found if name == "citation"]
    assert [each["verdict"] for each in citations] == ["verbatim", "misquoted", "missing"]
    start, end = citations[0]["spans"][0]
    text = passages[0]["text"][start - passages[0]["start"] : end - passages[0]["start"]]
    assert text == "A trail of scent fades within an hour"
    whole = found[-1][1]
    assert whole["text"] == "".join(SAID)
    assert whole["uncited"] == ["Nobody says this."]
    assert not whole["grounded"]
    assert model.headers[-1]["authorization"] == f"Bearer {KEY}"
    assert passages[0]["text"] in model.requests[-1]["messages"][-1]["content"]


def test_an_endpoint_that_refuses_is_an_event(server: Server, writer: Writer) -> None:
    writer.reply = refused(401, f"bad key {KEY}")
    name, data = events(server)[-1]
    assert name == "error"
    assert "401" in data["message"]
    assert KEY not in data["message"]
    assert KEY not in server.said()


def test_an_answer_that_breaks_off_is_an_event(server: Server, writer: Writer) -> None:
    writer.reply = Stream(["A trail "], reason=None)
    name, data = events(server)[-1]
    assert name == "error"
    assert data["message"].endswith("try: the same question again")
    assert "Traceback" not in server.said()


def test_what_the_model_thinks_is_set_apart(server: Server, writer: Writer) -> None:
    writer.reply = Stream(["<thi", "nk>Is it [7]?</th", "ink>\n\n", *SAID])
    found = events(server)
    assert "".join(data["text"] for name, data in found if name == "thinking") == "Is it [7]?"
    assert "".join(data["text"] for name, data in found if name == "text") == "".join(SAID)
    assert found[-1][1]["text"] == "".join(SAID)
    assert 7 not in [data["number"] for name, data in found if name == "citation"]


def test_without_passages_nothing_is_sent(server: Server, model: Chat) -> None:
    found = events(server, min_score=1.0)
    assert [name for name, _ in found] == ["passages", "answer"]
    assert found[1][1] == {"text": "", "uncited": [], "cut": False, "grounded": False}
    assert model.requests == []


def test_a_client_that_leaves_ends_the_request(server: Server, writer: Writer, model: Chat) -> None:
    go = threading.Event()
    writer.reply = Stream(["word "] * 200, between=lambda n: n and go.wait(0.05))
    with (
        server.client() as client,
        client.stream("POST", "/ask", json={"question": QUESTION}) as got,
    ):
        assert any(line == "event: text" for line in got.iter_lines())
    assert model.left.wait(20)


def test_a_silent_model_keeps_neither_places_nor_the_server(folder: Path, tmp_path: Path) -> None:
    asked, silent = threading.Semaphore(0), threading.Event()
    with serving(lambda *_: asked.release() or silent.wait(60) or 503) as model:
        options = ["--endpoint", model.url, "--model-name", "mute"]
        with ServerProcess(str(folder / "notes.md"), *options, cache=tmp_path / "c") as running:
            with running.client() as client:
                running.indexed(client)
            for _ in range(9):  # one more than are answered at once
                with (
                    running.client() as client,
                    client.stream("POST", "/ask", json={"question": QUESTION}) as got,
                ):
                    pieces = got.iter_bytes()
                    next(pieces)
                    assert asked.acquire(timeout=20)
            ended = time.monotonic()
        assert time.monotonic() - ended < 8
        assert "Traceback" not in running.said()
        silent.set()


def test_a_server_without_a_language_model_says_how_to_name_one(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, tabs: Tabs
) -> None:
    cache = tmp_path_factory.mktemp("none")
    with running_server(folder / "notes.md", cache=cache) as (plain, client):
        refusal = client.post("/ask", json={"question": QUESTION})
        assert refusal.status_code == 409
        assert "--endpoint" in refusal.json()["error"]["message"]
        with tabs(plain.url) as page:
            ready(page, plain.url)
            ask(page, QUESTION)
            assert page.locator(".passage").count() > 0
            assert page.locator(".written").count() == 0


def test_the_box_writes_an_answer_with_links(server: Server, tabs: Tabs) -> None:
    with tabs(server.url) as page:
        ready(page, server.url)
        ask(page, QUESTION)
        assert "by parrot" in page.locator(".written").inner_text()
        page.get_by_role("button", name="Write an answer").click()
        page.wait_for_selector(".written .cite")
        shown = page.locator(".written .text").inner_text()
        assert shown == "".join(SAID)
        cites = page.locator(".written .cite")
        labels = [cites.nth(n).get_attribute("aria-label") for n in range(cites.count())]
        assert labels == [
            "result 1, word for word",
            "result 1, quoted wrongly",
            "result 99, no such result",
        ]
        assert page.locator(".written a.cite").count() == 2
        notes = page.locator(".written .aside").inner_text()
        assert "3 citations: 1 word for word, 1 quoted wrongly, 1 no such result." in notes
        assert "1 sentence without a citation." in notes
        page.locator(".written a.cite").first.click()
        page.wait_for_selector("#document-body mark.best")
        marked = page.locator("#document-body mark.best").all_inner_texts()
        assert "".join(marked) == "A trail of scent fades within an hour"
        ask(page, "What do bees build?")
        assert page.locator(".written .cite").count() == 0, "it belongs to its question"


def test_what_is_said_in_other_words_is_checked(server: Server, tabs: Tabs, writer: Writer) -> None:
    said = "A few slaves lived in the fourteen nests of F. sanguinea [1]. Zebras graze [1]."
    question = "How many slaves lived in the nests of F. sanguinea?"
    writer.reply = Stream([said])
    with server.client() as client:
        files = {"file": ("instincts.txt", hive_bees().encode())}
        client.post("/documents", files=files).raise_for_status()
        server.indexed(client)
    found = [data for name, data in events(server, question=question) if name == "citation"]
    assert [each["verdict"] for each in found] == ["supported", "unsupported"]
    support = found[0]["support"]
    assert (support["number"], support["document"]) == (1, "instincts.txt")
    assert found[1]["support"] is None
    assert set(support) == {"id", "document", "number", "start", "end", "page", "score"}
    with tabs(server.url) as page:
        ready(page, server.url)
        ask(page, question)
        page.get_by_role("button", name="Write an answer").click()
        page.wait_for_selector(".written .cite")
        cites = page.locator(".written a.cite")
        labels = [cites.nth(n).get_attribute("aria-label") for n in range(cites.count())]
        assert labels == ["result 1, probably supported", "result 1, not supported"]
        notes = page.locator(".written .aside").inner_text()
        assert "2 citations: 1 probably supported, 1 not supported." in notes


def test_the_box_can_be_stopped_and_tried_again(
    server: Server, tabs: Tabs, writer: Writer, model: Chat
) -> None:
    writer.reply = Stream(["<b>word</b> "] * 400, between=lambda n: threading.Event().wait(0.02))
    with tabs(server.url) as page:
        ready(page, server.url)
        ask(page, QUESTION)
        answered(page)
        page.get_by_role("button", name="Write an answer").click()
        page.locator(".written .text", has_text="word").wait_for()
        page.get_by_role("button", name="Stop").click()
        page.wait_for_selector(".written .warning")
        assert page.locator(".written .warning").inner_text() == "Stopped."
        assert "<b>word</b>" in page.locator(".written .text").inner_text()
        assert model.left.wait(20)
        writer.reply = refused(401, "no")
        page.get_by_role("button", name="Write it again").click()
        page.locator(".written .warning", has_text="401").wait_for()
