"""Retrievers of a folder are copied and pickled, as frameworks do to run them elsewhere."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from milepost.index import Index
from milepost.integrations.retrieval import Held

ASKED: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "langchain": ("langchain_core", lambda made: made.invoke("Who signed?")),
    "llama_index": ("llama_index.core", lambda made: made.retrieve("Who signed?")),
    "haystack": ("haystack", lambda made: made.run("Who signed?")["documents"]),
}


@pytest.mark.parametrize("framework", ASKED)
def test_a_retriever_of_a_folder_is_copied_and_pickled(framework: str, reports: Path) -> None:
    package, ask = ASKED[framework]
    pytest.importorskip(package, reason="needs the integrations extra")
    made = import_module(f"milepost.integrations.{framework}").MilepostRetriever(
        index=str(reports / "reports.milepost")
    )
    before = pickle.dumps(made)
    found = len(ask(made))
    assert found
    for again in (
        pickle.loads(before),
        copy.copy(made),
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
    ):
        assert len(ask(again)) == found


def test_an_open_index_is_shared_by_copies_and_not_pickled(index: Index) -> None:
    """Its connections belong to this process."""
    held = Held(index)
    assert copy.deepcopy(held).index is index
    with pytest.raises(TypeError, match="cannot be pickled; try: index=FOLDER"):
        pickle.dumps(held)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copy.deepcopy(index)
