"""The guide of the pooling lab: its Python runs, and its commands take the options it names."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost.cli.program import program  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.command import lab  # noqa: E402
from milepost_lab.pooling import registry  # noqa: E402

PAGE = Path(__file__).resolve().parents[4] / "docs" / "lab-compare.md"
if not PAGE.is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_python_of_the_page_runs(monkeypatch, capsys):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    for block in re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        exec(compile(block, PAGE.name, "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE) == printed
    states = np.random.default_rng(0).standard_normal((5, 8)).astype(np.float32)
    assert pooling.get("gated", hidden=256)(states, [3, 2]).shape == (2, 8)
    assert pooling.get("slots", k=8)(states, [3, 2]).shape == (2, 8, 8)


def test_the_commands_of_the_page_are_understood():
    """Parsed and not run: every option is one, and every value of it is allowed."""
    lines = re.findall(r"^    (milepost (?:.*\\\n)*.*)$", TEXT, re.MULTILINE)
    assert len(lines) == 6
    for line in lines:
        _, first, *words = shlex.split(line.replace("\\\n", " "))
        words = [word for word in words if word not in ("my_pooling.py", "--code")]
        if first == "lab":
            command = lab.get_command(None, words.pop(0))
        else:
            command = program.get_command(None, first)
            words = [word for word in words if not word.startswith(("poolings/", "--pooling"))]
        assert command.make_context(first, words, resilient_parsing=False)


def test_the_defaults_of_the_page_are_those_of_the_code():
    from milepost_lab.compare.given import RATES
    from milepost_lab.compare.material import Sizes
    from milepost_lab.compare.recipe import NETWORK_RATES
    from milepost_lab.compare.rows import CORE

    sizes = Sizes()
    for name in ("pairs", "asked", "tokens", "texts"):
        assert f"| `--{name}` | {getattr(sizes, name):,} |" in TEXT
    assert [
        float(rate) for rate in re.findall(r"\((\d.*)\), and the best", TEXT)[0].split(", ")
    ] == [*RATES]
    assert {"lora": 2e-4, "full": 2e-5}.items() <= NETWORK_RATES.items()
    assert "nine common poolings" in TEXT
    assert len(CORE) == 9
