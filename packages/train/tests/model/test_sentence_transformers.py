"""The real sentence-transformers library on folders of ours."""

from pathlib import Path

import numpy as np
import pytest
import transformers

from milepost_train.model.interop import read_folder, write_folder
from milepost_train.model.landmark_transformer import LandmarkTransformer
from support.foreign_folders import TEXTS, VARIANTS, encoder, settings_of

pytestmark = pytest.mark.filterwarnings("default")


library = pytest.importorskip("sentence_transformers", reason="needs the rivals extra")


@pytest.fixture
def source(tmp_path: Path) -> tuple[object, object]:
    folder = encoder(tmp_path / "source")
    return (
        transformers.AutoModel.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def opened(folder: Path) -> object:
    return library.SentenceTransformer(str(folder), device="cpu", trust_remote_code=True)


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_the_same_vectors(tmp_path: Path, source: tuple[object, object], number: int) -> None:
    lmk = LandmarkTransformer(*source, settings_of(**VARIANTS[number]))
    write_folder(lmk, tmp_path / "out")
    model = opened(tmp_path / "out")
    documents, queries = lmk.encode_documents(TEXTS), lmk.encode_queries(TEXTS)
    near = 1e-6 * np.linalg.norm(documents, axis=1).max()
    assert np.abs(model.encode_document(TEXTS, batch_size=2) - documents).max() < near
    assert np.abs(model.encode_query(TEXTS) - queries).max() < near
    if not lmk.settings.document_prompt:
        assert np.abs(model.encode(TEXTS) - documents).max() < near
    assert model.get_embedding_dimension() == 32
    assert model.max_seq_length == 64


def test_saved_by_the_library(tmp_path: Path, source: tuple[object, object]) -> None:
    lmk = LandmarkTransformer(*source, settings_of())
    write_folder(lmk, tmp_path / "out")
    opened(tmp_path / "out").save(str(tmp_path / "again"))
    want = lmk.encode_documents(TEXTS)
    assert np.array_equal(read_folder(tmp_path / "again").encode_documents(TEXTS), want)
    assert np.abs(opened(tmp_path / "again").encode(TEXTS) - want).max() < 1e-6


def test_shorter_rows_and_train_mode(tmp_path: Path, source: tuple[object, object]) -> None:
    """``max_seq_length`` can be lowered; train mode does not change where landmarks stand."""
    write_folder(LandmarkTransformer(*source, settings_of()), tmp_path / "out")
    model = opened(tmp_path / "out")
    model.max_seq_length = 20
    want = LandmarkTransformer(*source, settings_of(limit=20)).encode_documents(TEXTS)
    assert np.abs(model.encode(TEXTS) - want).max() < 1e-6
    model.train()
    features = [model.preprocess(TEXTS)["landmark_mask"] for _ in range(4)]
    assert all((mask == features[0]).all() for mask in features)


def test_gradients_reach_the_weights(tmp_path: Path, source: tuple[object, object]) -> None:
    write_folder(LandmarkTransformer(*source, settings_of()), tmp_path / "out")
    model = opened(tmp_path / "out")
    features = model.preprocess(["the cat sat", "the dog"])
    vectors = model(features)["sentence_embedding"]
    (vectors[0] @ vectors[1]).backward()
    moved = [p.grad.abs().sum() > 0 for p in model.parameters() if p.grad is not None]
    assert any(moved)
