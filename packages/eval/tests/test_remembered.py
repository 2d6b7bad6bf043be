"""The encoder that keeps what it has read."""

from pathlib import Path

import numpy as np

from milepost import testing
from milepost.engine.folder import ModelFolder
from milepost.engine.tokenizer import Tokenizer
from milepost.testing import FakeEngine, fake_encoder
from milepost.types import Document
from milepost_eval.vectors import CachedEncoder, Vectors

TEXT = "Bees build cells of wax. The queen lays the eggs. Drones do not work. " * 20


class _Engine(FakeEngine):
    calls = 0

    def run(self, ids, sentences, marks):
        self.calls += 1
        return super().run(ids, sentences, marks)


def _remembered(path, **settings):
    plain = fake_encoder(**settings)
    manifest = plain.manifest
    engine = _Engine(plain.dimensions, vocabulary=len(testing._vocabulary()))
    tokenizer = Tokenizer(testing._backend(), manifest.bos_token, manifest.landmark)
    folder = ModelFolder(Path("nowhere"), manifest)
    return plain, CachedEncoder(folder, engine, Vectors(path), tokenizer), engine


def test_it_reads_as_the_encoder_does_and_a_second_time_without_the_network(tmp_path):
    plain, encoder, engine = _remembered(tmp_path / "v.sqlite")
    wanted = plain.encode(Document("d", TEXT))
    first = encoder.encode(Document("d", TEXT))
    assert np.abs(first.vectors - wanted.vectors).max() < 1e-3
    assert first.spans.tolist() == wanted.spans.tolist()
    assert first.tokens_read == wanted.tokens_read == first.tokens_given
    assert np.array_equal(first.vocab_coverage, wanted.vocab_coverage)
    calls = engine.calls
    assert calls > 0
    again = _remembered(tmp_path / "v.sqlite")
    second = again[1].encode(Document("d", TEXT))
    assert again[2].calls == 0
    assert second.vectors.tobytes() == first.vectors.tobytes()


def test_questions_are_kept_too(tmp_path):
    plain, encoder, engine = _remembered(tmp_path / "v.sqlite")
    question = "Who lays the eggs?"
    vectors = [encoder.encode_query(question) for _ in range(2)]
    assert engine.calls == 1
    assert np.abs(vectors[0] - plain.encode_query(question)).max() < 1e-3
    assert vectors[0].tobytes() == vectors[1].tobytes()


def test_another_window_is_another_reading(tmp_path):
    _remembered(tmp_path / "v.sqlite")[1].encode(TEXT)
    _, encoder, engine = _remembered(tmp_path / "v.sqlite", window=200)
    encoder.encode(TEXT)
    assert engine.calls > 0
