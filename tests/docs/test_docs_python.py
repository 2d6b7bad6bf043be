"""``docs/python.md`` says what the docstrings say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOOLS = DOCS.parent / "tools"


def test_the_python_reference_is_up_to_date():
    """The file equals what tools/make_python.py writes."""
    if not (TOOLS / "make_python.py").is_file():
        pytest.skip("needs the checkout")
    expected = runpy.run_path(str(TOOLS / "make_python.py"))["reference"]()
    written = (DOCS / "python.md").read_text(encoding="utf-8")
    assert written == expected, "run: python tools/make_python.py"
