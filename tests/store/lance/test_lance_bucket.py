"""Indexes in a bucket, over HTTP: the same answers, requests counted, two writers, bad places.

moto takes any credentials, so wrong ones are shown by a server that answers as S3 does.
"""

import time
from collections.abc import Iterator
from socket import socket
from urllib.parse import quote

import pytest

pytest.importorskip("lancedb", reason="needs the extra lance")

from milepost.errors import NotAnIndex, StoreError, WrongModel
from milepost.store import Statistics, erase_store, open_store
from support.http_server import Handler, listening
from support.s3 import KEYS, S3
from support.store_checks import are_the_three_documents, put_numbered, written_by_two
from support.store_entries import FINGERPRINT, WIDTH, Child, holds, numbered, opened, rows
from support.store_reads import reads, touch


def in_bucket(bucket: str, endpoint: str) -> str:
    return f"lance+s3://{bucket}/index?endpoint={quote(endpoint, '')}&region=us-east-1"


@pytest.fixture
def address(s3: S3) -> str:
    return in_bucket(s3.bucket, s3.endpoint)


def test_everything_comes_back(address: str) -> None:
    store = opened(address)
    put_numbered(store, range(4))
    assert touch(store, "document 2", (9, 9), options="hidden=keep")
    assert store.delete("document 1")
    assert not store.delete("document 1")
    assert reads(store).statistics() == Statistics(2, 60, 180, dead=60)
    store.vacuum()
    store.close()
    store = opened(address, create=False)
    assert reads(store).statistics() == Statistics(2, 60, 180)
    holds(store, numbered(3))
    info = reads(store).info("document 2")
    assert (info.signature, info.options) == ((9, 9), "hidden=keep")


def search(store: object) -> None:
    """The calls of one question, as a search makes them."""
    with store.snapshot() as state:
        query = rows(1, 5)[0]
        documents, complete = state.select_candidates(query, ["word1"], most=10_000, candidates=5)
        assert complete
        state.score_inputs(query, ["word1", "sentence3"], documents)
        state.texts([(documents[0], 0, 10)])
        state.excerpts([(documents[0], 0, 10), (documents[1], 0, 5)])


def test_requests_are_few(s3: S3, address: str) -> None:
    made = opened(address)
    put_numbered(made, range(3))
    s3.requests()
    store = opened(address, read_only=True)
    assert 0 < s3.requests() <= 12
    search(store)
    assert 0 < s3.requests() <= 60
    search(store)
    assert s3.requests() <= 25
    made.put(numbered(3))
    s3.requests()
    search(store)
    assert 0 < s3.requests() <= 60
    writer = opened(address)
    writer.put(numbered(4))
    s3.requests()
    writer.put(numbered(5))
    assert 0 < s3.requests() <= 40


def test_two_writers_lose_and_double_nothing(address: str, child: Child) -> None:
    store = written_by_two(address, child, theirs=4, ours=range(10, 13))
    assert reads(store).statistics().dead == 3 * 30
    are_the_three_documents(store)


def test_another_place_or_model_is_refused(address: str) -> None:
    with pytest.raises(NotAnIndex, match="holds no index"):
        opened(address, create=False)
    with pytest.raises(NotAnIndex, match="holds no index"):
        erase_store(address)
    opened(address).close()
    with pytest.raises(WrongModel, match="another model"):
        open_store(address, fingerprint="other", dimensions=WIDTH)
    erase_store(address)
    with pytest.raises(NotAnIndex):
        open_store(address, fingerprint=FINGERPRINT, dimensions=WIDTH, create=False)


def one_line_without_secrets(error: BaseException) -> None:
    message = str(error)
    assert "\n" not in message
    assert not any(secret in message for secret in KEYS.values())
    assert error.__cause__ is None


@pytest.mark.parametrize("create", [True, False])
def test_a_bucket_that_is_not_there_is_named(s3: S3, create: bool) -> None:
    with pytest.raises(StoreError, match="there is no such bucket") as error:
        opened(in_bucket("no-such-bucket", s3.endpoint), create=create)
    one_line_without_secrets(error.value)


def test_a_storage_that_does_not_answer_is_one_line(s3: S3) -> None:
    begun = time.monotonic()
    with socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody listens, and no other server gets the port
        address = in_bucket("bucket", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(StoreError, match="the storage does not answer") as error:
            opened(address, patience_s=1.0)
    one_line_without_secrets(error.value)
    assert time.monotonic() - begun < 20


def test_no_credentials_are_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # no service of the network is asked
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    with pytest.raises(StoreError, match="no credentials, or wrong ones") as error:
        opened(address, patience_s=1.0)
    one_line_without_secrets(error.value)


@pytest.fixture(params=["InvalidAccessKeyId", "AccessDenied"])
def refusing(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A server that refuses every request as S3 does, with the key that was sent."""

    class Refusing(Handler):
        def refuse(self) -> None:
            key = KEYS["AWS_ACCESS_KEY_ID"]
            body = (
                f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{request.param}</Code>'
                f"<Message>no</Message><AWSAccessKeyId>{key}</AWSAccessKeyId></Error>"
            ).encode()
            self.answer(403, body)

        do_GET = do_PUT = do_POST = do_HEAD = refuse

    with listening(Refusing) as url:
        yield url, request.param


def test_wrong_credentials_are_one_line(
    refusing: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    url, code = refusing
    words = "permission is denied" if code == "AccessDenied" else "no credentials, or wrong ones"
    with pytest.raises(StoreError, match=words) as error:
        opened(in_bucket("bucket", url), patience_s=1.0)
    one_line_without_secrets(error.value)
