"""A real nginx with TLS in front of a server below ``/docs``."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
NAME = "docs.example.org"
"""The name in its certificate."""


@contextmanager
def nginx(behind: str) -> Iterator[str]:
    """Its address: ``/docs/`` with the prefix stripped, ``/left/`` with one put in its place."""
    if NGINX is None or shutil.which("openssl") is None:
        pytest.skip("needs nginx and openssl: apt install nginx openssl")
    folder = Path(mkdtemp(prefix="milepost-nginx-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-subj", f"/CN={NAME}", "-keyout", str(folder / "key"), "-out", str(folder / "crt")]
    subprocess.run(made, check=True, capture_output=True)
    header = "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; "
    header += "proxy_set_header X-Forwarded-Proto $scheme;"
    (folder / "conf").write_text(
        f"pid {folder}/pid; error_log {folder}/log; daemon off; events {{}}\n"
        f"http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;\n"
        f"fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f"server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/crt;\n"
        f"ssl_certificate_key {folder}/key; {header}\n"
        f"location /docs/ {{ proxy_pass {behind}/; }}\n"
        f"location = /docs {{ proxy_pass {behind}; }}\n"
        f"location /left/ {{ proxy_pass {behind}/docs/; }} }} }}\n"
    )
    process = subprocess.Popen([NGINX, "-c", str(folder / "conf"), "-e", str(folder / "log")])
    try:
        for _ in range(100):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"https://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
