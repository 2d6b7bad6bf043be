"""Systems over landmarks, scales, dense vectors, and both with words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import milepost
from milepost.documents import split
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.embedders import LandmarkEmbedder
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.fused import Fused
from milepost_eval.systems.landmark import Landmarks, Milepost
from milepost_eval.systems.scales import Scales, with_neighbours
from milepost_eval.systems.units import Units
from milepost_eval.types import Place
from milepost_eval.vectors import Vectors

BEES = "Bees build cells of wax. The queen lays the eggs. Drones do not work. " * 6


@given(st.lists(st.lists(st.floats(-1, 1, width=32), max_size=9), min_size=1, max_size=4))
def test_against_the_rule_written_out(texts: list[list[float]]) -> None:
    document_offsets = np.cumsum([0, *map(len, texts)])
    scores = np.array([score for text in texts for score in text], np.float32)
    wanted = []
    for text in texts:
        for n in range(len(text)):
            near = [text[max(0, n - reach) : n + reach + 1] for reach in (0, 1, 3)]
            wanted.append(sum(sum(some) / len(some) for some in near) / 3)
    assert with_neighbours(scores, document_offsets) == pytest.approx(wanted, abs=1e-6)


def test_the_system_scores_by_it() -> None:
    documents = [Document("bees", BEES), Document("one", "Ships carry grain.")]
    encoder = fake_encoder()
    inner = Landmarks("landmark-only", encoder)
    system = Scales("landmark-scales", inner)
    assert system.fingerprint == inner.fingerprint
    opened, alone = system.open(documents), inner.open(documents)
    assert opened.tokens == alone.tokens > 0
    question = "Who lays eggs in cells of wax?"
    (ranking,) = opened.search([question])
    wanted = with_neighbours(alone.scores([question])[0], alone.units.document_offsets)
    best = ranking.best(5)
    assert [place.score for place in best] == pytest.approx(sorted(wanted, reverse=True)[:5])


SHIPS = "Ships carry grain to the harbour. The captain eats cheese. Cranes lift the grain. " * 6
QUESTIONS = ["Who lays eggs in cells of wax?", "What do cranes lift?", "zzz"]


@pytest.fixture(scope="module")
def documents():
    return [Document("bees", BEES), Document("ships", SHIPS)]


def test_places_are_the_passages_and_hits_of_the_index(documents):
    encoder = fake_encoder()
    index = milepost.open(model=encoder)
    index.add(documents)
    opened = Milepost("landmark", encoder).open(documents)
    for question, ranking in zip(QUESTIONS, opened.search(QUESTIONS), strict=True):
        for budget in (60, 200, 100_000):
            passages = index.search(question, k=None, budget=budget)
            wanted = [(p.document, p.start, p.end) for p in passages]
            assert [(p.document, p.start, p.end) for p in ranking.spend(budget)] == wanted
    (ranking,) = opened.search(QUESTIONS[:1])
    passages = index.search(QUESTIONS[0], k=None, budget=100_000)
    hits = sorted((-h.logit, p.document) for p in passages for h in p.hits)
    best = ranking.best(10)
    assert np.allclose([p.score for p in best], [-score for score, _ in hits[:10]])
    assert ranking.documents(5) == ["bees", "ships"]
    assert ranking.documents(1) == ["bees"]
    assert opened.tokens == sum(encoder.encode(d).tokens_read for d in documents)


def test_landmarks_alone_are_cosines(documents):
    encoder = fake_encoder()
    opened = Landmarks("landmark-only", encoder).open(documents)
    scores = opened.scores(QUESTIONS)
    marks = [encoder.encode(document) for document in documents]
    asked = encoder.encode_query(QUESTIONS[1])
    wanted = np.concatenate([each.vectors for each in marks]) @ asked
    assert np.allclose(scores[1], wanted, atol=1e-6)
    assert len(opened.units) == len(wanted)
    place = list(opened.search(QUESTIONS))[1].best(1)[0]
    text = {d.name: d.text for d in documents}[place.document]
    assert "Cranes lift" in text[place.start : place.end]


TEXT = "aaaa bbbb cccc dddd"
LETTERS = [Document("d", TEXT)]


def _words(text):
    return [(at, at + 4) for at in range(0, len(text), 5)]


class _Given:
    def __init__(self, scores, splitter=_words):
        self.name = self.fingerprint = "given"
        self._scores, self._splitter = scores, splitter

    def open(self, documents):
        self.units = Units.of(documents, self._splitter)
        self.tokens = 3
        return self

    def scores(self, questions):
        return np.array([self._scores] * len(questions), np.float32)


FAR = [1.0, 3.0, 2.0, 99.0]


@pytest.mark.parametrize(
    ("first", "second", "options", "order"),
    [
        # D leads the one list by far and is last in the other; b is second in both and wins.
        (FAR, [4.0, 3.0, 2.0, 1.0], {"by": "rank"}, "b"),
        (FAR, [4.0, 3.0, 2.0, 1.0], {"by": "score", "weight": 2.0}, "d"),
        # Where no word matches, vectors decide alone.
        ([3.0, 1.0, 4.0, 2.0], [0.0] * 4, {"by": "rank"}, "cadb"),
        ([3.0, 1.0, 4.0, 2.0], [0.0] * 4, {"by": "score"}, "cadb"),
        # The weight is of the first.
        ([4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], {"weight": 0.0}, "dcba"),
        ([4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], {"weight": 9.0}, "abcd"),
    ],
)
def test_the_order_of_two_lists_joined(first, second, options, order):
    fused = Fused("f", _Given(first), _Given(second), **options)
    (ranking,) = fused.open(LETTERS).search(["?"])
    assert "".join(TEXT[p.start] for p in ranking.best(4)).startswith(order)


def test_by_rank_what_no_word_matches_gets_nothing_from_words():
    """By hand: c, which alone is matched, 1/63 + 1/61; the others their vectors' 1/(60+rank)."""
    first, second = _Given([3.0, 4.0, 2.0, 1.0]), _Given([0.0, 0.0, 7.0, 0.0])
    (ranking,) = Fused("f", first, second, by="rank").open(LETTERS).search(["?"])
    assert ranking.scores.tolist() == pytest.approx([1 / 62, 1 / 61, 1 / 63 + 1 / 61, 1 / 64])


