"""The room as a whole: importing it costs nothing, and its page of documentation is true."""

import subprocess
import sys
from pathlib import Path

from milepost.index import Index
from milepost.integrations.retrieval import DETAILS, Held, folder_of, metadata

FRAMEWORKS = {"langchain_core", "llama_index", "haystack", "sentence_transformers", "chonkie"}


def test_importing_the_room_imports_no_framework() -> None:
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
    assert Held(index).index is index
    with Held("reports.milepost").index as read:
        assert len(read.documents()) == 2
    assert folder_of(Path("a") / "b") == str(Path("a") / "b")
    passage = index.search("gold", k=1)[0]
    assert set(DETAILS) < metadata(passage).keys()
