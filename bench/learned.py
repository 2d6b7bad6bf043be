"""Put learned numbers into a model folder's manifest, beside those that other benches learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def keep(folder: Path, learned: dict[str, Any]) -> None:
    """Merge ``learned`` into the manifest's ``fusion``; what it does not name stays as it is."""
    path = folder / "milepost.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["fusion"] = {**manifest.get("fusion", {}), **learned}
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
