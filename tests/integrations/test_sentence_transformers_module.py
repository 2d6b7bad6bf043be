"""A SentenceTransformer with Milepost inside: its own methods give Milepost's vectors."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="needs the integrations extra")

from sentence_transformers import MultiVectorEncoder, SentenceTransformer

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import shipped_models
from milepost.errors import InputError, ModelError
from milepost.integrations import sentence_transformers as adapter
from milepost.integrations.sentence_transformers import MilepostModule
from milepost.testing import fake_encoder
from support.docstring_code import run_use


def sentence_transformer(encoder: Encoder, **options: Any) -> SentenceTransformer:
    return SentenceTransformer(modules=[MilepostModule(encoder)], **options)


TEXTS = ["One whale. Two whales.", "", "Three ships sail. " * 200, "Gold melts.", "Is it?"]


@pytest.fixture(scope="module")
def light() -> Encoder:
    if "landmark-light" not in {model.manifest.name for model in shipped_models()}:
        pytest.skip("landmark-light is not shipped here")
    return milepost.load("landmark-light")


def test_questions_and_texts_are_read_each_in_their_way() -> None:
    encoder = fake_encoder()
    model = sentence_transformer(encoder)
    questions = model.encode_query(TEXTS[:1] + TEXTS[2:], batch_size=2)
    expected = [encoder.encode_query(text) for text in TEXTS[:1] + TEXTS[2:]]
    np.testing.assert_allclose(questions, expected, atol=1e-6)
    for vectors in (model.encode_document(TEXTS, batch_size=2), model.encode(TEXTS)):
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(
            vectors, [encoder.encode(text).document for text in TEXTS], atol=1e-5
        )
    assert not np.allclose(questions[0], model.encode_document(TEXTS[0]), atol=1e-3)


def test_the_librarys_own_options_work() -> None:
    encoder = fake_encoder()
    model = sentence_transformer(encoder, prompts={"query": "question: "}, truncate_dim=16)
    one = model.encode_query("One whale.", truncate_dim=32)
    np.testing.assert_allclose(one, encoder.encode_query("question: One whale."), atol=1e-6)
    assert model.encode(TEXTS[:1]).shape == (1, 16)
    assert model.encode(TEXTS, convert_to_tensor=True).shape == (len(TEXTS), 16)
    assert model.encode(TEXTS, precision="binary").dtype == np.int8
    assert model.get_embedding_dimension() == 16
    with pytest.raises(InputError, match="not dict"):
        MilepostModule(encoder).preprocess([{"text": "a"}])


def test_a_vector_a_sentence(light: Encoder, tmp_path: Path) -> None:
    model = MultiVectorEncoder(modules=[MilepostModule(light, per_sentence=True)])
    found = model.encode_document(TEXTS, batch_size=2)
    assert [len(each) for each in found] == [2, 0, 200, 1, 1]
    np.testing.assert_allclose(found[0], light.encode(TEXTS[0]).vectors, atol=1e-2)
    question = model.encode_query("Who sails?")
    np.testing.assert_allclose(question, light.encode_query("Who sails?")[None], atol=1e-6)
    best = float(model.similarity([question], [found[2]])[0, 0])
    assert best == pytest.approx(float((found[2] @ question[0]).max()), abs=1e-5)
    model.save(str(tmp_path / "saved"))
    again = MultiVectorEncoder(str(tmp_path / "saved"), trust_remote_code=True, device="cpu")
    for each in (again, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(each.encode_query("Who sails?"), question)


def test_a_saved_model_gives_the_same_vectors(light: Encoder, tmp_path: Path) -> None:
    model = sentence_transformer(light)
    model.save(str(tmp_path / "saved"))
    with pytest.raises(ValueError, match="trust_remote_code"):
        SentenceTransformer(str(tmp_path / "saved"))
    again = SentenceTransformer(str(tmp_path / "saved"), trust_remote_code=True, device="cpu")
    again.save(str(tmp_path / "saved"))  # where it is
    for text in ("One whale. Two whales.", "Who signed?"):
        np.testing.assert_array_equal(again.encode(text), model.encode(text))
        np.testing.assert_array_equal(again.encode_query(text), model.encode_query(text))
    inside = next((tmp_path / "saved").glob("0_*"))
    assert milepost.load(inside).fingerprint == light.fingerprint
    copy = pickle.loads(pickle.dumps(model[0]))
    assert copy.get_config_dict() == {"model": "landmark-light", "per_sentence": False}


def test_what_has_no_folder_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        sentence_transformer(fake_encoder()).save(str(tmp_path / "saved"))
    with pytest.raises(ModelError):
        MilepostModule(tmp_path)


def test_the_lines_of_use_run(light: Encoder) -> None:
    model = run_use(adapter)["model"]
    question = model.encode_query("Who signed the contract?")
    scores = model.similarity(question, model.encode_document(["Ada signed it.", "Bees build."]))
    assert scores[0, 0] > scores[0, 1]
