"""One vector a document, in every way in which it can be made."""

from pathlib import Path

import numpy as np
import pytest

from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_eval.embedders import LandmarkEmbedder, SentenceTransformerEmbedder
from milepost_eval.embedders.base import unit
from milepost_eval.systems.whole import Whole
from milepost_eval.vectors import Vectors
from support.tiny_models import WORDS as TEXT
from support.tiny_models import sentence_transformer

DOCUMENTS = (
    Document("long", TEXT * 4),
    Document("blank", " "),
    Document("short", "The bird sat on the tree."),
)
TEXTS = [DOCUMENTS[0].text, DOCUMENTS[2].text]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    folder = sentence_transformer(tmp_path_factory.mktemp("models") / "tiny")
    return SentenceTransformerEmbedder("tiny", folder)


def test_own_is_what_users_get(tiny: SentenceTransformerEmbedder) -> None:
    opened = Whole("document:own", tiny, "own", Vectors(None)).open(DOCUMENTS)
    np.testing.assert_allclose(opened.vectors, unit(tiny.model.encode(TEXTS)), atol=1e-3)
    assert opened.tokens == 30 + 7
    (ranking,) = opened.search(["the bird sat on the tree."])
    assert ranking.documents(3) == ["short", "long"]
    assert ranking.best(1)[0].end == len(TEXTS[1])


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_pooling_of_what_is_read(tiny: SentenceTransformerEmbedder, pooling: str) -> None:
    import torch

    def states(text: str) -> np.ndarray:
        found = tiny.model.tokenizer(text, return_tensors="pt", truncation=True, max_length=32)
        with torch.no_grad():
            rows = tiny.model[0].auto_model(**found).last_hidden_state[0].numpy()
        return rows[0] if pooling == "cls" else rows.mean(axis=0)

    opened = Whole("d", tiny, pooling, Vectors(None)).open(DOCUMENTS)
    wanted = unit(np.array([states(text) for text in TEXTS]))
    np.testing.assert_allclose(opened.vectors, wanted, atol=1e-3)
    asked = unit(np.array([states("a whale")]))
    np.testing.assert_allclose(opened.scores(["a whale"]), asked @ wanted.T, atol=3e-3)
    assert opened.tokens == 30 + 7


def test_late_reads_everything(tiny: SentenceTransformerEmbedder) -> None:
    opened = Whole("d", tiny, "late", Vectors(None)).open(DOCUMENTS)
    wanted = unit(np.array([tiny.within(text, [(0, len(text))])[0][0] for text in TEXTS]))
    np.testing.assert_allclose(opened.vectors, wanted, atol=2e-3)
    assert opened.tokens == sum(tiny.within(text, [])[2] for text in TEXTS) > 37


@pytest.mark.parametrize("pooling", ["lmk", "own", "mean"])
def test_landmarks_read_everything(pooling: str) -> None:
    encoder = fake_encoder()
    model = LandmarkEmbedder(encoder)
    opened = Whole("d", model, pooling, Vectors(None)).open(DOCUMENTS)
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
    tiny: SentenceTransformerEmbedder, tmp_path: Path, pooling: str
) -> None:
    kept = Vectors(tmp_path / "vectors.db")
    runs = [
        Whole("d", tiny, pooling, where).open(DOCUMENTS).scores(["the cat"]).tobytes()
        for where in (Vectors(None), kept, kept)
    ]
    assert len(set(runs)) == 1


def test_what_does_not_go_together_is_refused(tiny: SentenceTransformerEmbedder) -> None:
    model = LandmarkEmbedder(fake_encoder())
    with pytest.raises(InputError, match="unknown pooling 'max'"):
        Whole("d", tiny, "max", Vectors(None))
    with pytest.raises(InputError, match="tiny does not know lmk pooling"):
        Whole("d", tiny, "lmk", Vectors(None))
    with pytest.raises(InputError, match="landmark does not know cls pooling"):
        Whole("d", model, "cls", Vectors(None))
