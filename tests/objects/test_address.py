"""Addresses of objects."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.objects import ObjectAddress, is_address

PARTS = st.text(min_size=1, max_size=8).filter(lambda part: "/" not in part and part not in ".. .")


@given(
    st.sampled_from(("s3", "gs", "az")),
    st.from_regex(r"[a-z0-9][a-z0-9.-]{2,20}", fullmatch=True),
    st.lists(PARTS, max_size=4).map("/".join),
)
def test_what_is_written_is_read_again(scheme: str, bucket: str, key: str) -> None:
    address = ObjectAddress(scheme, bucket, key)
    assert is_address(str(address))
    assert ObjectAddress.parse(str(address)) == address
    assert ObjectAddress.parse(f"{address}/") == address


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("s3://reports", ("s3", "reports", "")),
        ("S3://reports/2026/", ("s3", "reports", "2026")),
        ("gs://my_bucket/a b/c%20d?e#f.txt", ("gs", "my_bucket", "a b/c%20d?e#f.txt")),
        ("az://$web/index.html", ("az", "$web", "index.html")),
    ],
)
def test_a_key_is_what_stands_behind_the_bucket(address: str, parts: tuple[str, ...]) -> None:
    found = ObjectAddress.parse(address)
    assert (found.scheme, found.bucket, found.key) == parts


@pytest.mark.parametrize(
    "address",
    ["s3://", "s3:///key", "gs://a", "s3://b ucket/x", "s3://bucket//x", "az://bucket/../x"],
)
def test_an_address_without_bucket_or_with_an_empty_part_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=address[:5]):
        ObjectAddress.parse(address)


def test_a_password_in_an_address_is_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        ObjectAddress.parse("s3://anna:s3cret@bucket/key")
    assert "s3cret" not in str(caught.value)


def test_a_path_object_has_lost_a_slash() -> None:
    """A path has one slash of two left, which is said rather than looked for on the disk."""
    with pytest.raises(InputError, match="as a string"):
        ObjectAddress.parse(Path("s3://bucket/key"))


def test_paths_are_no_addresses() -> None:
    assert not any(map(is_address, ["s3", "./s3:/x", "C:/x", "x/s3://y", "http://x/y", "as3://x"]))


def test_a_prefix_ends_at_a_slash() -> None:
    """2026 does not hold 2026-old."""
    prefix = ObjectAddress.parse("s3://reports/2026")
    assert prefix.holds("s3://reports/2026/a.txt")
    assert prefix.holds("s3://reports/2026")
    assert not prefix.holds("s3://reports/2026-old/a.txt")
    assert ObjectAddress.parse("s3://reports").holds("s3://reports/a.txt")
    assert not ObjectAddress.parse("s3://reports").holds("s3://reports2/a.txt")
