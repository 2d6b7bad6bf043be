"""What LanceDB or the storage reports, in words for users; nothing secret is repeated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from milepost.errors import IndexBusy, IndexDamaged, StorageFull, StoreError
from milepost.store.check import REBUILD
from milepost.store.lance.address import Address

_AGAIN = "the same command again"
_KEYS = "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN in the environment"


_process = 0  # the first one to use LanceDB


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn errors of LanceDB, which are told apart by their text alone, into Milepost's.

    LanceDB's threads stay behind in a fork; the child is refused before it hangs or crashes.
    """
    global _process
    _process = _process or os.getpid()
    if _process != os.getpid():
        raise StoreError(
            f"{address.label}: LanceDB does not work in a process that was forked after its use",
            "multiprocessing.get_context('spawn')",
        )
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        # "from None": the text may hold a request with its signature.
        raise _translate(str(error).lower(), address) from None


def _translate(text: str, address: Address) -> StoreError:
    def says(*signs: str) -> bool:
        return any(sign in text for sign in signs)

    where = address.label
    if says("no space left", "disk quota", "storagefull", "quotaexceeded", "file too large"):
        return StorageFull(f"{where}: no space is left", "free some space")
    if says("commit conflict", "conflicted with concurrent", "retryable commit", "too many concur"):
        return IndexBusy(f"{where}: another process is writing", _AGAIN)
    if says("nosuchbucket"):
        return StoreError(f"{where}: there is no such bucket", "aws s3 mb s3://BUCKET")
    if says(
        "failed to get aws credentials", "invalidaccesskeyid", "signaturedoesnotmatch",
        "expiredtoken", "invalidtoken",
        "status: 401", "169.254.169.254", "missing credential", "tokenrefresh",
        "authorizationheadermalformed", "credential provider",
    ):  # fmt: skip
        return StoreError(f"{where}: no credentials, or wrong ones", _KEYS)
    if says("accessdenied", "status: 403", "permissiondenied", "permission denied", "read-only"):
        return StoreError(f"{where}: permission is denied", "its permissions, or other credentials")
    if says("connection refused", "kind: connect", "connecterror"):
        return StoreError(f"{where}: the storage does not answer", "?endpoint=URL, or later")
    if says("dns error", "failed to lookup", "name or service"):
        return StoreError(f"{where}: there is no such host", "?endpoint=URL")
    if says("timed out", "timeout", "kind: request", "http error", "status: 5"):
        return StoreError(f"{where}: the storage did not answer in time", _AGAIN)
    if says("not found", "no such file", "corrupt", "magic", "invalid", "decod", "parse", "eof",
            "unexpected", "out of range", "schema error", "schema mismatch", "sufficient data",
            "too small"):  # fmt: skip
        return IndexDamaged(f"{where}: a file of the index is missing or damaged", REBUILD)
    return StoreError(f"{where}: the storage reported an error", _AGAIN)
