"""Model folders whose vectors are the first numbers of the network's."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from click.testing import CliRunner

import milepost
from milepost.console.options import Settings
from milepost.encoder import Encoder
from milepost.engine import find_model
from milepost.engine.manifest import read_manifest
from milepost.engine.openvino import OpenVinoEngine
from milepost.errors import InputError
from milepost_train.cli.export import export
from milepost_train.model import open_checkpoint, release
from milepost_train.model.export import fingerprint
from milepost_train.model.torch_engine import TorchEngine
from support.small_models import write_checkpoint
from support.tiny_transformers import TEXT, tiny_folder

QUESTION = "Who had paid for the voyage?"


def cut(vectors, dimensions):
    """The rule written out: the first numbers, divided by their length."""
    first = vectors.astype(np.float64)[..., :dimensions]
    return first / np.sqrt((first**2).sum(-1, keepdims=True))


@pytest.mark.parametrize("kind", ["bert", "llama"])
def test_vectors_are_cut_and_of_unit_length_again(tmp_path, kind):
    """Landmarks and questions in both precisions; a document is the mean of the cut landmarks."""
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", kind))
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


def test_int8_is_cut_as_well(tmp_path):
    """By the command, compared with torch cut the same way; an index knows the small vectors."""
    pytest.importorskip("nncf", reason="needs the export extra of milepost-train")
    text = tmp_path / "notes.md"
    text.write_text(TEXT * 8, encoding="utf-8")
    arguments = [
        *(write_checkpoint(tmp_path / "ours", "bert"), "--out", tmp_path / "out", "--json"),
        *("--precision", "int8", "--calibration", text, "--dimensions", 16, "--window", 96),
    ]
    done = CliRunner().invoke(
        export, [str(each) for each in arguments], obj=Settings(), catch_exceptions=False
    )
    said = json.loads(done.stdout)
    assert said["dimensions"] == 16
    assert [parity["precision"] for parity in said["parity"]] == ["int8"]
    model = milepost.load(tmp_path / "out", cache=False)
    with milepost.open(model=model) as index:
        index.add(milepost.Document("ship", TEXT))
        assert index.search(QUESTION, k=1)[0].document == "ship"
    assert model.encode(TEXT).vectors.shape == (7, 16)


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


def test_a_cut_model_is_cut_further(tmp_path):
    model = open_checkpoint(write_checkpoint(tmp_path / "m", "bert")).model
    again = model.shortened(20).shortened(6)
    feed = torch.tensor([[2, 80, 81, 3]]), torch.tensor([[0, 1, 1, 1]]), torch.tensor([[3]])
    with torch.no_grad():
        vectors = again(*feed).numpy()
        np.testing.assert_allclose(vectors, cut(model(*feed).numpy(), 6), atol=1e-6)
    with pytest.raises(InputError, match="keep 1 to 6"):
        again.shortened(7)
