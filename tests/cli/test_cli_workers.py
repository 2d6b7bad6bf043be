"""``milepost index --workers ray`` on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray.data", reason="needs the extra ray")

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own
LIGHT = "landmark-light"


def test_the_command(cli, notes: Path, tmp_path: Path) -> None:
    """It indexes with Ray, removes what is gone, and refuses what workers cannot do."""
    given = "index", notes, "--db", tmp_path / "db", "--model", LIGHT
    (notes / "poison.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    result = cli(*given, "--workers", "ray")
    assert (result.exit_code, "3 added, 1 failed" in result.stdout) == (0, True)
    assert "poison.pdf" in result.stderr
    (notes / "bees.txt").unlink()
    result = cli(*given, "--workers", "ray", "--json")
    assert f'"removed": ["{notes / "bees.txt"}"]' in result.stdout
    for wrong in (("--workers", "dask"), ("--workers", "ray", "--watch")):
        assert cli(*given, *wrong).exit_code == 2
