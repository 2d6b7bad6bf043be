"""Late interaction, sparse vectors, and one vector a document in every way to make it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from milepost.documents import split
from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document, Span
from milepost_eval.embedders import LandmarkEmbedder, SentenceTransformerEmbedder, WordLlama
from milepost_eval.embedders.base import unit
from milepost_eval.factory import SystemFactory
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.late import Late
from milepost_eval.systems.sparse import Sparse, SparseModel, splade_folder
from milepost_eval.systems.whole import Whole
from milepost_eval.vectors import Vectors
from support.tiny_models import WORDS as TEXT

DOCUMENTS = (Document("one", TEXT * 3), Document("blank", "\n"), Document("two", TEXT[:40]))


def pairs(text: str) -> list[Span]:
    sentences = split(text)
    return [
        (a, d) for (a, _), (_, d) in zip(sentences, [*sentences[1:], sentences[-1]], strict=True)
    ]


def quarters(text: str) -> list[Span]:
    return [(at, min(at + 25, len(text))) for at in range(0, len(text), 25)]


class Counted(SentenceTransformerEmbedder):
    readings = 0

    def within(self, text: str, spans: Sequence[Span]) -> tuple[np.ndarray, np.ndarray, int]:
        self.readings += 1
        return super().within(text, spans)


@pytest.mark.parametrize("splitter", [split, pairs, quarters])
def test_units_are_means_of_their_tokens(tiny: Path, splitter: object) -> None:
    model = SentenceTransformerEmbedder("tiny", tiny)
    opened = Late("late", model, splitter, Vectors(None)).open(DOCUMENTS)
    assert opened.tokens == sum(model.within(d.text, [])[2] for d in DOCUMENTS)
    assert opened.tokens == Dense("d", model, split, Vectors(None)).open(DOCUMENTS).tokens
    for number, document in enumerate(DOCUMENTS):
        first, last = opened.units.document_offsets[number : number + 2]
        spans = [(a, b) for a, b in opened.units.spans[first:last].tolist()]
        wanted = unit(model.within(document.text, spans)[0])
        np.testing.assert_allclose(opened.vectors[first:last], wanted, atol=4e-3)
    asked = model.questions(["the whale"])
    np.testing.assert_allclose(opened.scores(["the whale"]), asked @ opened.vectors.T, atol=2e-3)


def test_one_reading_serves_all_sizes(tiny: Path, tmp_path: Path) -> None:
    model, vectors = Counted("tiny", tiny), Vectors(tmp_path / "vectors.db")
    fresh = [Late("x", model, s, Vectors(None)).open(DOCUMENTS) for s in (split, pairs, quarters)]
    model.readings = 0
    for splitter, wanted, readings in zip((split, pairs, quarters), fresh, (2, 2, 4), strict=True):
        for _ in range(2):
            opened = Late("late", model, splitter, vectors).open(DOCUMENTS)
            assert opened.vectors.tobytes() == wanted.vectors.tobytes()
            assert opened.tokens == wanted.tokens
            assert model.readings == readings


class Weights:
    """Token states by hand: the first sentence has 4,099 tokens, the others one."""

    name = fingerprint = "weights"

    def context(self) -> str:
        return self.fingerprint

    def texts(self, texts: Sequence[str]) -> tuple[np.ndarray, int]:
        return np.zeros((len(texts), 2), np.float32), 0

    def questions(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[1, 0]] * len(texts), np.float32)

    def within(self, text: str, spans: Sequence[Span]) -> tuple[np.ndarray, np.ndarray, int]:
        means = np.array([[1, 0] if start == 0 else [0, 1] for start, _ in spans], np.float32)
        counts = np.array([4099 if start == 0 else 1 for start, _ in spans], np.float32)
        return means, counts, int(counts.sum())


def test_large_counts_are_exact() -> None:
    opened = Late("late", Weights(), lambda t: [(0, len(t))], Vectors(None)).open(
        [Document("d", "A long one. A short one.")]
    )
    np.testing.assert_allclose(opened.vectors[0, 1] / opened.vectors[0, 0], 1 / 4099, rtol=1e-5)


def test_static_embeddings_have_no_context() -> None:
    with pytest.raises(InputError, match="late: wordllama has no token states"):
        Late("late", WordLlama(), split, Vectors(None))


SPARSE = [
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


def test_set_ups_of_one_model_read_a_document_once(splade: Sparse) -> None:
    factory = SystemFactory(Vectors(None))
    opened = factory.make("splade:400").open(SPARSE)
    again = factory.make("splade:400+bm25").open(SPARSE)
    read = factory._sparse["splade-tiny"].document.cache_info()
    assert (read.misses, read.hits) == (2, 2)
    assert again.units is not opened.units


def test_the_sentence_that_answers_is_first(model: SparseModel, splade: Sparse) -> None:
    opened = splade.open(SPARSE)
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
    ranking = next(iter(fused.open(SPARSE).search(["Who lays eggs?"])))
    assert ranking.best(1)[0].document == "bees"


WHOLES = (
    Document("long", TEXT * 4),
    Document("blank", " "),
    Document("short", "The bird sat on the tree."),
)
TEXTS = [WHOLES[0].text, WHOLES[2].text]


def test_own_is_what_users_get(bert: SentenceTransformerEmbedder) -> None:
    opened = Whole("document:own", bert, "own", Vectors(None)).open(WHOLES)
    np.testing.assert_allclose(opened.vectors, unit(bert.model.encode(TEXTS)), atol=1e-3)
    assert opened.tokens == 30 + 7
    (ranking,) = opened.search(["the bird sat on the tree."])
    assert ranking.documents(3) == ["short", "long"]
    assert ranking.best(1)[0].end == len(TEXTS[1])


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_of_what_is_read(bert: SentenceTransformerEmbedder, pooling: str) -> None:
    import torch

    def states(text: str) -> np.ndarray:
        found = bert.model.tokenizer(text, return_tensors="pt", truncation=True, max_length=32)
        with torch.no_grad():
            rows = bert.model[0].auto_model(**found).last_hidden_state[0].numpy()
        return rows[0] if pooling == "cls" else rows.mean(axis=0)

    opened = Whole("d", bert, pooling, Vectors(None)).open(WHOLES)
    wanted = unit(np.array([states(text) for text in TEXTS]))
    np.testing.assert_allclose(opened.vectors, wanted, atol=1e-3)
    asked = unit(np.array([states("a whale")]))
    np.testing.assert_allclose(opened.scores(["a whale"]), asked @ wanted.T, atol=3e-3)
    assert opened.tokens == 30 + 7


def test_late_reads_everything(bert: SentenceTransformerEmbedder) -> None:
    opened = Whole("d", bert, "late", Vectors(None)).open(WHOLES)
    wanted = unit(np.array([bert.within(text, [(0, len(text))])[0][0] for text in TEXTS]))
    np.testing.assert_allclose(opened.vectors, wanted, atol=2e-3)
    assert opened.tokens == sum(bert.within(text, [])[2] for text in TEXTS) > 37


@pytest.mark.parametrize("pooling", ["lmk", "own", "mean"])
def test_landmarks_read_everything(pooling: str) -> None:
    encoder = fake_encoder()
    model = LandmarkEmbedder(encoder)
    opened = Whole("d", model, pooling, Vectors(None)).open(WHOLES)
    if pooling == "mean":
        wanted = [unit(model.within(text, [(0, len(text))])[0])[0] for text in TEXTS]
    else:
        wanted = [encoder.encode(text).document for text in TEXTS]
    np.testing.assert_allclose(opened.vectors, wanted, atol=2e-3)
    assert opened.tokens == sum(map(encoder.count_tokens, TEXTS))
    asked = encoder.encode_query("a whale")
    np.testing.assert_allclose(opened.scores(["a whale"])[0], opened.vectors @ asked, atol=2e-3)


@pytest.mark.parametrize("pooling", ["own", "cls", "mean", "late"])
def test_what_is_kept_changes_nothing(
    bert: SentenceTransformerEmbedder, tmp_path: Path, pooling: str
) -> None:
    kept = Vectors(tmp_path / "vectors.db")
    runs = [
        Whole("d", bert, pooling, where).open(WHOLES).scores(["the cat"]).tobytes()
        for where in (Vectors(None), kept, kept)
    ]
    assert len(set(runs)) == 1


def test_what_does_not_go_together_is_refused(bert: SentenceTransformerEmbedder) -> None:
    model = LandmarkEmbedder(fake_encoder())
    with pytest.raises(InputError, match="unknown pooling 'max'"):
        Whole("d", bert, "max", Vectors(None))
    with pytest.raises(InputError, match="tiny does not know lmk pooling"):
        Whole("d", bert, "lmk", Vectors(None))
    with pytest.raises(InputError, match="landmark does not know cls pooling"):
        Whole("d", model, "cls", Vectors(None))
