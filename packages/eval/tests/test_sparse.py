"""A learned sparse model as a rival: what it weighs, and that it ranks by it."""

import numpy as np
import pytest

from milepost.text import split
from milepost.types import Document
from milepost_eval.factory import SystemFactory
from milepost_eval.systems.sparse import Sparse, SparseModel, splade_folder
from milepost_eval.vectors import Vectors

DOCUMENTS = [
    Document("bees", "The queen lays all the eggs. A car needs fuel. Bees build cells of wax."),
    Document("empty", ""),
    Document("cities", "Paris is the capital of France.\n\nThe Seine flows through it."),
]


@pytest.fixture(scope="module")
def model() -> SparseModel:
    pytest.importorskip("sentence_transformers", reason="needs the rivals extra")
    pytest.importorskip("cognition", reason="splade-tiny: pip install -r bench/requirements.txt")
    return SparseModel(splade_folder())


@pytest.fixture(scope="module")
def splade(model: SparseModel) -> Sparse:
    return Sparse("splade:sentence", model, split)


def test_words_weigh_and_so_do_words_that_are_meant(model: SparseModel) -> None:
    rows = model.rows(["The automobile is out of petrol."]).toarray()[0]
    words = model.model.tokenizer.convert_ids_to_tokens(np.argsort(-rows)[:40].tolist())
    assert rows.min() >= 0
    assert "automobile" in words
    assert "car" in words  # not written


def test_bfloat16_weighs_almost_alike(model: SparseModel) -> None:
    rounded = SparseModel(model.folder, "bfloat16")
    assert rounded.fingerprint != model.fingerprint
    texts = ["The automobile is out of petrol.", "Bees build cells of wax."]
    one, other = (each.rows(texts).toarray() for each in (model, rounded))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    assert ((one * other).sum(1) / lengths).min() > 0.999


def test_set_ups_of_one_model_read_a_document_once(splade: Sparse) -> None:
    factory = SystemFactory(Vectors(None))
    opened = factory.make("splade:400").open(DOCUMENTS)
    again = factory.make("splade:400+bm25").open(DOCUMENTS)
    read = factory._sparse["splade-tiny"].document.cache_info()
    assert (read.misses, read.hits) == (2, 2)
    assert again.units is not opened.units


def test_the_sentence_that_answers_is_first(model: SparseModel, splade: Sparse) -> None:
    opened = splade.open(DOCUMENTS)
    questions = ["Which city governs France?", "What does an automobile consume?"]
    first = [ranking.best(1)[0] for ranking in opened.search(questions)]
    assert [(each.document, each.start) for each in first] == [("cities", 0), ("bees", 29)]
    scores = opened.scores(questions)
    assert scores.shape == (2, len(opened.units))
    longhand = model.rows(questions, questions=True).toarray() @ opened._rows.toarray().T
    np.testing.assert_allclose(scores, longhand, rtol=1e-5)
    assert opened.tokens > 20


def test_it_joins_words_over_the_same_units(splade: Sparse) -> None:
    fused = SystemFactory(Vectors(None)).make("splade:400+bm25")
    ranking = next(iter(fused.open(DOCUMENTS).search(["Who lays eggs?"])))
    assert ranking.best(1)[0].document == "bees"


def test_no_documents_no_units(splade: Sparse) -> None:
    opened = splade.open([Document("empty", "")])
    assert opened.scores(["anything"]).shape == (1, 0)
