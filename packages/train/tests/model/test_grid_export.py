"""Exports of grids, of shortened vectors, of prefixes of questions and of context vectors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import ModelFolder, find_model
from milepost.encoder.engine.manifest import SENTENCES, read_manifest
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import InputError, ModelError, WrongModel
from milepost_train.cli.export import export
from milepost_train.model import open_checkpoint, release
from milepost_train.model.export import fingerprint
from milepost_train.model.landmark_encoder import TorchEngine
from support.cli_fixtures import invoked
from support.tiny_models import TEXT, tiny_folder, write_checkpoint

WORDS = "the cat sat on the mat. the dog, a bird and the river sat on the tree! who sat? " * 4


def test_a_folder_that_does_not_say_it(tmp_path: Path) -> None:
    """The caller does; another interval is another model, and windows of long texts hold more."""
    folder = tiny_folder(tmp_path / "hf", "bert")
    plain = release(folder, tmp_path / "plain", window=64, left=16).manifest
    grid, wide = (
        release(folder, tmp_path / f"out{every}", window=64, left=16, granularity=every)
        for every in (8, 62)
    )
    assert plain.granularity == SENTENCES
    prints = {each.fingerprint for each in (plain, grid.manifest, wide.manifest)}
    assert len(prints) == 3
    assert "every 8 tokens" in (tmp_path / "out8" / "README.md").read_text("utf-8")
    for text in (TEXT, TEXT * 6, "a", ""):
        marks = milepost.load(tmp_path / "out62", cache=False).encode(text)
        assert len(marks.vectors) == len(marks.spans)
        assert marks.tokens_read == marks.tokens_given
    index = milepost.open(tmp_path / "db", model=tmp_path / "plain")
    index.add([milepost.Document("ship", TEXT)])
    index.close()
    with pytest.raises(WrongModel):
        milepost.open(tmp_path / "db", model=tmp_path / "out8")


def test_intervals_that_do_not_fit(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "hf", "bert")
    for every in (0, 63):
        with pytest.raises(InputError, match=f"every {every} tokens"):
            release(folder, tmp_path / "out", window=64, left=16, granularity=every)
    assert not (tmp_path / "out").exists()


def test_a_landmark_may_see_its_own_tokens_alone(tmp_path: Path) -> None:
    """Of a checkpoint of ours the last layer keeps its rule: what the landmark closes."""
    folder = write_checkpoint(tmp_path / "ours", "bert")
    assert release(folder, tmp_path / "out", granularity=6).manifest.own_sentence
    opened = open_checkpoint(folder)
    ids = opened.tokenizer.encode(WORDS, add_special_tokens=False).ids[:12]
    row = torch.tensor([[2, *ids[:6], 3, *ids[6:], 3]])
    own = torch.tensor([[0] + [1] * 7 + [2] * 7])
    with torch.no_grad():
        wanted = opened.model(row, own, torch.tensor([[7, 14]]))[0].numpy()
    text = opened.tokenizer.decode(ids)
    found = milepost.load(tmp_path / "out", cache=False).encode(text, spans=[(0, len(text))])
    mean = wanted.mean(axis=0)
    np.testing.assert_allclose(found.document, mean / np.linalg.norm(mean), atol=1e-4)


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
    assert replace(done.manifest, name="whole", fingerprint="", dimensions=32) == replace(
        whole, fingerprint=""
    )
    assert done.manifest.dimensions == 12
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


def test_int8_is_cut_as_well_and_calibrated_on_the_grid(tmp_path):
    """By the command, of a network that is not ours; an index knows the small vectors."""
    pytest.importorskip("nncf", reason="needs the export extra of milepost-train")
    text = tmp_path / "notes.md"
    text.write_text(TEXT * 8, encoding="utf-8")
    done = invoked(
        *(export, tiny_folder(tmp_path / "hf", "xlm-roberta", num_hidden_layers=1), "--json"),
        *("--out", tmp_path / "out"),
        *("--precision", "int8", "--calibration", text, "--dimensions", 16, "--window", 96),
        *("--granularity", 16),
        catch_exceptions=False,
    )
    said = json.loads(done.stdout)
    assert said["dimensions"] == 16
    (parity,) = said["parity"]
    assert parity["precision"] == "int8"
    assert parity["least_wanted"] <= parity["least"] < 0.99999
    assert parity["mean"] >= parity["mean_wanted"]
    model = milepost.load(tmp_path / "out", cache=False)
    with milepost.open(model=model) as index:
        index.add(milepost.Document("ship", TEXT))
        assert index.search(QUESTION, k=1)[0].document == "ship"
    assert model.encode(TEXT).vectors.shape[1] == 16


def test_the_fingerprint_knows_the_size(tmp_path):
    opened = open_checkpoint(write_checkpoint(tmp_path / "m", "bert"))
    manifest = release(opened, tmp_path / "one", dimensions=1).manifest
    assert read_manifest(tmp_path / "one") == manifest
    assert manifest.dimensions == 1
    files = tmp_path / "one" / "tokenizer.json", manifest
    prints = [fingerprint(opened.model.shortened(size), *files) for size in (32, 31, 1)]
    assert prints[0] == fingerprint(opened.model, *files)
    assert prints[2] == manifest.fingerprint
    assert len(set(prints)) == 3


@pytest.mark.parametrize("size", [0, -1, 33])
def test_sizes_that_cannot_be(tmp_path, size):
    folder = write_checkpoint(tmp_path / "m", "bert")
    with pytest.raises(InputError, match=f"cannot be cut to {size}"):
        release(folder, tmp_path / "out", dimensions=size)
    assert not (tmp_path / "out").exists()


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
    encoder = Encoder(folder, OpenVinoEngine(folder.graph("f32"), cache=None))
    by_torch = Encoder(folder, TorchEngine(opened.model))
    assert encoder.dimensions == 32 + 8
    for text in (TEXT, "Bees build.", "Who pays? Nobody. " * 40):
        found, wanted = (each.encode(text).vectors for each in (encoder, by_torch))
        np.testing.assert_allclose(found, wanted, atol=1e-4)
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-5)
    asked = encoder.encode_query("Who pays?"), by_torch.encode_query("Who pays?")
    np.testing.assert_allclose(*asked, atol=1e-4)
