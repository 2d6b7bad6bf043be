"""What the retrievers of all frameworks do alike, each inside its own framework."""

import asyncio
import copy
import json
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError, NotAnIndex
from milepost.index import Index
from milepost.integrations.retrieval import Held
from milepost.types import Document
from support.cli_process import loaded
from support.docstring_code import run_use

WATER = "deep water for a ship"


@dataclass(frozen=True)
class Found:
    """A document of any framework: its text, identity, score and place."""

    text: str
    identity: str
    score: float
    place: dict[str, Any]


def of_langchain(found: Any) -> list[Found]:
    return [Found(d.page_content, d.id, d.metadata["score"], d.metadata) for d in found]


def of_llama_index(found: Any) -> list[Found]:
    return [
        Found(each.node.get_content(), each.node.node_id, each.score, each.node.metadata)
        for each in found
    ]


def of_haystack(found: Any) -> list[Found]:
    return [Found(d.content, d.id, d.score, d.meta) for d in found["documents"]]


FRAMEWORKS: dict[str, tuple[str, str, str, str, Callable[[Any], list[Found]]]] = {
    "langchain": ("langchain_core", "invoke", "ainvoke", "k", of_langchain),
    "llama_index": ("llama_index.core", "retrieve", "aretrieve", "k", of_llama_index),
    "haystack": ("haystack", "run", "run_async", "top_k", of_haystack),
}


class Framework:
    """A framework's adapter, called in one way."""

    def __init__(self, name: str) -> None:
        package, self._call, self._await, self.k, self._read = FRAMEWORKS[name]
        pytest.importorskip(package, reason="needs the integrations extra")
        self.adapter = import_module(f"milepost.integrations.{name}")

    def retriever(self, index: Any, **options: Any) -> Any:
        return self.adapter.MilepostRetriever(index=index, **options)

    def ask(self, made: Any, question: str, **options: Any) -> list[Found]:
        """What is found, by both calls."""
        found = self._read(getattr(made, self._call)(question, **options))
        assert asyncio.run(self.wait(made, question, **options)) == found
        return found

    async def wait(self, made: Any, question: str, **options: Any) -> list[Found]:
        return self._read(await getattr(made, self._await)(question, **options))

    def read(self, found: Any) -> list[Found]:
        """What the lines of use have found."""
        return self._read({"documents": found} if self.k == "top_k" else found)


@pytest.fixture(params=FRAMEWORKS)
def framework(request: pytest.FixtureRequest) -> Framework:
    return Framework(request.param)


def test_a_document_is_the_passage_and_its_place(framework: Framework, index: Index) -> None:
    found = framework.ask(framework.retriever(index, **{framework.k: 2}), WATER)
    passages = index.search(WATER, k=2)
    assert [each.text for each in found] == [passage.text for passage in passages]
    assert [each.score for each in found] == [passage.score for passage in passages]
    first, passage = found[0], passages[0]
    assert first.identity == f"ships:{passage.start}-{passage.end}"
    assert (first.place["document"], first.place["page"]) == ("ships", 7)
    assert first.place["heading"] == passage.heading
    assert first.place["hits"][0]["logit"] == passage.best.logit
    assert first.place["best"]["text"] == passage.best.text


def test_a_document_has_its_properties(framework: Framework, index: Index) -> None:
    """In JSON; a property with the name of a field does not take its place."""
    said = {"title": "Slate", "year": 1872, "tags": ["rock", "roof"], "source": "https://a.example"}
    said |= {"property_source": "own"}
    index.add(Document("slate", "Slate splits into thin plates.", properties=said))
    (found,) = framework.ask(framework.retriever(index, **{framework.k: 1}), "thin plates of slate")
    given = json.loads(json.dumps(found.place))
    assert (given["title"], str(given["year"]), given["tags"]) == ("Slate", "1872", said["tags"])
    assert given == found.place, "JSON gives something else back"
    assert (given["source"], given["property_source"]) == (None, "own")
    assert given["property_property_source"] == said["source"]


