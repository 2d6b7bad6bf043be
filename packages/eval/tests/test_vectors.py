"""Vectors kept by content and fingerprint."""

import multiprocessing
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from milepost import testing
from milepost.encoder.engine.folder import ModelFolder
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError
from milepost.testing import FakeEngine, fake_encoder
from milepost.types import Document
from milepost_eval.vectors import CachedEncoder, Vectors
from support.vectors import made, open_together


def test_vectors_are_made_once_and_come_back_the_same(tmp_path):
    calls = []
    first, tokens = Vectors(tmp_path / "v.sqlite").get("m", ["a", "b"], made(calls))
    later = Vectors(tmp_path / "v.sqlite")
    second, again = later.get("m", ["a", "b"], made(calls))
    assert calls == [1]
    assert (tokens, again, later.kept) == (7, 7, 1)
    assert first.tobytes() == second.tobytes()
    assert np.abs(first - [[0.1, 0.2], [0.3, 0.4]]).max() < 1e-3


@pytest.mark.parametrize(
    ("fingerprint", "texts"), [("other", ["a", "b"]), ("m", ["ab"]), ("m", ["a", "b", ""])]
)
def test_another_model_or_text_is_another_key(tmp_path, fingerprint, texts):
    vectors, calls = Vectors(tmp_path / "v.sqlite"), []
    vectors.get("m", ["a", "b"], made(calls))
    vectors.get(fingerprint, texts, made(calls))
    assert calls == [1, 1]


def test_without_a_file_everything_is_made_anew_and_rounded_alike(tmp_path):
    calls = []
    none = Vectors(None)
    loose, _ = none.get("m", ["a"], made(calls))
    none.get("m", ["a"], made(calls))
    kept, _ = Vectors(tmp_path / "v.sqlite").get("m", ["a"], made(calls))
    assert calls == [1, 1, 1]
    assert loose.tobytes() == kept.tobytes()


def test_a_file_that_holds_something_else_is_named(tmp_path):
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"this is a shopping list, " * 50)
    with pytest.raises(InputError, match=r"v\.sqlite cannot hold vectors.*--cache"):
        Vectors(path)


def test_a_full_disk_is_told_and_what_was_kept_stays(tmp_path):
    path, calls = tmp_path / "v.sqlite", []
    Vectors(path).get("m", ["a"], made(calls))
    with sqlite3.connect(path) as file:
        pages = file.execute("PRAGMA page_count").fetchone()[0]

    class Full(Vectors):
        def _connect(self):
            connection = super()._connect()
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

    full = Full(path)
    with pytest.raises(InputError, match="cannot be written"):
        full.get("m", ["b"], lambda: (np.zeros((9000, 8), np.float32), 1))
    full.get("m", ["a"], made(calls))
    assert calls == [1]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET rows = substr(rows, 1, 3)",
        "UPDATE vectors SET width = 0",
        "UPDATE vectors SET rows = NULL",
        "ALTER TABLE vectors RENAME COLUMN width TO height",
    ],
)
def test_a_damaged_row_is_named_and_never_read(tmp_path, damage):
    path = tmp_path / "v.sqlite"
    vectors = Vectors(path)
    vectors.get("m", ["a"], made([]))
    with sqlite3.connect(path) as file:
        file.execute(damage)
    with pytest.raises(InputError, match=r"v\.sqlite is damaged.*delete it.*--cache"):
        vectors.get("m", ["a"], made([]))


def test_two_processes_may_make_the_file_at_once(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=open_together, args=(tmp_path, barrier, found)) for _ in range(2)
    ]
    for process in both:
        process.start()
    told = [found.get(timeout=100) for _ in both]
    for process in both:
        process.join()
    assert told == ["", ""]


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
    _, narrow, other = _remembered(tmp_path / "v.sqlite", window=200)
    narrow.encode(Document("d", TEXT))
    assert other.calls > 0  # another window is another reading


def test_questions_are_kept_too(tmp_path):
    plain, encoder, engine = _remembered(tmp_path / "v.sqlite")
    question = "Who lays the eggs?"
    vectors = [encoder.encode_query(question) for _ in range(2)]
    assert engine.calls == 1
    assert np.abs(vectors[0] - plain.encode_query(question)).max() < 1e-3
    assert vectors[0].tobytes() == vectors[1].tobytes()
