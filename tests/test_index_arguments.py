"""Arguments of another type and closed indexes are refused in one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import milepost
from milepost.errors import InputError, StoreError
from milepost.tables import write_table
from milepost.testing import fake_encoder, fake_index
from milepost.types import Document

Index = milepost.Index


def one() -> Index:
    return fake_index({"bees": "Bees build cells of wax."})


@pytest.mark.parametrize("question", [[], None, 3, b"bees"])
def test_a_question_of_another_type_is_refused(question: Any) -> None:
    """``str([])`` would be looked for as the text ``[]``."""
    index = one()
    for ask in (index.search, index.search_detailed, index.check, index.model.encode_query):
        with pytest.raises(TypeError, match=rf"must be str\b.*, not {type(question).__name__}"):
            ask(question)
    with pytest.raises(TypeError, match=f"must hold str, not {type(question).__name__}"):
        index.search_many([question])
    with pytest.raises(TypeError, match="must be several of them, not"):
        index.search_many("wax" if question is None else question or None)


ENCODER = fake_encoder()
REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    *((Index.search, ("wax",), {"k": k}, "k must be int") for k in ("3", 3.0, True, [3])),
    *((Index.search, ("wax",), {"budget": b}, "budget must be str or int") for b in (3.5, [], b"")),
    *(
        (Index.search, ("wax",), {"min_score": s}, "min_score must be a number")
        for s in ("0.2", None, [], True)
    ),
    *((Index.search, ("wax",), {"documents": d}, "documents must") for d in (3, b"bees", [3], {3})),
    (Index.search, ("wax",), {"where": 3}, "where must be str or Filter"),
    (Index.search, ("wax",), {"rerank": "no"}, "rerank must be bool"),
    (Index.search_many, (["wax"],), {"k": "3"}, "k must be int"),
    (Index.search_detailed, ("wax",), {"min_score": "x"}, "min_score must be a number"),
    (Index.check, ("wax",), {"documents": 3}, "documents must be str or path"),
    (Index.check, ("wax",), {"k": "3"}, "k must be int"),
    (Index.add, (3,), {}, "sources must be str or path or Document"),
    (Index.add, ([3],), {}, "sources must hold str or path or Document"),
    (Index.add, ("x",), {"hidden": 3}, "hidden must be str"),
    (Index.add, ("x",), {"progress": 3}, "progress must be Callable"),
    (Index.remove, (3,), {}, "names must be str or path"),
    (Index.remove, ("x",), {"now": "yes"}, "now must be bool"),
    (Index.documents, (3,), {}, "names must be"),
    (Index.document, (None,), {}, "name must be str or path"),
    (Index.boxes, ("bees",), {}, "passage must be Passage"),
    (lambda _, **given: milepost.open(**given), (), {"place": 3}, "place must be str or path"),
    (lambda _, **given: milepost.open(**given), (), {"model": 3}, "model must be Encoder"),
    (lambda _, **given: milepost.open(**given), (), {"create": 3}, "create must be bool"),
    (lambda _, name: milepost.load(name), (3,), {}, "name must be str or path"),
    (lambda _, path: milepost.read(path), (3,), {}, "path must be str or path"),
    (lambda _, path: milepost.chunks(path), (3,), {}, "document must be Document or str or path"),
    (lambda _, path: milepost.chunks(path, size=[]), ("x",), {}, "size must be str or int"),
    (lambda _, *places: milepost.copy(*places), ("a", None), {}, "target must be str or path"),
    (lambda _, path: milepost.annotate(path, "x"), (3,), {}, "must be"),
    (lambda index, path: write_table(index, ["x"], path), (3,), {}, "path must be str or path"),
    (lambda _, text: ENCODER.encode(text), (3,), {}, "text must be str or Document"),
    (lambda _, texts: ENCODER.encode_texts(texts), ("ab",), {}, "texts must be several of them"),
    (lambda _, texts: ENCODER.encode_queries(texts), ([3],), {}, "questions must hold str"),
    (lambda _, text: ENCODER.count_tokens(text), (None,), {}, "text must be str"),
    (lambda _, text: ENCODER.vocab_coverage(text), (None,), {}, "question must be str"),
    (lambda _, text: milepost.Query.parse(text, ENCODER), (None,), {}, "text must be str"),
    (lambda _, text: Document("a", text), (None,), {}, "text must be str"),
    (lambda _, name: Document(name, "a"), (Path("a"),), {}, "name must be str"),
]


@pytest.mark.parametrize(("call", "given", "named", "message"), REFUSED)
def test_arguments_of_another_type_name_the_right_one(
    call: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    """In one line, as a TypeError and as an error of Milepost's."""
    with pytest.raises(TypeError, match=message) as caught:
        call(one(), *given, **named)
    assert isinstance(caught.value, InputError)


def test_what_counts_as_a_number_or_a_name() -> None:
    """NumPy's numbers, paths, generators, and names that Python's own rules refuse."""
    index = one()
    assert index.search("wax", k=np.int64(1), min_score=np.float32(0.0), rerank=np.bool_(True))
    assert index.search("wax", documents=(name for name in ["bees"]))
    assert index.search("wax", documents=Path("bees"))
    with pytest.raises(InputError, match="is not a length") as caught:
        index.search("wax", budget="9" * 5000)
    assert len(str(caught.value)) < 100
    assert index.search("wax", budget=10**5000)
    with pytest.raises(TypeError, match="unexpected keyword"):
        index.search("wax", top=3)  # type: ignore[call-arg]


def test_a_closed_index_in_memory_refuses() -> None:
    """As an index in a folder does, instead of finding nothing."""
    index = one()
    index.close()
    for use in (
        lambda: index.search("wax"),
        lambda: index.search_many(["wax"]),
        index.documents,
        lambda: index.check("wax"),
        lambda: index.add([Document("a", "A text.")]),
        lambda: index.remove("bees"),
    ):
        with pytest.raises(StoreError, match="the index in memory is closed"):
            use()


def test_a_property_too_large_for_a_number_is_refused() -> None:
    """An integer of 400 digits is no float."""
    with pytest.raises(InputError, match="the property 'a' cannot be int"):
        fake_index({}).add(Document("p", "x y.", properties={"a": 10**400}))
