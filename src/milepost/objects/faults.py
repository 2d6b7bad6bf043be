"""Errors for users of failed requests: one line, nothing of the request or the answer.

obstore's own messages hold addresses with signatures and whatever the server has answered.
"""

from __future__ import annotations

import re

from milepost.errors import InputError, UnreadableFile

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,40})</Code>")
_PATH = re.compile(r'parsing Path "([^"]{1,200})"|Path "([^"]{1,200})" contained')

_KEYS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true if it is public",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true if it is public",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true "
    "if it is public",
}
_ENDPOINTS = {"s3": "AWS_ENDPOINT_URL", "gs": "the proxy", "az": "AZURE_STORAGE_ENDPOINT"}
_REJECTED = frozenset(
    """
    InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken InvalidToken AuthenticationFailed
    InvalidAuthenticationInfo RequestTimeTooSkewed
    """.split()  # noqa: SIM905 - one name a line would hide the list
)
"""Codes of servers that do not know who asks; others with the same status know and refuse."""
_NO_BUCKET = frozenset(("NoSuchBucket", "ContainerNotFound"))
_NO_CREDENTIALS = ("169.254.", "token request", "MissingAccount", "Account must be specified")


class Unreachable(InputError):
    """The storage cannot be asked at all: the next object would fail in the same way."""


def user_error(error: BaseException, address: str, *, listing: bool = False) -> InputError:
    """The error for users."""
    said = str(error)
    scheme, _, rest = address.partition("://")
    root = f"{scheme}://{rest.partition('/')[0]}"
    status = found[1] if (found := _STATUS.search(said)) else ""
    code = found[1] if (found := _CODE.search(said)) else ""
    kind = type(error).__name__
    if code in _NO_BUCKET or (listing and status == "404"):
        return Unreachable(f"{root} does not exist", "check the name of the bucket")
    if isinstance(error, FileNotFoundError):
        return UnreadableFile(f"{address} does not exist", "check the address")
    if any(sign in said for sign in _NO_CREDENTIALS):
        return Unreachable(f"there are no credentials for {root}", _KEYS[scheme])
    if status == "401" or kind == "UnauthenticatedError" or code in _REJECTED:
        reason = f" ({code})" if code else ""
        return Unreachable(f"the credentials for {root} are not accepted{reason}", _KEYS[scheme])
    if status == "403" or kind == "PermissionDeniedError":
        if listing:
            return Unreachable(f"no permission to list {address}", "ask for s3:ListBucket on it")
        return UnreadableFile(f"no permission to read {address}", "ask for it, or name a prefix")
    if "incorrectly configured region" in said or code == "AuthorizationHeaderMalformed":
        return Unreachable(f"{root} is in another region", "AWS_REGION=REGION")
    if kind == "InvalidPathError" or isinstance(error, ValueError):
        paths = _PATH.search(said)
        key = f": {paths[1] or paths[2]}" if paths else ""
        return UnreadableFile(
            f"{address} holds a key that cannot be requested{key}",
            "rename it (no empty part, no .., no control character), or name prefixes without it",
        )
    if "builder error" in said:
        return Unreachable(f"the endpoint of {root} is not https", "AWS_ALLOW_HTTP=true")
    if status.startswith("5") or status == "429":
        return Unreachable(f"{root} cannot answer (status {status})", "try again later")
    if "HTTP error" in said or "timed out" in said.lower():
        return Unreachable(
            f"{root} cannot be reached", f"check the network and {_ENDPOINTS[scheme]}"
        )
    reason = f"status {status}" if status else kind
    return UnreadableFile(f"{address} cannot be read ({reason})", "try again later")