def test_systems_over_other_units_cannot_be_joined():
    """Scores of sentences and of chunks do not add up."""
    other = _Given([1.0, 2.0], lambda text: [(0, 9), (10, 19)])
    with pytest.raises(ValueError, match="other units"):
        Fused("f", _Given([1.0] * 4), other).open(LETTERS)


DOCUMENTS = (
    Document(
        "sea", "  Whales breathe air. They dive deep.\n\nSailors saw one. It sank a ship. Why?"
    ),
    Document("blank", " \n "),
    Document("hive", "Bees build cells of wax. The queen lays eggs. Drones leave in autumn."),
)
SENTENCES = [
    "Whales breathe air.",
    "They dive deep.",
    "Sailors saw one.",
    "It sank a ship.",
    "Why?",
    "Bees build cells of wax.",
    "The queen lays eggs.",
    "Drones leave in autumn.",
]
AS_RETURNED = [d.text[a:b] for d in DOCUMENTS for a, b in split(d.text) if d.text[a:b].strip()]
MODEL = LandmarkEmbedder(fake_encoder())


def dense(window: int = 0) -> Dense:
    return Dense("sentence", MODEL, split, Vectors(None), window)


def words(place: Place) -> str:
    text = {document.name: document.text for document in DOCUMENTS}[place.document]
    return text[place.start : place.end]


def test_scores_are_cosines_of_texts_read_alone() -> None:
    opened = dense().open(DOCUMENTS)
    assert [t for n in range(3) for t in opened.units.texts(n)] == SENTENCES
    vectors, tokens = MODEL.texts(SENTENCES)
    assert opened.tokens == tokens
    questions = ["Where do bees build cells?", "Who saw whales?"]
    scores = opened.scores(questions)
    np.testing.assert_allclose(scores, MODEL.questions(questions) @ vectors.T, atol=2e-3)
    for ranking, row in zip(opened.search(questions), scores, strict=True):
        assert [words(place) for place in ranking.best(3)] == [
            AS_RETURNED[number] for number in np.argsort(-row, kind="stable")[:3]
        ]


def test_many_questions_are_answered_in_order() -> None:
    questions = [SENTENCES[number % 8] for number in range(150)]
    rankings = list(dense().open(DOCUMENTS).search(questions))
    assert [words(ranking.best(1)[0]) for ranking in rankings] == [
        AS_RETURNED[number % 8] for number in range(150)
    ]


def test_a_window_returns_neighbours() -> None:
    (ranking,) = dense(window=1).open(DOCUMENTS).search(["Bees build cells of wax."])
    places = ranking.best(8)
    assert words(places[0]) == "Bees build cells of wax. The queen lays eggs. "
    assert len(places) == 8
    shown = {words(place) for place in places}
    assert "They dive deep.\n\nSailors saw one. It sank a ship. " in shown
    assert "It sank a ship. Why?" in shown
    assert ranking.documents(2) == ["hive", "sea"]


@pytest.mark.parametrize("documents", [(), (Document("empty", ""),)])
def test_nothing_to_search(documents: tuple[Document, ...]) -> None:
    alone = Landmarks("landmark-only", fake_encoder())
    blank = DOCUMENTS[1:2]
    vectors = [dense(window).open(each) for window in (0, 2) for each in (documents, blank)]
    others = (Milepost("landmark", fake_encoder()), alone, Scales("landmark-scales", alone))
    for opened in (*vectors, *(system.open(documents) for system in others)):
        (ranking,) = opened.search(["Why?"])
        assert ranking.best(3) == ranking.spend(100) == ranking.documents(3) == []
    for opened in vectors:
        assert opened.scores(["Why?"]).shape == (1, 0)
        assert opened.tokens == 0
