"""The OpenAPI document: generated requests find no server error."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.cli_process import environment
from support.server import Server

pytest.importorskip("schemathesis", reason="needs the test extra")

TABLES = {"HYPOTHESIS_STORAGE_DIRECTORY": str(Path(__file__).resolve().parents[2] / ".hypothesis")}
"""Where the other tests keep theirs; a new table of Unicode takes six seconds."""


def test_generated_requests_find_no_server_error(texts: Path, tmp_path: Path) -> None:
    with Server(str(texts), cache=tmp_path / "cache") as running:
        with running.client() as client:
            running.indexed(client)
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{running.url}/openapi.json"),
                *("--checks", "not_a_server_error", "--max-examples", "4", "--seed", "1"),
                *("--mode", "all", "--phases", "coverage,fuzzing", "--no-color"),
                *("--request-timeout", "60"),
            ],
            capture_output=True,
            encoding="utf-8",
            env={**environment(), "PYTHONIOENCODING": "utf-8", **TABLES},
            cwd=tmp_path,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
        with running.client() as client:
            assert client.get("/ready").status_code == 200
            assert client.post("/search", json={"question": "Who makes wax?"}).json()["passages"]
        assert "Traceback" not in running.said()
