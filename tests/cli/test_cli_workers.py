"""``milepost index --workers ray`` on this machine."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.cli_process import command
from support.ray_process import finished

if find_spec("ray") is None:
    pytest.skip("needs the extra ray", allow_module_level=True)

LIGHT = "landmark-light"


def test_the_command(cli, notes: Path, tmp_path: Path) -> None:
    given = "index", notes, "--db", tmp_path / "db", "--model", LIGHT
    (notes / "poison.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    result = finished(command(*given, "--workers", "ray"))
    assert (result.returncode, "3 added, 1 failed" in result.stdout) == (0, True)
    assert "poison.pdf" in result.stderr
    (notes / "bees.txt").unlink()
    result = finished(command(*given, "--workers", "ray", "--json"))
    assert json.loads(result.stdout)["removed"] == [str(notes / "bees.txt")]
    for wrong in (("--workers", "dask"), ("--workers", "ray", "--watch")):
        assert cli(*given, *wrong).exit_code == 2
