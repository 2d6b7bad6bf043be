"""Optional dependencies are asked for at the door, by the extra that brings them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from milepost._optional import check_installed, require
from milepost.errors import MissingExtra


def test_what_is_installed_is_returned() -> None:
    """The module itself, also one inside a package."""
    assert require("json", extra="x") is json
    assert require("os.path", extra="x").join("a", "b") == str(Path("a", "b"))


def test_what_is_missing_names_its_extra() -> None:
    """The error says how to install it and keeps the real cause."""
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[train\]'") as raised:
        require("no_such_module_here", extra="train")
    assert "no_such_module_here" in str(raised.value)
    assert isinstance(raised.value.__cause__, ModuleNotFoundError)


def test_what_is_broken_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is there but cannot import something of its own is told apart."""
    (tmp_path / "broken_here.py").write_text("import a_library_it_needs\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingExtra, match="a_library_it_needs"):
        require("broken_here", extra="train")


def test_what_is_missing_is_found_without_imports() -> None:
    """All that are asked for must be there; none is imported."""
    check_installed("json", "antigravity", extra="serve")
    assert "antigravity" not in sys.modules  # it would open a browser
    with pytest.raises(MissingExtra, match=r"pip install 'milepost\[serve\]'"):
        check_installed("json", "no_such_module_here", extra="serve")