def test_the_options_of_one_question(framework: Framework, index: Index) -> None:
    made = framework.retriever(index, where='document = "gold"')

    def documents(asked: Any, **options: Any) -> set[str]:
        return {each.place["document"] for each in framework.ask(asked, WATER, **options)}

    assert documents(made) == {"gold"}
    assert documents(made, where='document = "ships"') == {"ships"}
    assert documents(made) == {"gold"}, "an option of one question stayed"
    plain = framework.retriever(index)
    assert documents(plain, documents=["bees"]) == {"bees"}
    assert documents(framework.retriever(index, documents="bees")) == {"bees"}
    assert len(framework.ask(plain, WATER, **{framework.k: 1})) == 1
    with pytest.raises(InputError):
        framework.retriever(index, where="kind =")


def test_the_limits_of_a_retriever(framework: Framework, index: Index) -> None:
    assert framework.ask(framework.retriever(index, min_score=1.0), WATER) == []
    short = framework.retriever(index, budget="30c", **{framework.k: None})
    assert sum(len(each.text) for each in framework.ask(short, WATER)) <= 30
    for limits in ({framework.k: 0}, {"budget": "x"}, {"min_score": 2.0}):
        with pytest.raises(InputError):
            framework.retriever(index, **limits)
    with pytest.raises(InputError, match="k = 0"):
        framework.ask(short, WATER, **{framework.k: 0})
    with pytest.raises(TypeError, match="depth"):
        framework.ask(short, WATER, depth=1)
    with pytest.raises(TypeError, match="index must be"):
        framework.ask(framework.retriever(None), WATER)
    with pytest.raises(NotAnIndex):
        framework.ask(framework.retriever("missing"), WATER)


def test_waiting_leaves_the_loop_free(
    framework: Framework, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search waits for something that only the loop does: a blocked loop would never end."""
    released = threading.Event()
    run = index.model._engine.run

    def waiting(*args: Any) -> Any:
        assert released.wait(30), "the loop was blocked"
        return run(*args)

    monkeypatch.setattr(index.model._engine, "run", waiting)

    async def both() -> list[Found]:
        made = framework.retriever(index, **{framework.k: 1})
        task = asyncio.ensure_future(framework.wait(made, WATER))
        await asyncio.sleep(0.01)
        assert not task.done()
        released.set()
        return await task

    assert len(asyncio.run(both())) == 1


def test_the_lines_of_use_run(framework: Framework, reports: Path) -> None:
    names = run_use(framework.adapter)
    first = framework.read(names.get("documents") or names["nodes"])[0]
    assert "signed by Ada Lovelace" in first.text
    assert first.place["source"] == str(reports / "contract.txt")


def test_a_retriever_of_a_folder_is_copied_and_pickled(framework: Framework, reports: Path) -> None:
    made = framework.retriever(str(reports / "reports.milepost"))
    before = pickle.dumps(made)
    found = len(framework.ask(made, "Who signed?"))
    assert found
    for again in (
        pickle.loads(before),
        copy.copy(made),
        copy.deepcopy(made),
        pickle.loads(pickle.dumps(made)),
    ):
        assert len(framework.ask(again, "Who signed?")) == found


def test_an_open_index_is_shared_by_copies_and_not_pickled(index: Index) -> None:
    """Its connections belong to this process."""
    held = Held(index)
    assert copy.deepcopy(held).index is index
    with pytest.raises(TypeError, match="cannot be pickled; try: index=FOLDER"):
        pickle.dumps(held)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copy.deepcopy(index)


HEAVY = {"langchain_core", "llama_index", "haystack", "sentence_transformers", "chonkie"}
HEAVY |= {"torch", "pydantic"}


def test_importing_the_room_imports_no_framework() -> None:
    names = {name.partition(".")[0] for name in loaded("import milepost.integrations.retrieval")}
    assert not names & HEAVY
