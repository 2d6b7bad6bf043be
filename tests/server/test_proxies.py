"""Behind proxies: a prefix, TLS, forwarded headers; probes with HEAD; other pages."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from milepost.errors import InputError
from milepost.server.settings import ServeSettings
from support.nginx import NAME, nginx
from support.server import Server, running_server


@pytest.fixture(scope="module")
def behind(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server below /docs that trusts the proxies of this machine."""
    with running_server(
        *(texts, "--root-path", "/docs/", "--allowed-host", NAME, "--rate", "50"),
        *("--trusted-proxy", "127.0.0.1", "--cors", "https://app.example.org"),
        cache=tmp_path_factory.mktemp("cache"),
    ) as (running, _):
        yield running


@pytest.fixture(scope="module")
def proxy(behind: Server) -> Iterator[str]:
    """An nginx in front of it."""
    with nginx(behind.url) as address:
        yield address


@pytest.mark.parametrize("prefix", ["docs", "left"])
def test_nginx_with_tls_and_a_prefix(proxy: str, prefix: str) -> None:
    port = urlsplit(proxy).port
    host = {"host": f"{NAME}:{port}"}
    with httpx2.Client(base_url=proxy, verify=False, headers=host, timeout=60) as client:
        page = client.get(f"/{prefix}/")
        assert page.status_code == 200
        assert 'src="page/main.js"' in page.text
        assert client.get(f"/{prefix}/page/main.js").status_code == 200
        own = {"origin": f"https://{NAME}:{port}"}
        got = client.post(f"/{prefix}/search", json={"question": "Who makes wax?"}, headers=own)
        assert got.status_code == 200, got.text
        assert client.get(f"/{prefix}/documents").json()["documents"]
        bare = client.get(f"/{prefix}/openapi.json").json()
        assert bare["servers"] == [{"url": "/docs"}]


def test_the_prefix_without_a_slash_leads_to_the_page(behind: Server) -> None:
    """The page refers to its files relative to its own address."""
    with behind.client() as client:
        got = client.get("/docs", follow_redirects=False)
        assert (got.status_code, got.headers["location"]) == (307, "/docs/")
        assert client.get("/docs/health").status_code == 200
        assert client.get("/health").status_code == 200


def test_a_slash_at_the_end_needs_no_redirect(behind: Server) -> None:
    """It would name http:// where a proxy speaks TLS; clients of MCP ask for ``/mcp/``."""
    with behind.client() as client:
        for prefix in ("", "/docs"):
            got = client.get(f"{prefix}/documents/", follow_redirects=False)
            assert got.status_code == 200
            bad = client.post(f"{prefix}/mcp/", json={}, follow_redirects=False)
            assert bad.status_code in (400, 406)


def test_forwarded_headers_count_from_trusted_proxies_only(
    behind: Server, texts: Path, tmp_path: Path
) -> None:
    """Else a client would pass its rate with an address that it makes up."""

    def refused(running: Server) -> int:
        with running.client() as client:
            addresses = ({"x-forwarded-for": f"10.0.0.{n}"} for n in range(60))
            return sum(client.get("/health", headers=h).status_code == 429 for h in addresses)

    with Server(str(texts), "--rate", "1", cache=tmp_path / "c") as plain:
        assert refused(plain) > 30
    assert refused(behind) == 0


def test_a_tls_proxy_that_says_nothing(behind: Server) -> None:
    """The page's own requests come from https:// there; for other names that is another site."""
    with behind.client() as client:
        ours = {"host": NAME, "origin": f"https://{NAME}"}
        assert client.get("/documents", headers=ours).status_code == 200
        port = urlsplit(behind.url).port
        other = {"host": f"localhost:{port}", "origin": f"https://localhost:{port}"}
        assert client.get("/documents", headers=other).status_code == 403
        spoofed = {"host": NAME, "origin": "https://evil.example"}
        assert client.get("/documents", headers=spoofed).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        "content-type,mcp-protocol-version,mcp-session-id,last-event-id",
        "authorization,content-type,x-stainless-lang,x-stainless-retry-count,openai-organization",
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/mcp"), ("DELETE", "/mcp"), ("POST", "/v1/embeddings"), ("HEAD", "/documents")],
)
def test_preflights_of_clients_of_other_pages(
    behind: Server, headers: str, method: str, path: str
) -> None:
    """Clients of MCP and of OpenAI send headers of their own."""
    with behind.client() as client:
        asked = {
            "origin": "https://app.example.org",
            "access-control-request-method": method,
            "access-control-request-headers": headers,
        }
        got = client.options(path, headers=asked)
        assert got.status_code == 200
        allowed = got.headers["access-control-allow-headers"].lower()
        assert all(each in allowed for each in headers.split(","))
        refusal = client.options(path, headers={**asked, "origin": "https://evil.example"})
        assert refusal.status_code in (400, 403)


@pytest.mark.parametrize("path", ["/", "/health", "/ready", "/documents", "/metrics", "/v1/models"])
def test_head_is_get_without_the_body(client: httpx2.Client, path: str) -> None:
    got = client.head(path)
    assert got.status_code == 200
    assert got.content == b""
    assert got.headers["content-type"] == client.get(path).headers["content-type"]
    assert client.head("/nothing").status_code == 404


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/health", "GET, HEAD, OPTIONS"),
        ("/documents", "GET, POST, HEAD, OPTIONS"),
        ("/documents/x", "GET, DELETE, HEAD, OPTIONS"),
        ("/search", "POST, OPTIONS"),
    ],
)
def test_an_address_says_its_methods(client: httpx2.Client, path: str, methods: str) -> None:
    for method, status in (("OPTIONS", 204), ("PUT", 405), ("FOO", 405)):
        got = client.request(method, path)
        assert (got.status_code, got.headers["allow"]) == (status, methods)


def test_settings_that_cannot_be_used_are_refused() -> None:
    assert ServeSettings(api_key="longenough-key\n").api_key == "longenough-key"
    assert ServeSettings(api_key="\ufefflongenough-key\r\n").api_key == "longenough-key"
    assert ServeSettings(root_path="/a/b/").root_path == "/a/b"
    written = ServeSettings(
        allowed_origins=("https://App.example/",), allowed_hosts=("A.Example.",)
    )
    assert written.allowed_origins == ("https://app.example",)
    assert written.allowed_hosts == ("a.example",)
    for wrong in (
        {"api_key": "long\nenough-key"},
        {"api_key": "short\n\n\n\n\n\n"},
        {"root_path": "docs"},
        {"root_path": "/a b"},
        {"trusted_proxies": ("proxy.example",)},
        {"allowed_origins": ("*",)},
        {"allowed_origins": ("app.example.org",)},
        {"allowed_origins": ("https://app.example.org/page",)},
        {"allowed_hosts": ("https://docs.example.org",)},
        {"allowed_hosts": ("docs.example.org:443",)},
        {"host": "0.0.0.0", "api_key": "\n"},
    ):
        with pytest.raises(InputError) as error:
            ServeSettings(**wrong)
        assert "\n" not in str(error.value)
