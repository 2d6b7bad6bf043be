"""The lines of use at the top of a module's docstring, to be run as they stand."""

import re
import textwrap
from types import ModuleType
from typing import Any


def run_use(module: ModuleType) -> dict[str, Any]:
    """Run the lines and give the names that they set."""
    block = re.search(r"\n\n((?:    .+\n?)+)", module.__doc__ or "")
    assert block, f"{module.__name__} shows no use"
    names: dict[str, Any] = {}
    exec(compile(textwrap.dedent(block[1]), module.__name__, "exec"), names)
    return names
