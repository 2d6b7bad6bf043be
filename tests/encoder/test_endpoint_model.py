"""A model behind an embedding endpoint: found by its address, in the index and at the command line.

The endpoint is a real server on this machine; its vectors are those of the light model.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import milepost
from milepost.cli.program import program
from milepost.encoder import Encoder
from milepost.encoder.engine.endpoint import FILE
from milepost.encoder.engine.folder import endpoint_folders, find_model
from milepost.errors import BadQuestion, ModelError, WrongModel
from support.chat_server import Chat, serving

TEXT = (
    "Bees build cells of wax. The queen lays the eggs, and the workers feed the young.\n\n"
    "Gold melts at 1064 degrees. It is heavier than lead.\n\n"
    "A ship needs deep water. Tugs pull large ships to the quay.\n"
)
QUESTION = "Who lays the eggs?"


@pytest.fixture(scope="module")
def light() -> Encoder:
    return milepost.load("landmark-light")


@pytest.fixture
def there(light: Encoder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Chat]:
    """The endpoint, and an empty cache."""
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-this-one")
    monkeypatch.setenv("MILEPOST_EMBEDDING_KEY", "sk-very-secret")

    def reply(_: int, body: dict[str, Any]) -> Any:
        if body["model"] != "tiny":
            return 404
        vectors = [3.0 * each.document for each in light.encode_texts(body["input"])]
        data = [{"index": n, "embedding": row.tolist()} for n, row in enumerate(vectors)]
        return json.dumps({"data": data}).encode()

    with serving(reply) as running:
        yield running


def test_sentences_and_questions_are_sent(there: Chat, light: Encoder) -> None:
    model = milepost.load(f"{there.url}#tiny")
    found = model.encode(TEXT + " \n")
    sentences = [TEXT[start:end].strip() for start, end in found.spans.tolist()]
    assert sentences[:2] == [
        "Bees build cells of wax.",
        "The queen lays the eggs, and the workers feed the young.",
    ]
    sent = [text for body in there.requests[1:] for text in body["input"]]
    assert sent == [sentence for sentence in sentences if sentence]
    expected = np.stack([light.encode(sentence).document for sentence in sentences])
    assert np.allclose(found.vectors, expected, atol=1e-5)
    assert found.tokens_given == found.tokens_read > 0
    assert set(found.vocab_coverage.tolist()) == {1.0}
    query = model.encode_query(f" {QUESTION} ")
    assert there.requests[-1]["input"] == [QUESTION]
    assert query == pytest.approx(light.encode(QUESTION).document, abs=1e-5)
    assert {headers["Authorization"] for headers in there.headers} == {"Bearer sk-very-secret"}
    assert model.count_tokens("two words") == 2
    assert model.vocab_coverage("養蜂") == 1.0
    with pytest.raises(BadQuestion):
        model.encode_query("?!")
    with pytest.raises(ModelError, match="a model folder"):
        model.token_states("Bees.")
    with pytest.raises(ModelError, match="a model folder"):
        model.encode_windows([])


def test_prefixes_stand_in_front(there: Chat) -> None:
    name = f"{there.url}#tiny&query=search_query:%20&document=search_document:%20"
    model = milepost.load(name)
    model.encode("Bees build.")
    model.encode_query("Who builds?")
    assert [body["input"] for body in there.requests[1:]] == [
        ["search_document: Bees build."],
        ["search_query: Who builds?"],
    ]
    assert model.fingerprint != milepost.load(f"{there.url}#tiny").fingerprint


def test_an_index_of_such_vectors(there: Chat, tmp_path: Path) -> None:
    name, place = f"{there.url}#tiny", tmp_path / "db"
    with milepost.open(place, model=name) as index:
        index.add(milepost.Document("notes", TEXT))
        (best,) = index.search(QUESTION, k=1)
        assert "The queen lays the eggs" in best.text
    asked = len(there.requests)
    with milepost.open(place, model=name) as index:
        assert index.search(QUESTION, k=1) == [best]
    assert len(there.requests) == asked + 1
    with pytest.raises(WrongModel):
        milepost.open(place)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(b"sk-very-secret" not in path.read_bytes() for path in kept)


def test_at_the_command_line(there: Chat, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")

    def run(*args: str) -> Any:
        return CliRunner().invoke(program, list(args))

    asked = ("search", QUESTION, str(tmp_path / "notes.txt"), "-k", "1", "--json", "--model")
    found = run(*asked, f"{there.url}#tiny")
    assert found.exit_code == 0, found.output
    assert "lays the eggs" in found.stdout
    assert f"endpoint {there.url}" in run("info", "--model", f"{there.url}#tiny").stdout
    for name, words in (
        (there.url, "the name of an embedding model"),
        (f"{there.url}#tiny&dimensions=3", "unknown option 'dimensions'"),
        (f"{there.url}#other", "status 404 it is"),
        ("http://u:pw@127.0.0.1:1/v1#tiny", "holds a name or password"),
    ):
        failed = run(*asked, name)
        assert failed.exit_code == 2
        assert words in failed.output
        assert failed.output.count("\n") == 1
        assert "pw@" not in failed.output
        assert "secret" not in failed.output


def test_only_the_users_own_cache_names_endpoints(there: Chat, tmp_path: Path) -> None:
    """A model folder that came from somewhere else sends nothing anywhere."""
    folder = find_model(f"{there.url}#tiny").path
    assert folder.parent == endpoint_folders()
    copy = tmp_path / "model"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    asked = len(there.requests)
    assert (copy / FILE).is_file()
    with pytest.raises(ModelError):
        milepost.load(copy)
    assert len(there.requests) == asked


def test_another_width_than_before_is_an_error(there: Chat) -> None:
    model = milepost.load(f"{there.url}#tiny")
    manifest = model.folder / "milepost.json"
    changed = manifest.read_text(encoding="utf-8").replace('"dimensions": 256', '"dimensions": 128')
    manifest.write_text(changed, encoding="utf-8")
    with pytest.raises(ModelError, match="gives 256 numbers, and gave 128 before"):
        milepost.load(f"{there.url}#tiny").encode("Bees build.")
