"""A cross-encoder orders the best of another system; nothing is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from milepost.errors import InputError, ModelError
from milepost.testing import fake_encoder
from milepost.text import split
from milepost.types import Document
from milepost_eval.catalogue import Catalogue, SystemRow
from milepost_eval.embedders import LandmarkEmbedder
from milepost_eval.factory import SystemFactory
from milepost_eval.systems.dense import Dense
from milepost_eval.systems.rerank import Reranked
from milepost_eval.vectors import Vectors
from support.tiny_models import TEXT, cross_encoder

DOCUMENTS = (
    Document("one", TEXT),
    Document("two", "A bird sings in the tree. The sea was far."),
    Document("three", "The old mat. A dog on it."),
)
QUESTION = "The whale sings"
INNER = Dense("sentence", LandmarkEmbedder(fake_encoder()), split, Vectors(None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small cross-encoder."""
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    return cross_encoder(tmp_path_factory.mktemp("models") / "cross")


def test_the_best_are_ordered_by_the_cross_encoder(folder: Path) -> None:
    """The first ``top`` units stand in the order of the cross-encoder's scores for the pair."""
    from sentence_transformers import CrossEncoder

    (inner,) = INNER.open(DOCUMENTS).search([QUESTION])
    opened = Reranked("r", INNER, folder, top=4).open(DOCUMENTS)
    (ranking,) = opened.search([QUESTION])
    texts = {document.name: document.text for document in DOCUMENTS}
    candidates = [texts[place.document][place.start : place.end] for place in inner.best(4)]
    wanted = CrossEncoder(str(folder), device="cpu").predict(
        [(QUESTION, text) for text in candidates], show_progress_bar=False
    )
    got = [texts[place.document][place.start : place.end] for place in ranking.best(4)]
    assert got == [candidates[n] for n in np.argsort(-wanted, kind="stable")]
    assert got != candidates
    assert opened.tokens == INNER.open(DOCUMENTS).tokens


def test_the_rest_follow_in_their_order(folder: Path) -> None:
    """Behind the reordered ones stand all others as before, with falling scores."""
    (inner,) = INNER.open(DOCUMENTS).search([QUESTION])
    (ranking,) = Reranked("r", INNER, folder, top=3).open(DOCUMENTS).search([QUESTION])
    places, before = ranking.best(100), inner.best(100)
    assert [(p.document, p.start) for p in places[3:]] == [
        (p.document, p.start) for p in before[3:]
    ]
    assert {(p.document, p.start, p.end) for p in places} == {
        (p.document, p.start, p.end) for p in before
    }
    scores = [place.score for place in places]
    assert scores == sorted(scores, reverse=True)
    assert ranking.best(2) == places[:2]


def test_a_budget_is_filled(folder: Path) -> None:
    """Whole units in order until the budget is full, from beyond the reordered ones if need be."""
    (ranking,) = Reranked("r", INNER, folder, top=2).open(DOCUMENTS).search([QUESTION])
    everything = ranking.best(100)
    for budget in (1, 30, 80, 140, 10**6):
        places = ranking.spend(budget)
        lengths = [place.end - place.start for place in places]
        assert places == everything[: len(places)]
        assert sum(lengths) >= budget or len(places) == len(everything)
        assert sum(lengths[:-1]) < budget


def test_documents_follow_their_best_unit(folder: Path) -> None:
    """Documents of reordered units come first, the others after them, each once."""
    (ranking,) = Reranked("r", INNER, folder, top=3).open(DOCUMENTS).search([QUESTION])
    documents = ranking.documents(3)
    assert sorted(documents) == ["one", "three", "two"]
    assert documents[0] == ranking.best(1)[0].document
    assert ranking.documents(1) == documents[:1]


def test_a_cross_encoder_by_its_name_on_the_hub(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in the hub's cache orders as its folder does; one that nobody has is refused."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    cached = tmp_path / "models--somebody--cross"
    shutil.copytree(folder, cached / "snapshots" / "0123abc")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("0123abc")
    crosses = {"named": "somebody/cross", "own": str(folder), "unknown": "nobody/nothing"}
    rows = {name: SystemRow("bm25", cross_encoder=cross) for name, cross in crosses.items()}
    factory = SystemFactory(Vectors(None), catalogue=Catalogue(rows))
    named, own = factory.make("named"), factory.make("own")
    assert named.name == "named"
    assert named.fingerprint == own.fingerprint
    found, wanted = (list(s.open(DOCUMENTS).search([QUESTION])) for s in (named, own))
    assert found[0].best(5) == wanted[0].best(5)
    with pytest.raises(ModelError, match="from the Hugging Face hub failed") as refused:
        factory.make("unknown")
    assert "owner/name" in refused.value.hint


def test_nothing_to_reorder(folder: Path) -> None:
    """Without a unit there is nothing to read."""
    (ranking,) = Reranked("r", INNER, folder).open([Document("d", " ")]).search([QUESTION])
    assert (ranking.best(3), ranking.spend(10)) == ([], [])


def test_bfloat16_scores_are_usable(folder: Path) -> None:
    """In half the digits scores are still finite figures in order."""
    opened = Reranked("r", INNER, folder, dtype="bfloat16").open(DOCUMENTS)
    (ranking,) = opened.search([QUESTION])
    scores = [place.score for place in ranking.best(100)]
    assert np.isfinite(scores).all()
    assert scores == sorted(scores, reverse=True)


def test_folders_that_are_no_reranker_are_refused(folder: Path, tmp_path: Path) -> None:
    """A folder that is missing, damaged, or of several scores is an error that names it."""
    with pytest.raises(InputError, match="is not a folder"):
        Reranked("r", INNER, tmp_path / "none")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="loaded by sentence-transformers as a cross-encoder"):
        list(Reranked("r", INNER, tmp_path).open(DOCUMENTS).search([QUESTION]))
    two = cross_encoder(tmp_path / "two", labels=2)
    with pytest.raises(InputError, match="gives 2 scores a pair"):
        list(Reranked("r", INNER, two).open(DOCUMENTS).search([QUESTION]))


def test_the_fingerprint_follows_both_models(folder: Path) -> None:
    """Another candidate count is another result."""
    made = {Reranked("r", INNER, folder, top=top).fingerprint for top in (10, 20)}
    assert len(made) == 2
    assert all(INNER.fingerprint in fingerprint for fingerprint in made)
