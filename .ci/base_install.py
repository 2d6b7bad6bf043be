"""Check what the base install brings: its size, its licences, and that torch is not among it.

Run by the Python of an environment that holds milepost, its run-time dependencies, and pip.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

MOST_BYTES = 450_000_000
COPYLEFT = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)
"""Licences that would bind those who build on Milepost; LGPL and MPL bind only their own files."""


def licence(distribution: Distribution) -> str:
    """Give the licence that a distribution declares, in the newest form it uses."""
    metadata = distribution.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        line.rsplit("::", 1)[1].strip()
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::")
    ]
    # The old free-text field may hold the whole text of a licence; its first line names it.
    return ", ".join(classifiers) or (metadata.get("License") or "").strip().partition("\n")[0]


def faults() -> list[str]:
    """List what is wrong, printing what was found."""
    found = []
    for distribution in sorted(distributions(), key=lambda item: item.name.lower()):
        name = licence(distribution)
        print(f"{distribution.name:24} {distribution.version:14} {name or 'no licence declared'}")
        if not name or COPYLEFT.search(name):
            found.append(f"{distribution.name} has the licence {name!r}")
    found += [
        f"{module} is installed"
        for module in ("torch", "transformers", "onnxruntime", "nncf")
        if importlib.util.find_spec(module)
    ]
    files = (path for path in Path(sys.prefix).rglob("*") if not path.is_symlink())
    size = sum(path.stat().st_size for path in files if path.is_file())
    print(f"the environment, pip included: {size / 1e6:.0f} MB")
    if size > MOST_BYTES:
        found.append(f"the environment has {size / 1e6:.0f} MB, more than {MOST_BYTES / 1e6:.0f}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(faults()) or None)
