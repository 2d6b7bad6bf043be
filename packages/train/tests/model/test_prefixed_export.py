"""Prefixes of questions and context vectors on their way from a checkpoint to a model folder."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from milepost.encoder import Encoder
from milepost.encoder.engine import ModelFolder, find_model
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost_train.model import open_checkpoint, release
from milepost_train.model.export import fingerprint
from milepost_train.model.landmark_encoder import TorchEngine
from support.tiny_models import TEXT, tiny_folder, write_checkpoint

PREFIX = "who asks: "
QUESTIONS = ("Who had paid for the voyage?", " ice ", TEXT)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "qwen2"])
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


def test_without_a_prefix_the_fingerprint_does_not_depend_on_it(tmp_path):
    """landmark.json names its schema; the fingerprint sums what changes vectors, and no prefix."""
    folder = write_checkpoint(tmp_path / "m", "bert")
    opened = open_checkpoint(folder)
    opened.save(tmp_path / "saved")
    assert list(json.loads((tmp_path / "saved" / "landmark.json").read_text())) == [
        *("schema", "bos_token", "landmark", "own_sentence", "bidirectional", "transformers"),
        *("window", "left", "right", "longest", "query_prefix"),
    ]
    manifest = release(opened, tmp_path / "out").manifest
    assert manifest.query_prefix == ""
    asked = replace(manifest, query_prefix=PREFIX)
    other = fingerprint(opened.model, tmp_path / "out" / "tokenizer.json", asked)
    assert other != manifest.fingerprint
    digest = hashlib.sha256()
    for key, weight in sorted(opened.model.backbone.state_dict().items()):
        digest.update(key.encode() + weight.half().numpy().tobytes())
    digest.update((tmp_path / "out" / "tokenizer.json").read_bytes())
    sizes = {"window": 512, "left": 128, "right": 64, "longest": 128, "own_sentence": True}
    digest.update(json.dumps({"bos_token": "[CLS]", "landmark": "[SEP]", **sizes}).encode())
    assert manifest.fingerprint == digest.hexdigest()[:16]


def test_windows_of_any_number_of_sentences_are_those_of_torch(tmp_path):
    """The graph was traced with one number of landmarks, and reads one question and many."""
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", "bert"))
    opened.reading = replace(opened.reading, own_sentence=True, context=8, context_layers=2)
    opened.model.read_as(opened.reading)
    release(opened, tmp_path / "out", precisions=["f32"])
    folder = find_model(tmp_path / "out")
    encoder = Encoder(folder, OpenVinoEngine(folder.graph("f32"), cache=None))
    by_torch = Encoder(folder, TorchEngine(opened.model))
    assert encoder.dimensions == 32 + 8
    for text in (TEXT, "Bees build.", "Who pays? Nobody. " * 40):
        found, wanted = (each.encode(text).vectors for each in (encoder, by_torch))
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    asked = encoder.encode_query("Who pays?"), by_torch.encode_query("Who pays?")
    np.testing.assert_allclose(*asked, atol=1e-4)
