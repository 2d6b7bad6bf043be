"""The room as a whole: importing it costs nothing, and its page of documentation is true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from milepost.index import Index
from milepost.integrations.retrieval import DETAILS, folder_of, metadata, opened

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"
FRAMEWORKS = {"langchain_core", "llama_index", "haystack", "sentence_transformers", "chonkie"}


def blocks() -> list[str]:
    """Give the code of the page."""
    if not PAGE.is_file():
        pytest.skip("needs the checkout")
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_importing_the_room_imports_no_framework() -> None:
    """Not even what the retrievers share does."""
    code = "import sys, milepost.integrations.retrieval\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & (FRAMEWORKS | {"torch", "pydantic"})


def test_what_retrievers_share(index: Index, reports: Path) -> None:
    """An open index stays as it is, a folder is opened for reading, metadata has all details."""
    assert opened(index) is index
    with opened("reports.milepost") as read:
        assert len(read.documents()) == 2
    assert folder_of(Path("a") / "b") == str(Path("a") / "b")
    passage = index.search("gold", k=1)[0]
    assert set(DETAILS) < metadata(passage).keys()


@pytest.mark.parametrize("number", range(4))
def test_code_of_the_page_runs(number: int, reports: Path, tmp_path: Path) -> None:
    """Each block as it stands, in a folder that holds an index and a small book."""
    code = blocks()[number]
    assert len(blocks()) == 4
    for framework in re.findall(r"milepost\.integrations\.(\w+)", code):
        pytest.importorskip(f"milepost.integrations.{framework}", exc_type=ImportError)
    (reports / "examples").mkdir(exist_ok=True)
    book = reports / "examples" / "origin-of-species.txt"
    book.write_text("The hive-bee makes cells of wax. It is an instinct.", encoding="utf-8")
    exec(compile(code, str(PAGE), "exec"), {})
