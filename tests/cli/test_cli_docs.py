"""``docs/cli.md`` says what the commands say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from milepost._packages import COMMANDS
from milepost.cli.program import program

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOOLS = DOCS.parent / "tools"


def test_the_reference_is_up_to_date():
    """The file equals what tools/make_cli.py writes, and names every command and option."""
    if not (TOOLS / "make_cli.py").is_file():
        pytest.skip("needs the checkout")
    if not set(COMMANDS) <= set(program.list_commands(None)):
        pytest.skip("needs milepost-eval, milepost-train and milepost-lab")
    expected = runpy.run_path(str(TOOLS / "make_cli.py"))["reference"]()
    written = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert written == expected, "run: python tools/make_cli.py"
    for name in program.list_commands(None):
        command = program.get_command(None, name)
        section = written.split(f"## milepost {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert all(option in section for option in parameter.opts)
                assert parameter.help
