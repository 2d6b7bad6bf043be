"""Filters over HTTP: search, check and the list of documents."""

from __future__ import annotations

import pytest

from support.server import Server


def _titles(passages: list[dict[str, str]]) -> set[str]:
    return {each["title"] for each in passages}


def test_only_documents_that_match(server: Server) -> None:
    where = 'kind = "md" and document matches "*/bees*"'
    with server.client() as client:
        got = client.post("/search", json={"question": "ship comb wax", "where": where}).json()
        assert _titles(got["passages"]) == {"bees.md"}
        text = "The ship Beagle left Plymouth in December 1831."
        for chosen, verdict in (('kind = "txt"', "verbatim"), ('kind = "md"', "not found")):
            asked = {"text": text, "where": chosen, "min_score": 1.0}
            assert client.post("/check", json=asked).json()["verdict"] == verdict
        listed = client.get("/documents", params={"where": 'kind = "txt"'}).json()["documents"]
        assert [(each["title"], each["properties"]) for each in listed] == [("ships.txt", {})]
        nothing = client.post("/search", json={"question": "wax", "where": "year > 3"}).json()
        assert (nothing["passages"], nothing["notes"]) == ([], ["no document matches year > 3"])


@pytest.mark.parametrize("where", ["kind = pdf", "", "unknown = 1", "a" * 2001])
def test_filters_that_cannot_be_used(server: Server, where: str) -> None:
    with server.client() as client:
        for got in (
            client.post("/search", json={"question": "wax", "where": where}),
            client.post("/check", json={"text": "wax", "where": where}),
            client.get("/documents", params={"where": where}),
        ):
            assert got.status_code == 422, got.text
            assert "\n" not in got.json()["error"]["message"]
