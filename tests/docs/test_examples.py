"""The scripts of ``examples/`` run as they are given to users, where their store is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.engine import shipped_models
from support.postgres import server

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*_chunks.py"))
if not EXAMPLES:
    pytest.skip("needs the checkout", allow_module_level=True)

TEXT = (
    "# Harbours\n\nA ship needs deep water, and tugs pull large ships to the quay. "
    + "The harbour master keeps a book of every vessel that comes in. " * 12
    + "\n\n# Gold\n\nGold melts at 1064 degrees Celsius. It is heavier than lead. "
    + "The price of gold is fixed twice a day in London by telephone. " * 12
)


def run(script: Path, folder: Path, *more: str) -> str:
    """Run a script in an empty folder and give what it prints."""
    (folder / "notes.md").write_text(TEXT, encoding="utf-8")
    question = "At what temperature does gold melt?"
    done = subprocess.run(
        [sys.executable, str(script), "notes.md", question, *more],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_stores_and_finds(script: Path, tmp_path: Path) -> None:
    """The best chunk is the one that answers, and its offset is that in the text."""
    if not shipped_models():
        pytest.skip("no model is shipped here")
    needed = {"qdrant": "qdrant_client", "chroma": "chromadb", "pgvector": "pgvector"}
    name = script.stem.removesuffix("_chunks")
    if importlib.util.find_spec(needed.get(name, name)) is None:
        pytest.skip(f"needs {needed.get(name, name)}")
    more = []
    if name == "pgvector":
        more = [server()]
    found = re.findall(
        r"^(-?0\.\d{3}) from (\d+): (.+(?:\n(?!-?0\.).*)*)", run(script, tmp_path, *more), re.M
    )
    assert len(found) == 3
    assert [score for score, _, _ in found] == sorted((s for s, _, _ in found), reverse=True)
    assert "1064 degrees" in found[0][2]
    for _, start, text in found:
        assert TEXT[int(start) :].lstrip().startswith(text.strip())


def test_examples_are_short() -> None:
    """Each is read at a glance."""
    for script in EXAMPLES:
        assert len(script.read_text(encoding="utf-8").splitlines()) <= 40, script.name
