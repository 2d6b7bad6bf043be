"""A hook of hatchling: Milepost's packages depend on each other in exactly one version.

The version is that of ``src/milepost/__init__.py``. A package names what it needs, with
``{version}`` where it stands, in ``[tool.hatch.metadata.hooks.custom]`` of its pyproject.toml.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

SOURCE = Path(__file__).resolve().parents[1] / "src" / "milepost" / "__init__.py"


class Versions(MetadataHookInterface):
    """Sets ``dependencies``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the version into the dependencies of the hook's configuration."""
        found = re.search(r'^__version__ = "(.+)"$', SOURCE.read_text(encoding="utf-8"), re.M)
        assert found is not None, SOURCE
        needed = self.config["dependencies"]
        metadata["dependencies"] = [each.format(version=found[1]) for each in needed]
