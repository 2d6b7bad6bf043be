"""Many questions at once find what one at a time finds."""

from pathlib import Path

import pytest

import milepost
from milepost.errors import BadQuestion
from milepost.testing import fake_index

BOOK = Path(__file__).parents[2] / "examples" / "origin-of-species.txt"
QUESTIONS = [
    "How do bees make the cells of the honeycomb?",
    "Can seeds survive in salt water?",
    'how is "natural selection" like a breeder -pigeons',
    " ".join(["why are there so few intermediate varieties in the rocks"] * 15),
    "Can seeds survive in salt water?",
]


@pytest.mark.parametrize("options", [{}, {"budget": "400t"}, {"rerank": False, "k": 2}])
def test_the_shipped_model_finds_the_same(options: dict[str, object]) -> None:
    if not BOOK.is_file():
        pytest.skip("needs the checkout")
    text = BOOK.read_text(encoding="utf-8")[400_000:460_000]
    with milepost.open() as index:
        index.add(milepost.Document("book", text))
        many = index.search_many(QUESTIONS, **options)
        assert len(many) == len(QUESTIONS)
        for question, found in zip(QUESTIONS, many, strict=True):
            alone = index.search(question, **options)
            assert [(p.start, p.end) for p in found] == [(p.start, p.end) for p in alone]
            for ours, theirs in zip(found, alone, strict=True):
                assert ours.score == pytest.approx(theirs.score, abs=0.02)
                assert ours.best.text == theirs.best.text


def test_the_options_of_a_search_hold() -> None:
    """Documents, filter and probability, for all questions; no questions have no answers."""
    index = fake_index({"a": "Bees build cells of wax. ", "b": "Wax is sold by weight. "})
    assert index.search_many([]) == []
    assert index.search_many(iter(["wax", "bees"]), documents="b") == [
        index.search(question, documents="b") for question in ("wax", "bees")
    ]
    assert index.search_many(["wax"], where='document = "a"')[0][0].document == "a"
    assert index.search_many(["wax"], min_score=1.0) == [[]]
    with pytest.raises(BadQuestion):
        index.search_many(["wax", "?!"])
