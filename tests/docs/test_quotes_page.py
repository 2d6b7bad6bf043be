"""``docs/quotes.md``: its examples print what it says, its codes are those of the command."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from milepost.cli.check import CODES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "quotes.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$.*?^```\n(.*?)^```$", TEXT, re.M | re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_print_what_the_page_says(number: int) -> None:
    """Each block of Python runs as it stands; the next block is what it prints."""
    code, wanted = EXAMPLES[number]
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, PAGE.name, "exec"), {})
    assert printed.getvalue() == wanted


def test_exit_codes_are_those_of_the_command() -> None:
    """Every verdict has its row and its code."""
    rows = re.findall(r"^\| ([a-z ]+) \| (\d) \|", TEXT, re.M)
    assert {verdict: int(code) for verdict, code in rows} == CODES
