"""Scripts that write pages."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What stands in the script of ``docs`` that the test module names as its ``SCRIPT``."""
    script = DOCS / request.module.SCRIPT
    if not script.is_file():
        pytest.skip("needs the checkout")
    return runpy.run_path(str(script))
