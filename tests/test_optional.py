"""Optional dependencies are asked for at the door, by the extra that brings them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from milepost._optional import check_installed, require
from milepost.errors import MissingExtra


def test_what_is_installed_is_returned() -> None:
    assert require("json", extra="x") is json
    assert require("os.path", extra="x").join("a", "b") == str(Path("a", "b"))


def test_what_is_missing_names_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[serve\]'") as raised:
        require("no_such_module_here", extra="serve")
    assert "no_such_module_here" in str(raised.value)
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize(
    ("extra", "package"), [("train", "./packages/train"), ("rivals", "'./packages/eval[rivals]'")]
)
def test_what_a_package_of_milepost_brings_is_installed_from_the_clone(extra, package) -> None:
    with pytest.raises(MissingExtra) as raised:
        require("no_such_module_here", extra=extra)
    assert raised.value.hint == f"pip install {package}"


def test_what_is_broken_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_here.py").write_text("import a_library_it_needs\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingExtra, match="a_library_it_needs"):
        require("broken_here", extra="train")


def test_what_is_missing_is_found_without_imports() -> None:
    check_installed("json", "antigravity", extra="serve")
    assert "antigravity" not in sys.modules  # it would open a browser
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[serve\]'"):
        check_installed("json", "no_such_module_here", extra="serve")


def hint_without_extra(*options: str) -> str:
    """The hint that a fresh Python gives where ``find_spec`` finds nothing."""
    code = """
from milepost._optional import require
from milepost.errors import MissingExtra
try:
    require("no_such_module_here", extra="serve")
except MissingExtra as error:
    print(error.hint)
"""
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_sources_that_are_not_installed_are_named_by_their_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With PYTHONPATH alone there is no metadata that pip could read."""
    clone = Path(__file__).resolve().parents[1]
    monkeypatch.setenv("PYTHONPATH", str(clone / "src"))
    if not (clone / "src" / "milepost" / "_optional.py").is_file():
        pytest.skip("needs the checkout")
    assert hint_without_extra("-S") == f"pip install '{clone}[serve]'"
