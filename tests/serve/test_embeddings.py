"""``/v1`` as OpenAI's own client uses it."""

import base64

import numpy as np
import pytest

import milepost
from support.server import Server

openai = pytest.importorskip("openai", reason="needs the serve tests' clients")


@pytest.fixture(scope="module")
def encoder() -> milepost.Encoder:
    return milepost.load("landmark-light")


@pytest.fixture
def client(server: Server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


TEXTS = ["Bees make wax. Ants follow trails.", "A ship.", "Ein Satz über Bienen 😀."]


@pytest.mark.parametrize("form", ["float", "base64", None])
def test_documents_are_those_of_the_encoder(client, encoder, form) -> None:
    more = {} if form is None else {"encoding_format": form}
    got = client.embeddings.create(model="landmark-light", input=TEXTS, **more)
    for number, (text, each) in enumerate(zip(TEXTS, got.data, strict=True)):
        vector = each.embedding
        if form == "base64":
            vector = np.frombuffer(base64.b64decode(vector), "<f4")
        assert each.index == number
        np.testing.assert_allclose(vector, encoder.encode(text).document, atol=1e-5)
    assert got.usage.prompt_tokens == sum(encoder.count_tokens(text) for text in TEXTS)
    assert got.usage.total_tokens == got.usage.prompt_tokens


def test_a_question_is_encoded_as_a_question(client, encoder) -> None:
    got = client.embeddings.create(
        model="landmark-light", input="How do bees make wax?", extra_body={"input_type": "query"}
    )
    vector = encoder.encode_query("How do bees make wax?")
    np.testing.assert_allclose(got.data[0].embedding, vector, atol=1e-5)


def test_landmarks_are_one_vector_for_each_sentence(server, encoder) -> None:
    body = {"input": TEXTS[0], "landmarks": True}
    with server.client() as client:
        data = client.post("/v1/embeddings", json=body).json()["data"][0]
    marks = encoder.encode(TEXTS[0])
    assert [(each["start"], each["end"]) for each in data["landmarks"]] == [
        tuple(span) for span in marks.spans.tolist()
    ]
    got = np.array([each["embedding"] for each in data["landmarks"]])
    np.testing.assert_allclose(got, marks.vectors, atol=1e-5)


def test_models(client) -> None:
    assert [each.id for each in client.models.list()] == ["landmark-light"]
    assert client.models.retrieve("landmark-light").id == "landmark-light"


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
def test_what_cannot_be_encoded_is_refused(server, body, status, words) -> None:
    with server.client() as client:
        got = client.post("/v1/embeddings", json=body)
    assert got.status_code == status
    assert words in got.json()["error"]["message"]


def test_malformed_json_is_refused_without_repeating_it(server) -> None:
    with server.client() as client:
        got = client.post(
            "/v1/embeddings",
            content=b'{"input": "secret',
            headers={"content-type": "application/json"},
        )
    assert got.status_code == 422
    assert "secret" not in got.text
