"""Searches and embeddings over HTTP."""

import base64
from pathlib import Path

import httpx2
import numpy as np
import pytest

import milepost
from support.page_documents import harbour
from support.server import Server, running_server
from support.zotero_library import DARWIN, SOCIETY, ZoteroLibrary

QUESTION = "How do bees make the cells of the comb?"


def test_the_answer_is_that_of_the_index(client: httpx2.Client, texts: Path) -> None:
    got = client.post("/search", json={"question": QUESTION, "k": 1.0, "heat": True}).json()
    passage = got["passages"][0]
    part = client.get(
        f"/documents/{passage['id']}/text",
        params={"start": passage["start"], "end": passage["end"]},
    ).json()
    assert passage["document"] == "bees.md"
    best = passage["hits"][0]
    text = best["text"].rstrip()
    end = best["start"] + len(text)
    assert passage["best"] == best | {"text": text, "end": end, "page": None}
    assert "cells of its comb" in passage["text"] == part["text"]
    assert 0 < passage["score"] <= 1
    assert passage["heading"] == "Bees"
    assert len(got["heat"][passage["id"]]) == 64
    assert str(texts) not in str(got)


def test_only_the_documents_asked_for(client: httpx2.Client) -> None:
    listed = {each["name"]: each["id"] for each in client.get("/documents").json()["documents"]}
    for key in ("ships.txt", listed["ships.txt"]):
        got = client.post("/search", json={"question": QUESTION, "documents": [key]}).json()
        assert {each["document"] for each in got["passages"]} == {"ships.txt"}
    got = client.post("/search", json={"question": QUESTION, "documents": ["no such"]})
    assert got.status_code == 404


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Ants follow trails of scent to find food.", "verbatim"),
        ("Ants follow trails of smell to find food.", "near"),
        ("Whales sing in winter.", "not found"),
    ],
)
def test_a_quotation_is_checked(client: httpx2.Client, text: str, verdict: str) -> None:
    got = client.post("/check", json={"text": text}).json()
    assert got["verdict"] == verdict
    for place in got["places"]:
        part = client.get(
            f"/documents/{place['id']}/text",
            params={"start": place["start"], "end": place["end"]},
        ).json()
        assert part["text"] == place["text"]
    assert client.post("/check", json={"text": "?!"}).status_code == 422


def test_a_result_without_passages_says_why(client: httpx2.Client) -> None:
    none = client.post("/search", json={"question": "wax", "documents": []}).json()
    assert none["passages"] == []
    assert any("chosen" in note for note in none["notes"])
    high = client.post("/search", json={"question": "wax", "min_score": 1}).json()
    assert high["passages"] == []
    assert 0 < high["best_score"] < 1
    assert any("100%" in note for note in high["notes"])
    claim = {"text": "Whales sing in winter.", "min_score": 1}
    assert any("100%" in note for note in client.post("/check", json=claim).json()["notes"])


@pytest.mark.parametrize("path", ["/nothing", "/page/nothing.js", "/documents/a/b/c"])
def test_an_unknown_address_is_an_error_like_others(client: httpx2.Client, path: str) -> None:
    got = client.get(path)
    assert got.status_code == 404
    error = got.json()["error"]
    assert path in error["message"]
    assert error["code"] == 404


def _documents(passages: list[dict[str, str]]) -> set[str]:
    return {each["document"] for each in passages}


def test_only_documents_that_match(client: httpx2.Client) -> None:
    where = 'kind = "md" and document matches "*/bees*"'
    got = client.post("/search", json={"question": "ship comb wax", "where": where}).json()
    assert _documents(got["passages"]) == {"bees.md"}
    text = "The ship Beagle left Plymouth in December 1831."
    for chosen, verdict in (('kind = "txt"', "verbatim"), ('kind = "md"', "not found")):
        asked = {"text": text, "where": chosen, "min_score": 1.0}
        assert client.post("/check", json=asked).json()["verdict"] == verdict
    listed = client.get("/documents", params={"where": 'kind = "txt"'}).json()["documents"]
    assert [(each["name"], each["properties"]) for each in listed] == [("ships.txt", {})]
    nothing = client.post("/search", json={"question": "wax", "where": "year > 3"}).json()
    assert (nothing["passages"], nothing["notes"]) == ([], ["no document matches year > 3"])


