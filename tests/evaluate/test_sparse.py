"""A learned sparse model as a rival: what it weighs, and that it ranks by it."""

from __future__ import annotations

import numpy as np
import pytest

from milepost.errors import MissingExtra
from milepost.evaluate.names import Workshop
from milepost.evaluate.systems.sparse import Sparse, splade_folder
from milepost.evaluate.vectors import Vectors
from milepost.types import Document

DOCUMENTS = [
    Document("bees", "The queen lays all the eggs. A car needs fuel. Bees build cells of wax."),
    Document("empty", ""),
    Document("cities", "Paris is the capital of France.\n\nThe Seine flows through it."),
]


@pytest.fixture(scope="module")
def splade() -> Sparse:
    pytest.importorskip("sentence_transformers", reason="needs the rivals extra")
    try:
        splade_folder()
    except MissingExtra as error:
        pytest.skip(str(error))
    made = Workshop(Vectors(None)).make("splade:sentence")
    assert isinstance(made, Sparse)
    return made


def test_words_weigh_and_so_do_words_that_are_meant(splade: Sparse) -> None:
    rows = splade.rows(["The automobile is out of petrol."]).toarray()[0]
    words = splade.model.tokenizer.convert_ids_to_tokens(np.argsort(-rows)[:40].tolist())
    assert rows.min() >= 0
    assert "automobile" in words
    assert "car" in words  # not written


def test_the_sentence_that_answers_is_first(splade: Sparse) -> None:
    opened = splade.open(DOCUMENTS)
    questions = ["Which city governs France?", "What does an automobile consume?"]
    first = [ranking.best(1)[0] for ranking in opened.search(questions)]
    assert [(each.document, each.start) for each in first] == [("cities", 0), ("bees", 29)]
    scores = opened.scores(questions)
    assert scores.shape == (2, len(opened.units))
    longhand = splade.rows(questions, questions=True).toarray() @ opened._rows.toarray().T
    np.testing.assert_allclose(scores, longhand, rtol=1e-5)
    assert opened.tokens > 20


def test_it_joins_words_over_the_same_units(splade: Sparse) -> None:
    fused = Workshop(Vectors(None)).make("splade:400+bm25/2")
    ranking = next(iter(fused.open(DOCUMENTS).search(["Who lays eggs?"])))
    assert ranking.best(1)[0].document == "bees"


def test_no_documents_no_units(splade: Sparse) -> None:
    opened = splade.open([Document("empty", "")])
    assert opened.scores(["anything"]).shape == (1, 0)
