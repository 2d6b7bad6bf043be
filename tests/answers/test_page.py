"""The page of documentation on answers is true: its code runs, its verdicts are all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("uvicorn", reason="needs the integrations extra")

import milepost
from milepost.answers import Verdict
from milepost.cli.citations import _WORDS
from milepost.engine import shipped_models
from support.openai_server import serving

PAGE = Path(__file__).resolve().parents[2] / "docs" / "answers.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_of_verdicts() -> None:
    """Each verdict, and the words that are printed for it."""
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", TEXT, re.MULTILINE))
    assert rows == {name: words for name, (words, _) in _WORDS.items()}
    assert set(rows) == set(get_args(Verdict))


def test_the_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands but for the address of the endpoint, on an index in this folder."""
    if not shipped_models():
        pytest.skip("no model is shipped here")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with milepost.open("reports.milepost") as index:
        index.add(milepost.Document("lease", "It was signed by Ada Lovelace in May."))
    code = re.search(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert code
    with serving(lambda body: 'It "was signed by Ada Lovelace" [1].') as there:
        exec(code[1].replace("http://localhost:11434/v1", there.url), {})
    printed = capsys.readouterr().out
    assert printed == 'It "was signed by Ada Lovelace" [1].1 verbatim ((3, 29),) None\nTrue\n'
