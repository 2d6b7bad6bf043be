"""``docs/quotes.md``: its exit codes are those of the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from milepost.cli.check import CODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quotes.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")


def test_exit_codes_are_those_of_the_command() -> None:
    """Every verdict has its row and its code."""
    rows = re.findall(r"^\| ([a-z ]+) \| (\d) \|", TEXT, re.M)
    assert {verdict: int(code) for verdict, code in rows} == CODES
