"""List the objects of a bucket and download them, by obstore."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from milepost._optional import require
from milepost.errors import InputError, UnreadableFile
from milepost.objects.address import ObjectAddress
from milepost.objects.faults import user_error

MAX_BYTES = 1 << 30  # of one object: as much as a zip file may unpack to

_CHUNK = 1 << 20
_CONNECT, _STALLED, _WHOLE = "5s", "30s", "1h"
"""Time to connect, between two pieces of an answer, and for the whole answer."""

_NO_KEY = ".milepost/no-object-has-this-key"
_RETRIES, _RETRY_SECONDS = 4, 60
_ALLOW_HTTP = {"s3": "AWS_ALLOW_HTTP", "gs": "GOOGLE_ALLOW_HTTP", "az": "AZURE_ALLOW_HTTP"}


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """An object as a listing describes it; ``str`` is its address.

    Its version is its ETag, which every change of its bytes changes; the time of its last change
    where the storage gives none. ``beside`` is the object of its properties, if it has one.
    """

    address: ObjectAddress
    size: int
    version: str
    beside: ObjectFile | None = None

    def __str__(self) -> str:
        return str(self.address)

    @property
    def signature(self) -> tuple[int, int]:
        """Size, and a hash of the version in 63 bits; those of ``beside`` are part of it."""
        both = [self] if self.beside is None else [self, self.beside]
        digest = hashlib.sha256("\0".join(each.version for each in both).encode()).digest()
        return sum(each.size for each in both), int.from_bytes(digest[:8], "big") >> 1


class Bucket:
    """A bucket of the storage that the environment variables name."""

    def __init__(self, root: ObjectAddress) -> None:
        store = require("obstore.store", extra="objects")
        self._root = root
        allow = os.environ.get(_ALLOW_HTTP[root.scheme], "").strip().lower()
        try:
            self._store: Any = store.from_url(
                root.root,
                client_options={
                    "connect_timeout": _CONNECT,
                    "read_timeout": _STALLED,
                    "timeout": _WHOLE,
                    "allow_http": allow in ("1", "true", "yes", "on"),
                },
                retry_config={
                    "max_retries": _RETRIES,
                    "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
                },
            )
        except Exception as error:  # obstore's errors have Exception alone in common
            raise user_error(error, root.root, listing=True) from None

    def files(self, address: ObjectAddress) -> list[ObjectFile]:
        """All objects below an address, or the one that it names, in the order of their keys.

        What only marks a folder (no bytes, a key without suffix) is left out, and nothing of a part
        of a listing returned.
        """
        try:
            # The slash is added by obstore: reports/2026 is not a prefix of reports/2026-old.
            pages = self._store.list(prefix=address.key or None, chunk_size=1000)
            found = [self._file(meta) for page in pages for meta in page]
            if not found:
                # A proxy may answer with a page of its own, which reads as an empty listing, and
                # documents would be removed; only a true server says that a key is missing, or
                # gives the ETag of an object.
                met = self._store.head(address.key or _NO_KEY)
                found = [self._file(met)] if address.key and met["e_tag"] else []
        except Exception as error:
            if _is_missing(error, address):
                return []
            raise user_error(error, str(address), listing=True) from None
        if not found:
            raise UnreadableFile(f"{address} gives no listing", "check the endpoint and the proxy")
        return [
            file
            for file in sorted(found, key=lambda file: file.address.key)
            if file.size or "." in file.address.key.rpartition("/")[2].lstrip(".")
        ]

    def file(self, address: ObjectAddress) -> ObjectFile | None:
        """The object at an address, or None."""
        try:
            return self._file(self._store.head(address.key))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise user_error(error, str(address)) from None

    def reachable(self, address: ObjectAddress) -> bool:
        """Whether the bucket can be listed and holds something at an address."""
        try:
            if any(page for page in self._store.list(prefix=address.key or None, chunk_size=1)):
                return True
            return bool(address.key and self._store.head(address.key))
        except Exception as error:
            if _is_missing(error, address):
                return False
            raise user_error(error, str(address), listing=True) from None

    def read(
        self,
        address: ObjectAddress,
        stopped: Callable[[], bool] = lambda: False,
        most: int = MAX_BYTES,
    ) -> bytes:
        """The bytes of an object of at ``most`` so many.

        Between two pieces ``stopped`` says whether they are still wanted. What is ``Unreachable``
        would fail for all of a bucket.
        """
        held = bytearray()
        try:
            answer = self._store.get(address.key)
            size = int(answer.meta["size"])
            for piece in answer.stream(min_chunk_size=_CHUNK) if size <= most else ():
                held += piece
                if stopped():
                    break
        except Exception as error:
            raise user_error(error, str(address)) from None
        if size > most:
            raise UnreadableFile(
                f"{address} has {size:,} bytes; at most {most:,} are read", "split it"
            )
        if len(held) != size:
            raise InputError(f"{address} was not read to its end", "try again")
        return bytes(held)

    def _file(self, meta: Mapping[str, Any]) -> ObjectFile:
        root = self._root
        return ObjectFile(
            ObjectAddress(root.scheme, root.bucket, meta["path"]),
            int(meta["size"]),
            str(meta.get("e_tag") or meta["last_modified"]),
        )


def _is_missing(error: Exception, address: ObjectAddress) -> bool:
    """Whether the server says that nothing is at an address, and not that there is no bucket."""
    said = user_error(error, str(address)).problem
    return isinstance(error, FileNotFoundError) and said == f"{address} does not exist"


def bucket(address: ObjectAddress) -> Bucket:
    """The bucket of an address; connections are shared as long as the settings stay."""
    names = ("AWS_", "GOOGLE_", "AZURE_")
    settings = sorted(pair for pair in os.environ.items() if pair[0].startswith(names))
    key = hashlib.sha256(repr(settings).encode("utf-8", "surrogatepass")).hexdigest()
    return _opened(ObjectAddress(address.scheme, address.bucket), key)


@lru_cache(maxsize=16)
def _opened(root: ObjectAddress, _settings: str) -> Bucket:
    return Bucket(root)


def download(address: ObjectAddress) -> bytes:
    """The bytes of the object at an address."""
    if not address.key:
        raise UnreadableFile(f"{address} is a bucket", "an object in it")
    return bucket(address).read(address)
