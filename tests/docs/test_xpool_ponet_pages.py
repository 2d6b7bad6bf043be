"""The Python of docs/pooling/xpool.md and ponet.md runs and prints what it says."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[2] / "docs" / "pooling"
if not PAGES.is_dir():
    pytest.skip("needs the checkout", allow_module_level=True)


def printed(name, capsys):
    """What the page's Python prints."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(compile(block, name, "exec"), {})
    return capsys.readouterr().out.splitlines()


def test_documents_are_reranked_and_the_sentence_is_told(capsys):
    assert printed("xpool", capsys) == ["bees", "1"]


def test_shapes_are_as_told(capsys):
    assert printed("ponet", capsys) == ["(2, 24)", "(2, 8)"]
