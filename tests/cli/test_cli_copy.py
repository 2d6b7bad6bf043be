"""``milepost copy``: from one folder to another; see ``tests/test_copying.py`` for servers."""

from __future__ import annotations

from pathlib import Path

import milepost

LIGHT = "landmark-light"


def test_the_command(cli, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with milepost.open(source, model=LIGHT) as index:
        index.add([milepost.Document(name, "One. Two.") for name in ("a", "b")])
    result = cli("copy", "--from", source, "--to", target, "--model", LIGHT)
    assert "2 added, 0 changed, 0 unchanged, 4 sentences copied" in result.stdout
    result = cli("copy", "--from", source, "--to", target, "--model", LIGHT, "--json")
    assert '"unchanged": ["a", "b"]' in result.stdout
    assert cli("copy", "--from", source).exit_code == 2
