"""The public surface is a list, and importing it costs nothing."""

import subprocess
import sys

import pytest

import milepost

HEAVY = {
    "charset_normalizer",
    "click",
    "docx",
    "markdown_it",
    "numpy",
    "nupunkt",
    "openvino",
    "pathspec",
    "pypdfium2",
    "rich",
    "selectolax",
    "snowballstemmer",
    "sqlite3",
    "tokenizers",
    "torch",
    "transformers",
}


def loaded_by(code: str) -> set[str]:
    """Top-level modules and rooms that a fresh interpreter has after ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return {name for name in done.stdout.split() if "." not in name or name.startswith("milepost")}


def test_the_list_of_names() -> None:
    assert milepost.__all__ == sorted(milepost.__all__)
    assert set(milepost.__all__) >= {
        "Document",
        "Landmarks",
        "Passage",
        "IndexReport",
        "load",
        "open",
    }
    assert dir(milepost) == sorted([*milepost.__all__, "__version__"])


def test_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = milepost.nothing
    with pytest.raises(ImportError):
        from milepost import nothing  # noqa: F401


def test_importing_is_free() -> None:
    assert not loaded_by("import milepost") & HEAVY
    rooms = {name for name in loaded_by("import milepost") if name.startswith("milepost")}
    assert rooms == {"milepost"}
    records = "from milepost import Document, Landmarks, MilepostError, Passage, IndexReport"
    assert not loaded_by(records) & HEAVY


def test_nothing_of_the_base_imports_torch() -> None:
    code = (
        "from milepost.testing import fake_index; fake_index({'a': 'One whale.'}).search('whale')"
    )
    assert not loaded_by(code) & {"torch", "transformers", "nncf", "openvino"}
