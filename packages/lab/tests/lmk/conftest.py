"""What the tests of the study share: its data, and one study made by the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """See ``write_data``."""
    from support.small_lmk import write_data

    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def commanded(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A folder with what ``milepost lab lmk --size quick`` leaves, and what was printed.

    ``result.json.xz`` is the file of ``--result``, ``runs/quick`` the study's folder.
    """
    from milepost.console.options import Settings
    from milepost_lab.lmk.command import command
    from milepost_lab.lmk.settings import SIZES
    from support.small_lmk import SMALL

    folder = tmp_path_factory.mktemp("commanded")
    given = ["--size", "quick", "--data", data, "--out", folder / "runs", "--device", "cpu"]
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SIZES, "quick", replace(SMALL, rates=(1e-3,)))
        for more in (["--base-only"], ["--result", folder / "result.json.xz", "--seeds", 1]):
            done = CliRunner().invoke(
                command,
                [str(each) for each in (*given, *more)],
                obj=Settings(quiet=True),
                standalone_mode=False,
            )
            assert done.exception is None
            found.append(done)
    return folder, found
