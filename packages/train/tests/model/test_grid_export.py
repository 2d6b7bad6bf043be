"""Exports of grids, of shortened vectors, of prefixes of questions and of context vectors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import ModelFolder, find_model
from milepost.encoder.engine.manifest import SENTENCES
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import ModelError
from milepost_train.model import open_checkpoint, release
from milepost_train.model.export import fingerprint
from milepost_train.model.landmark_encoder import TorchEngine
from support.tiny_models import TEXT, tiny_folder


def test_another_interval_is_another_model(tmp_path: Path) -> None:
    """The folder does not say one, the caller does."""
    folder = tiny_folder(tmp_path / "hf", "bert")
    plain, grid, wide = (
        release(folder, tmp_path / f"out{every}", window=64, left=16, granularity=every).manifest
        for every in (None, 8, 62)
    )
    assert plain.granularity == SENTENCES
    assert len({each.fingerprint for each in (plain, grid, wide)}) == 3


def test_a_reranker_closes_sentences(tmp_path: Path) -> None:
    """A grid inside a model's folder says nothing of single sentences, and is refused."""
    folder = tiny_folder(tmp_path / "hf", "bert", num_hidden_layers=1)
    release(folder, tmp_path / "out")
    release(folder, tmp_path / "out" / "reranker", granularity=8)
    with pytest.raises(ModelError, match="every 8 tokens, a reranker after each"):
        LandmarkReranker.of(milepost.load(tmp_path / "out", cache=False))


QUESTION = "Who had paid for the voyage?"


def cut(vectors, dimensions):
    """The rule written out: the first numbers, divided by their length."""
    first = vectors.astype(np.float64)[..., :dimensions]
    return first / np.sqrt((first**2).sum(-1, keepdims=True))


def test_vectors_are_cut_and_of_unit_length_again(tmp_path):
    """Landmarks and questions in both precisions; a document is the mean of the cut landmarks."""
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", "llama"))
    whole = release(opened, tmp_path / "whole").manifest
    done = release(opened, tmp_path / "out", precisions=["f32", "bf16"], dimensions=12)
    assert opened.model.dimensions == 32  # the checkpoint given is as it was
    assert done.manifest.fingerprint != whole.fingerprint
    changed = {"name": "out", "fingerprint": done.manifest.fingerprint, "dimensions": 12}
    assert done.manifest == replace(whole, **changed)
    same = fingerprint(opened.model.shortened(32), tmp_path / "whole" / "tokenizer.json", whole)
    assert same == whole.fingerprint
    assert [parity.precision for parity in done.parity] == ["f32", "bf16"]
    assert done.parity[0].least > 0.9999
    by_torch = Encoder(find_model(tmp_path / "whole"), TorchEngine(opened.model))
    wanted = cut(by_torch.encode(TEXT).vectors, 12)
    for precision, near in (("f32", 1e-4), ("bf16", 0.1)):
        folder = find_model(tmp_path / "out")
        encoder = Encoder(folder, OpenVinoEngine(folder.graph(precision), cache=None))
        marks = encoder.encode(TEXT)
        assert encoder.dimensions == marks.document.shape[0] == 12
        np.testing.assert_allclose(marks.vectors, wanted, atol=near)
        np.testing.assert_allclose(np.linalg.norm(marks.vectors, axis=1), 1.0, atol=1e-5)
        mean = marks.vectors.astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(marks.document, mean / np.linalg.norm(mean), atol=1e-6)
        asked = cut(by_torch.encode_query(QUESTION), 12)
        np.testing.assert_allclose(encoder.encode_query(QUESTION), asked, atol=near)


PREFIX = "who asks: "
QUESTIONS = ("Who had paid for the voyage?", " ice ", TEXT)


@pytest.mark.parametrize("kind", ["xlm-roberta", "qwen2"])
def test_exported_questions_are_those_of_torch(tmp_path, kind):
    """And those of the model without a prefix that is asked prefix and question as one."""
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", kind))
    opened.reading = replace(opened.reading, query_prefix=PREFIX)
    opened.save(tmp_path / "saved", torch.float32)
    again = open_checkpoint(tmp_path / "saved")
    assert again.reading == opened.reading
    said = release(again, tmp_path / "out").manifest
    assert said.query_prefix == PREFIX
    folder = find_model(tmp_path / "out")
    engine = OpenVinoEngine(folder.graph(), cache=None)
    found = Encoder(folder, engine)
    bare = Encoder(ModelFolder(folder.path, replace(said, query_prefix="")), engine)
    by_torch = Encoder(folder, TorchEngine(again.model))
    for question in QUESTIONS:
        vector = found.encode_query(question)
        np.testing.assert_allclose(vector, by_torch.encode_query(question), atol=1e-4)
        np.testing.assert_allclose(vector, bare.encode_query(PREFIX + question.strip()), atol=1e-5)
        assert np.abs(vector - bare.encode_query(question)).max() > 1e-2
    np.testing.assert_allclose(found.encode(TEXT).vectors, bare.encode(TEXT).vectors, atol=1e-5)


def test_windows_of_any_number_of_sentences_are_those_of_torch(tmp_path):
    """The graph was traced with one number of landmarks, and reads one question and many."""
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", "bert"))
    opened.reading = replace(opened.reading, own_sentence=True, context=8, context_layers=2)
    opened.model.read_as(opened.reading)
    release(opened, tmp_path / "out", precisions=["f32"])
    folder = find_model(tmp_path / "out")
    encoder = milepost.load(tmp_path / "out", cache=False)
    by_torch = Encoder(folder, TorchEngine(opened.model))
    assert encoder.dimensions == 32 + 8
    for text in (TEXT, "Bees build.", "Who pays? Nobody. " * 40):
        found, wanted = (each.encode(text).vectors for each in (encoder, by_torch))
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    asked = encoder.encode_query("Who pays?"), by_torch.encode_query("Who pays?")
    np.testing.assert_allclose(*asked, atol=1e-4)
