"""The address of an index in Lance tables: a folder or a bucket, and what may be said of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from milepost.store.address import TABLES, label


@dataclass(frozen=True, slots=True)
class Address:
    """Where an index is: for LanceDB a path, or ``s3://BUCKET/PATH``, and options of its storage.

    They hold no credentials, which are the environment's. ``label`` is for messages.
    """

    uri: str
    folder: Path | None
    options: dict[str, str]
    label: str


def parse(address: str, patience_s: float = 5.0) -> Address:
    """Read an address as ``store.address.index_place`` returns it.

    A request that fails is tried again for ``patience_s``.
    """
    if address.startswith(f"{TABLES}://"):
        folder = Path(address.removeprefix(f"{TABLES}://"))
        return Address(str(folder), folder, {}, label(address))
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query))
    options = {
        "connect_timeout": f"{max(2, round(patience_s))}s",
        "timeout": "60s",
        "client_max_retries": "3",
        "client_retry_timeout": str(max(2, round(patience_s))),
    }
    # By their full names: variables such as AWS_ENDPOINT_URL replace options with short ones.
    options |= {f"aws_{key}": value for key, value in given.items()}
    if given.get("endpoint", "").startswith("http://"):
        options["allow_http"] = "true"
    uri = f"s3://{parts.netloc}{parts.path}".rstrip("/")
    return Address(uri, None, options, label(address))
