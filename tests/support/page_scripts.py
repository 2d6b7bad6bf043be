"""Scripts that write pages."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What stands in the script of ``tools`` that the test module names as its ``SCRIPT``."""
    script = TOOLS / request.module.SCRIPT
    if not script.is_file():
        pytest.skip("needs the checkout")
    return runpy.run_path(str(script))
