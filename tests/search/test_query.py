"""A question is checked and encoded once: what is taken, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from milepost.errors import BadQuestion, InputError
from milepost.search import Limits, Query
from milepost.search.query import DEFAULT_K, Budget, parse_length
from milepost.testing import fake_encoder

MODEL = fake_encoder()


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (None, None),
        (1600, Budget(1600, "c")),
        ("1600", Budget(1600, "c")),
        ("1600c", Budget(1600, "c")),
        (" 400 t ", Budget(400, "t")),
    ],
)
def test_budgets(written: str | int | None, wanted: Budget | None) -> None:
    """Characters unless tokens are said."""
    assert Limits.parse(budget=written).budget == wanted


@pytest.mark.parametrize("written", ["", "0", 0, -5, "ten", "12x", "1.5c", "c", "400tt", "0t"])
def test_bad_budgets(written: str | int) -> None:
    """Anything else is an error that names it and shows how to write it."""
    with pytest.raises(InputError, match=r"is not a length.*1600c or 400t") as caught:
        parse_length(written, "budget")
    assert repr(written) in str(caught.value)
    with pytest.raises(InputError, match="1600c or 400t"):
        Limits.parse(budget=written)
    with pytest.raises(InputError, match="1600c or 400t"):
        Query.parse("Who?", MODEL, budget=written)


@pytest.mark.parametrize(
    ("k", "budget", "wanted"),
    [
        (None, None, DEFAULT_K),
        (None, "400t", None),
        (None, 1, None),
        (3, None, 3),
        (3, "400t", 3),
    ],
)
def test_something_limits_every_result(k: int | None, budget: str | None, wanted: int) -> None:
    """Five passages where nothing is said; with a budget as many as it holds."""
    limits = Limits.parse(k, budget)
    assert limits.k == wanted
    assert limits.k is not None or limits.budget is not None
    assert Query.parse("Who?", MODEL, k=k, budget=budget).limits == limits
    assert Limits() == Limits.parse()


@pytest.mark.parametrize("k", [0, -1])
def test_no_passages_cannot_be_asked_for(k: int) -> None:
    """Less than one passage is an error, not everything."""
    with pytest.raises(InputError, match="1 or more"):
        Limits.parse(k)
    with pytest.raises(InputError, match="1 or more"):
        Query.parse("Who?", MODEL, k=k)


@pytest.mark.parametrize("min_score", [-0.01, 1.01, 20, float("nan")])
def test_what_is_not_a_probability_is_refused(min_score: float) -> None:
    """A percentage, or not a number, is an error of one line, not an empty result."""
    with pytest.raises(InputError, match="is not a probability"):
        Limits.parse(min_score=min_score)
    with pytest.raises(InputError, match="not a probability"):
        Query.parse("Who?", MODEL, min_score=min_score)


@pytest.mark.parametrize("question", ["", "  \n", "?!"])
def test_a_question_without_words_is_refused(question: str) -> None:
    """Neither letter nor digit is no question."""
    with pytest.raises(BadQuestion):
        Query.parse(question, MODEL)


def test_a_query_holds_everything_that_is_asked() -> None:
    """Text, vector, terms, coverage, documents and limits, from the encoder and the caller."""
    text = "What do the bees, the BEES, build?"
    query = Query.parse(
        text, MODEL, k=2, budget="90t", documents=iter("ab"), min_score=0.25, rerank=False
    )
    assert query.text == text
    np.testing.assert_array_equal(query.vector, MODEL.encode_query(text))
    assert query.terms == ("bee", "build")
    assert query.vocab_coverage == MODEL.vocab_coverage(text)
    assert query.limits == Limits(2, Budget(90, "t"), 0.25)
    assert (query.documents, query.rerank) == (frozenset("ab"), False)
    plain = Query.parse(text, MODEL)
    assert (plain.limits, plain.documents, plain.rerank) == (Limits(), None, True)
