"""What the person who starts a server decides."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from milepost.errors import InputError
from milepost.reading_options import Ocr

if TYPE_CHECKING:
    from milepost.chat import Endpoint

_PATH = re.compile(r"(/[\w.~-]+)+", re.ASCII)
_NAME = re.compile(r"[\w.-]+|[0-9a-f:]+", re.ASCII)
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[\w.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?", re.ASCII)

LOOPBACK = ("localhost", "127.0.0.1", "::1")
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Settings of a server.

    Attributes:
        host: address to listen on; other machines can reach any but loopback.
        port: port to listen on; 0 for one that is free.
        api_key: what a request must bring as ``Authorization: Bearer KEY``; None for nothing.
        allowed_hosts: names, beside loopback and ``host``, by which the server may be called.
            Other names get status 421, so that no web page reaches it by DNS rebinding.
        allowed_origins: origins of web pages, beside the server's own, that may use it (CORS).
        trusted_proxies: addresses and networks whose ``X-Forwarded-For`` and ``-Proto`` count; of
            others they are ignored, since a client can send any.
        root_path: prefix of all addresses, such as ``/docs``; "" for none.
        max_upload: bytes of one uploaded file.
        rate: requests a second for each client, ten times as many at once; None for no limit.
        govern: hold indexing back while searches run.
        read_only: no document can be added or removed.
        language_model: writes answers from passages; None for no answers.
        ocr: whose text is recognised of what is added; as in ``milepost.read``. None: a document is
            read as it was before, and a new one without text recognition.
    """

    host: str = "127.0.0.1"
    port: int = 8077
    api_key: str | None = None
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    root_path: str = ""
    max_upload: int = 512 * MEBIBYTE
    rate: float | None = None
    search_threads: int = 2
    govern: bool = True
    read_only: bool = False
    language_model: Endpoint | None = None
    ocr: Ocr | None = None

    def __post_init__(self) -> None:
        # A key from a file or secret often ends in a newline, which no header can carry.
        object.__setattr__(self, "api_key", (self.api_key or "").strip("\ufeff \t\r\n") or None)
        object.__setattr__(self, "root_path", self.root_path.rstrip("/"))
        if self.root_path and not _PATH.fullmatch(self.root_path):
            raise InputError(f"{self.root_path!r:.80} is not a path", "--root-path /docs")
        for each in self.trusted_proxies:
            try:
                ipaddress.ip_network(each)
            except ValueError:
                raise InputError(
                    f"{each!r:.80} is not an address or network", "--trusted-proxy 127.0.0.1"
                ) from None
        # As browsers write them; another way of writing would never be found equal.
        origins = tuple(each.lower().rstrip("/") for each in self.allowed_origins)
        object.__setattr__(self, "allowed_origins", origins)
        for each in origins:
            if not _ORIGIN.fullmatch(each):
                raise InputError(f"{each!r:.80} is not an origin", "--cors https://app.example.org")
        hosts = tuple(each.lower().rstrip(".") for each in self.allowed_hosts)
        object.__setattr__(self, "allowed_hosts", hosts)
        for each in hosts:
            if not _NAME.fullmatch(each):
                raise InputError(
                    f"{each!r:.80} is not the name of a host", "--allowed-host docs.example.org"
                )
        if self.host not in LOOPBACK and not self.api_key:
            raise InputError(
                f"other machines can reach {self.host}, and there is no API key",
                "MILEPOST_API_KEY=… milepost serve",
            )
        if self.api_key is not None and not (
            len(self.api_key) >= 8 and self.api_key.isascii() and self.api_key.isprintable()
        ):
            raise InputError(
                "the API key is too short, or has other characters",
                "8 or more ASCII characters on one line",
            )
        if min(self.max_upload, self.search_threads) < 1:
            raise InputError("a limit of the server is below 1", "1 or more")
        if self.rate is not None and self.rate <= 0:
            raise InputError(f"a rate of {self.rate} lets nobody in", "more than 0, or none")
