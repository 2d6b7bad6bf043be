"""``/search`` against a real process."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.server import Server

QUESTION = "How do bees make the cells of the comb?"


def test_the_answer_is_that_of_the_index(server: Server, texts: Path) -> None:
    with server.client() as client:
        got = client.post("/search", json={"question": QUESTION, "k": 1, "heat": True}).json()
        passage = got["passages"][0]
        part = client.get(
            f"/documents/{passage['id']}/text",
            params={"start": passage["start"], "end": passage["end"]},
        ).json()
    assert passage["title"] == "bees.md"
    assert "cells of its comb" in passage["text"] == part["text"]
    assert 0 < passage["score"] <= 1
    assert passage["heading"] == "Bees"
    assert len(got["heat"][passage["id"]]) == 64
    assert str(texts) not in str(got)


def test_only_the_documents_asked_for(server: Server) -> None:
    with server.client() as client:
        listed = {
            each["title"]: each["id"] for each in client.get("/documents").json()["documents"]
        }
        for key in ("ships.txt", listed["ships.txt"]):
            got = client.post("/search", json={"question": QUESTION, "documents": [key]}).json()
            assert {each["title"] for each in got["passages"]} == {"ships.txt"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "?"}, 422),
        ({"question": ""}, 422),
        ({"question": QUESTION, "k": 0}, 422),
        ({"question": QUESTION, "budget": "4 pages"}, 422),
        ({"question": QUESTION, "min_score": 2}, 422),
        ({"question": QUESTION, "documents": ["no such"]}, 404),
        ({"question": "\ud800 bees"}, 422),
    ],
)
def test_what_cannot_be_asked(server: Server, body: dict[str, object], status: int) -> None:
    import json

    with server.client() as client:
        got = client.post(
            "/search", content=json.dumps(body), headers={"content-type": "application/json"}
        )
    assert got.status_code == status, got.text


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Ants follow trails of scent to find food.", "verbatim"),
        ("Ants follow trails of smell to find food.", "near"),
        ("Whales sing in winter.", "not found"),
    ],
)
def test_a_quotation_is_checked(server: Server, text: str, verdict: str) -> None:
    with server.client() as client:
        got = client.post("/check", json={"text": text}).json()
        assert got["verdict"] == verdict
        for place in got["places"]:
            part = client.get(
                f"/documents/{place['id']}/text",
                params={"start": place["start"], "end": place["end"]},
            ).json()
            assert part["text"] == place["text"]
        assert client.post("/check", json={"text": "?!"}).status_code == 422
