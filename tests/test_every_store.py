"""The same search on every store: the same passages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import milepost
from milepost.search import scope
from milepost.store.packing import rounded
from support.postgres import fresh_schema

BOOK = Path(__file__).parents[1] / "examples" / "origin-of-species.txt"
QUESTIONS = (
    "How do bees make the cells of the honeycomb?",
    "Can seeds survive in salt water?",
    "Why are there so few intermediate varieties in the rocks?",
    "What is the use of rudimentary organs?",
    'how is "natural selection" like a breeder',
    "sterility of hybrids -pigeons",
)


@pytest.fixture(scope="module")
def texts() -> list[milepost.Document]:
    if not BOOK.is_file():
        pytest.skip("needs the checkout")
    whole = BOOK.read_text(encoding="utf-8")
    part = whole[len(whole) // 3 : len(whole) // 3 + 120_000]
    return [
        milepost.Document(f"chapter {at // 20_000}", part[at : at + 20_000])
        for at in range(0, len(part), 20_000)
    ]


@pytest.fixture(scope="module")
def indexes(
    texts: list[milepost.Document], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, milepost.Index]]:
    """The same documents in every store, with the vectors that stores on a disk keep."""
    encoder = milepost.load("landmark-light")
    known = {}
    for text in texts:
        marks = encoder.encode(text)
        scales, values = rounded(marks.vectors)
        known[text.name] = replace(marks, vectors=scales[:, None] * values.astype(np.float32))
    with ExitStack() as stack:
        places: dict[str, Path | str | None] = {
            "memory": None,
            "sqlite": tmp_path_factory.mktemp("stores") / "sqlite",
            "postgres": stack.enter_context(fresh_schema(partitions=3)),
            "lance": f"lance://{tmp_path_factory.mktemp('stores') / 'lance'}",
        }
        made = {}
        for name, place in places.items():
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(encoder, "encode", lambda text, **_: known[text.name])
                made[name] = stack.enter_context(milepost.open(place, model=encoder))
                made[name].add(texts)
        yield made


@pytest.fixture(scope="module")
def memory_finds(
    indexes: dict[str, milepost.Index],
) -> Callable[[str, list[str] | None], list[milepost.Passage]]:
    known: dict[object, list[milepost.Passage]] = {}

    def find(question: str, names: list[str] | None) -> list[milepost.Passage]:
        key = question, names is None, scope.EVERYTHING
        if key not in known:
            known[key] = indexes["memory"].search(question, documents=names)
        return known[key]

    return find


@pytest.mark.parametrize("everything", [60_000, 300])
@pytest.mark.parametrize("store", ["sqlite", "postgres", "lance"])
@pytest.mark.parametrize("names", [None, ["chapter 1", "chapter 4"]])
def test_the_passages_are_those_of_memory(
    indexes: dict[str, milepost.Index],
    memory_finds: Callable[[str, list[str] | None], list[milepost.Passage]],
    store: str,
    names: list[str] | None,
    everything: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scope, "EVERYTHING", everything)
    for question in QUESTIONS:
        due = memory_finds(question, names)
        found = indexes[store].search(question, documents=names)
        assert [(each.document, each.start, each.end) for each in found] == [
            (each.document, each.start, each.end) for each in due
        ]
        np.testing.assert_allclose(
            [each.score for each in found], [each.score for each in due], atol=1e-4
        )
