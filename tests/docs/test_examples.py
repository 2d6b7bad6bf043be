"""The scripts of ``examples/`` run as they are given to users, where their store is installed."""

from __future__ import annotations

import importlib.util
import re
import runpy
import sys
import warnings
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


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_stores_and_finds(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not shipped_models():
        pytest.skip("no model is shipped here")
    needed = {"qdrant": "qdrant_client", "chroma": "chromadb", "pgvector": "pgvector"}
    name = script.stem.removesuffix("_chunks")
    if importlib.util.find_spec(needed.get(name, name)) is None:
        pytest.skip(f"needs {needed.get(name, name)}")
    more = [server()] if name == "pgvector" else []
    for address in more:  # an earlier run may have left vectors of another model
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS milepost_chunks")
    (tmp_path / "notes.md").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    question = "At what temperature does gold melt?"
    monkeypatch.setattr(sys, "argv", [str(script), "notes.md", question, *more])
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as the interpreter has it
        runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    found = re.findall(r"^(-?0\.\d{3}) from (\d+): (.+(?:\n(?!-?0\.).*)*)", printed, re.M)
    assert len(found) == 3
    assert [score for score, _, _ in found] == sorted((s for s, _, _ in found), reverse=True)
    assert "1064 degrees" in found[0][2]
    for _, start, text in found:
        assert TEXT[int(start) :].lstrip().startswith(text.strip())
