"""What users are told when storage cannot be asked: by servers that answer so."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import milepost
from milepost.errors import InputError
from milepost.objects import ObjectAddress, ObjectFile, bucket, downloads, faults
from milepost.testing import fake_encoder
from support.http_server import Handler, listening
from support.s3 import KEYS

pytest.importorskip("obstore", reason="needs the extra objects")

ADDRESS = ObjectAddress("s3", "reports", "2026")


@contextmanager
def answering(status: int, body: str = "") -> Iterator[tuple[str, list[str]]]:
    """A server that gives one answer to all; its address, and the paths it was asked for."""
    asked: list[str] = []

    class Answering(Handler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.answer(status, body.encode())

        do_HEAD = do_GET

    with listening(Answering) as url:
        yield url, asked


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, few retries, and nothing of the user's own environment."""
    for name in ("AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN", "AZURE_STORAGE_ACCOUNT_NAME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**KEYS, "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("milepost.objects.buckets._RETRIES", 1)


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (404, "NoSuchBucket", "s3://reports does not exist; try: check the name"),
        (403, "AccessDenied", "no permission to list s3://reports/2026"),
        (403, "SignatureDoesNotMatch", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        (400, "ExpiredToken", r"not accepted \(ExpiredToken\)"),
        (401, "", "credentials for s3://reports are not accepted"),
        (400, "AuthorizationHeaderMalformed", "another region; try: AWS_REGION=REGION"),
        (503, "SlowDown", r"s3://reports cannot answer \(status 503\); try: try again later"),
        (418, "Teapot", r"cannot be read \(status 418\)"),
    ],
)
def test_each_answer_has_its_line(monkeypatch, status: int, code: str, said: str) -> None:
    body = f"<Error><Code>{code}</Code><Message>secret words</Message></Error>"
    with answering(status, body) as (endpoint, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(InputError, match=said) as caught:
            bucket(ADDRESS).files(ADDRESS)
    line = str(caught.value)
    assert "\n" not in line
    assert not any(secret in line for secret in (*KEYS.values(), "secret words", endpoint))


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        *((200, body, "") for body in ("<html><body>Welcome</body></html>", "Welcome", "")),
        (503, "", "status 503"),
    ],
)
def test_a_failed_listing_removes_nothing(monkeypatch, status: int, body: str, said: str) -> None:
    """XML of another kind, as a proxy's page is, reads as a listing of nothing."""
    with answering(status, body) as (endpoint, _), milepost.open(model=fake_encoder()) as index:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        name = "s3://reports/2026/bees.txt"
        index.add(milepost.Document(name, "Bees build cells.", source=name))
        for address in ("s3://reports", "s3://reports/2026"):
            report = index.add(address)
            assert (report.removed, list(report.failed)) == ((), [address])
            assert said in report.failed[address]
        assert [info.name for info in index.documents()] == [name]


def test_no_permission_to_read_one_object(monkeypatch) -> None:
    """The others may be readable, so this does not count as storage that cannot be reached."""
    with answering(403, "<Error><Code>AccessDenied</Code></Error>") as (endpoint, _):
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        with pytest.raises(InputError, match="no permission to read s3://reports/2026") as caught:
            bucket(ADDRESS).read(ADDRESS)
    assert not isinstance(caught.value, faults.Unreachable)


def test_an_endpoint_without_tls_is_refused_unless_allowed(monkeypatch) -> None:
    with answering(200) as (endpoint, asked):
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "false")
        with pytest.raises(InputError, match="not https; try: AWS_ALLOW_HTTP=true"):
            bucket(ADDRESS).files(ADDRESS)
    assert asked == []


def test_a_server_that_is_not_there_is_given_up(monkeypatch) -> None:
    with answering(200) as (endpoint, _):
        pass  # nobody listens there any more
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    files = [
        ObjectFile(ObjectAddress("s3", "reports", f"{number}.txt"), 1, "") for number in range(9)
    ]
    said = []
    with downloads.Downloads(files) as reading:
        for file in files:
            with pytest.raises(faults.Unreachable) as caught:
                reading.read(file)
            said.append(str(caught.value))
    assert all("s3://reports cannot be reached" in line for line in said[:3])
    assert all("was not tried" in line for line in said[3:])


def test_what_the_environment_lacks_is_named() -> None:
    said = "no credentials for az://container; try: AZURE_STORAGE_ACCOUNT_NAME"
    with pytest.raises(InputError, match=said):
        bucket(ObjectAddress.parse("az://container/x"))