@pytest.mark.parametrize("where", ["kind = pdf", "", "unknown = 1", "a" * 2001])
def test_filters_that_cannot_be_used(client: httpx2.Client, where: str) -> None:
    for got in (
        client.post("/search", json={"question": "wax", "where": where}),
        client.post("/check", json={"text": "wax", "where": where}),
        client.get("/documents", params={"where": where}),
    ):
        assert got.status_code == 422, got.text
        assert "\n" not in got.json()["error"]["message"]


def test_passages_and_documents_have_the_reference(tmp_path: Path) -> None:
    library = ZoteroLibrary(tmp_path / "Zotero")
    book = library.item({1: "Harbours", 6: "1859-11-00 1859"}, [(8, DARWIN), (8, SOCIETY)])
    library.attach(book, "storage:harbour.pdf", "application/pdf", harbour())
    beside = tmp_path / "beside.txt"
    beside.write_text("Anchoring is allowed in spring.\n", encoding="utf-8")
    known = {
        "title": "Harbours",
        "authors": [
            {"family": "Darwin", "given": "Charles"},
            {"family": "Royal Society", "given": ""},
        ],
        "date": "1859-11",
    }
    with running_server(library.folder, beside, cache=tmp_path / "cache") as (_, client):
        answer = client.post("/search", json={"question": "When is anchoring forbidden?"}).json()
        found = {Path(each["document"]).name: each["reference"] for each in answer["passages"]}
        assert found == {"harbour.pdf": known, "beside.txt": None}
        for each in answer["passages"]:
            details = client.get(f"/documents/{each['id']}").json()
            assert details["reference"] == each["reference"]


openai = pytest.importorskip("openai", reason="needs the serve tests' clients")


@pytest.fixture(scope="module")
def encoder() -> milepost.Encoder:
    return milepost.load("landmark-light")


@pytest.fixture
def sdk(server: Server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


TEXTS = ["Bees make wax. Ants follow trails.", "A ship.", "Ein Satz über Bienen 😀."]


@pytest.mark.parametrize("form", ["float", "base64", None])
def test_documents_are_those_of_the_encoder(sdk, encoder, form) -> None:
    more = {} if form is None else {"encoding_format": form}
    got = sdk.embeddings.create(model="landmark-light", input=TEXTS, **more)
    for number, (text, each) in enumerate(zip(TEXTS, got.data, strict=True)):
        vector = each.embedding
        if form == "base64":
            vector = np.frombuffer(base64.b64decode(vector), "<f4")
        assert each.index == number
        np.testing.assert_allclose(vector, encoder.encode(text).document, atol=1e-5)
    assert got.usage.prompt_tokens == sum(encoder.count_tokens(text) for text in TEXTS)
    assert got.usage.total_tokens == got.usage.prompt_tokens


def test_a_question_is_encoded_as_a_question(sdk, encoder) -> None:
    got = sdk.embeddings.create(
        model="landmark-light", input="How do bees make wax?", extra_body={"input_type": "query"}
    )
    vector = encoder.encode_query("How do bees make wax?")
    np.testing.assert_allclose(got.data[0].embedding, vector, atol=1e-5)


def test_landmarks_are_one_vector_for_each_sentence(client, encoder) -> None:
    body = {"input": TEXTS[0], "landmarks": True}
    data = client.post("/v1/embeddings", json=body).json()["data"][0]
    marks = encoder.encode(TEXTS[0])
    assert [(each["start"], each["end"]) for each in data["landmarks"]] == [
        tuple(span) for span in marks.spans.tolist()
    ]
    got = np.array([each["embedding"] for each in data["landmarks"]])
    np.testing.assert_allclose(got, marks.vectors, atol=1e-5)


def test_models(sdk) -> None:
    assert [each.id for each in sdk.models.list()] == ["landmark-light"]
    assert sdk.models.retrieve("landmark-light").id == "landmark-light"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"input": "x", "model": "gpt"}, 404, "'gpt' is not served here; try: 'landmark-light'"),
        ({"input": "x", "model": "landmark-minilm"}, 404, "milepost serve --model landmark-minilm"),
        ({"input": "x", "dimensions": 3}, 422, "dimensions"),
        ({"input": "?", "input_type": "query"}, 422, "neither letter nor digit"),
        ({"input": "a b", "input_type": "query", "landmarks": True}, 422, "landmarks"),
    ],
)
def test_what_cannot_be_encoded_is_refused(client, body, status, words) -> None:
    got = client.post("/v1/embeddings", json=body)
    assert got.status_code == status
    assert words in got.json()["error"]["message"]
