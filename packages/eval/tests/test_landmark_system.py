"""Milepost as a system: what is measured is what users get."""

import numpy as np
import pytest

import milepost
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.systems.landmark import Landmarks, Milepost

BEES = "Bees build cells of wax. The queen lays the eggs. Drones do not work. " * 6
SHIPS = "Ships carry grain to the harbour. The captain eats cheese. Cranes lift the grain. " * 6
QUESTIONS = ["Who lays eggs in cells of wax?", "What do cranes lift?", "zzz"]


@pytest.fixture(scope="module")
def documents():
    return [Document("bees", BEES), Document("ships", SHIPS)]


@pytest.mark.parametrize("budget", [60, 200, 100_000])
def test_what_is_spent_is_what_the_index_returns(documents, budget):
    encoder = fake_encoder()
    index = milepost.open(model=encoder)
    index.add(documents)
    opened = Milepost("landmark", encoder).open(documents)
    for question, ranking in zip(QUESTIONS, opened.search(QUESTIONS), strict=True):
        passages = index.search(question, k=None, budget=budget)
        wanted = [(p.document, p.start, p.end) for p in passages]
        assert [(p.document, p.start, p.end) for p in ranking.spend(budget)] == wanted


def test_best_sentences_are_the_hits_in_order(documents):
    encoder = fake_encoder()
    index = milepost.open(model=encoder)
    index.add(documents)
    opened = Milepost("landmark", encoder).open(documents)
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


def test_no_documents_and_empty_ones_are_no_fault():
    for system in (Milepost("a", fake_encoder()), Landmarks("b", fake_encoder())):
        for documents in ([], [Document("empty", "")]):
            (ranking,) = system.open(documents).search(["What is there?"])
            assert ranking.best(3) == ranking.spend(100) == ranking.documents(3) == []
