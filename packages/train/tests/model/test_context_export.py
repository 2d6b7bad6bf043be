"""Model folders whose landmarks have a context vector beside their own."""

from dataclasses import replace

import numpy as np

from milepost.encoder import Encoder
from milepost.encoder.engine import find_model
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost_train.model import open_checkpoint, release
from milepost_train.model.torch_engine import TorchEngine
from support.tiny_transformers import TEXT, tiny_folder


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
