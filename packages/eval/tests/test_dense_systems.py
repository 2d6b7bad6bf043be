"""Units encoded alone: the nearest first, with neighbours where asked, kept on disk."""

import numpy as np
import pytest

from milepost.testing import fake_encoder
from milepost.text import split
from milepost.types import Document
from milepost_eval.embedders import LandmarkEmbedder
from milepost_eval.systems.dense import Dense
from milepost_eval.types import Place
from milepost_eval.vectors import Vectors

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
            SENTENCES[number] for number in np.argsort(-row, kind="stable")[:3]
        ]


def test_a_sentence_finds_itself() -> None:
    for sentence, ranking in zip(SENTENCES, dense().open(DOCUMENTS).search(SENTENCES), strict=True):
        (best,) = ranking.best(1)
        assert words(best) == sentence
        assert best.score == pytest.approx(1.0, abs=2e-3)


def test_many_questions_are_answered_in_order() -> None:
    questions = [SENTENCES[number % 8] for number in range(150)]
    rankings = list(dense().open(DOCUMENTS).search(questions))
    assert [words(ranking.best(1)[0]) for ranking in rankings] == questions


def test_a_window_returns_neighbours() -> None:
    (ranking,) = dense(window=1).open(DOCUMENTS).search(["Bees build cells of wax."])
    places = ranking.best(8)
    assert words(places[0]) == "Bees build cells of wax. The queen lays eggs."
    assert len(places) == 8
    shown = {words(place) for place in places}
    assert "They dive deep.\n\nSailors saw one. It sank a ship." in shown
    assert "It sank a ship. Why?" in shown
    assert ranking.documents(2) == ["hive", "sea"]


def test_windows_that_overlap_are_paid_for_again() -> None:
    (ranking,) = dense(window=3).open(DOCUMENTS).search(["The queen lays eggs."])
    everything = ranking.best(8)
    assert words(everything[0]) == DOCUMENTS[2].text
    for budget in (1, len(DOCUMENTS[2].text), len(DOCUMENTS[2].text) + 1, 10**6):
        spent = ranking.spend(budget)
        assert spent == everything[: len(spent)]
        lengths = [place.end - place.start for place in spent]
        assert sum(lengths) >= budget or len(spent) == 8
        assert sum(lengths[:-1]) < budget


@pytest.mark.parametrize("documents", [(), (DOCUMENTS[1],)])
@pytest.mark.parametrize("window", [0, 2])
def test_nothing_to_search(documents: tuple[Document, ...], window: int) -> None:
    opened = dense(window).open(documents)
    assert opened.scores(["Why?"]).shape == (1, 0)
    (ranking,) = opened.search(["Why?"])
    assert (ranking.best(3), ranking.spend(100), ranking.documents(3)) == ([], [], [])
    assert opened.tokens == 0
