"""Windows that are encoded with the question in front of them."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import milepost
from milepost.encoder.engine.folder import RERANKER, find_model
from milepost.encoder.reranker import LandmarkReranker
from milepost.errors import ModelError
from milepost.testing import fake_encoder
from support.recorded_encoder import recorded

MODEL = fake_encoder()
SENTENCES = ["Bees build cells of wax. ", "The cells are hexagons. ", "Wasps use paper."]


def test_the_question_opens_every_window():
    encoder, engine = recorded(window=40, longest=20)
    asked = LandmarkReranker(encoder).for_query(" Who builds? ")
    ids = asked.tokens(SENTENCES)
    found = asked.read([ids[:2], ids[2:]])
    question = list(MODEL.tokenizer.count(["Who builds?"])[0][0])
    opening, landmark = MODEL.tokenizer.bos_id, MODEL.tokenizer.landmark
    rows = [
        (row, marks)
        for ids_, _, marks_ in engine.batches
        for row, marks in zip(ids_, marks_, strict=True)
    ]
    for window, reading in zip((ids[:2], ids[2:]), found, strict=True):
        wanted = [opening, *question, landmark]
        ends = [len(wanted) - 1]
        for sentence in window:
            wanted += [*sentence, landmark]
            ends.append(len(wanted) - 1)
        marks = next(marks for row, marks in rows if row[: len(wanted)].tolist() == wanted)
        assert marks[: len(ends)].tolist() == ends
        assert reading.cosines.shape == (len(window),)
        vectors = encoder.encode_windows([[question, *window]])[0]
        np.testing.assert_allclose(reading.cosines, vectors[1:] @ vectors[0], atol=1e-6)


def test_what_fits_beside_the_question():
    encoder, _ = recorded(window=40, longest=20)
    reranker = LandmarkReranker(encoder)
    for words in (1, 12, 20):
        asked = reranker.for_query("who " * words)
        assert asked.room == 40 - 2 - words
        cut = min(20, asked.room - 1)
        assert [len(ids) for ids in asked.tokens(["who " * 100, "who"])] == [cut, 1]
        assert asked.read([]) == []
    assert reranker.for_query("who " * 21) is None


def test_windows_are_what_the_caller_made():
    encoder, _ = recorded(window=40, longest=20)
    ids = [list(each[0]) for each in MODEL.tokenizer.count(SENTENCES)]
    rows = [[ids[0], ids[1]], [], [ids[2]], [ids[1]]]
    both = encoder.encode_windows(rows)
    assert [vectors.shape for vectors in both] == [(len(row), 32) for row in rows]
    for row, vectors in zip(rows, both, strict=True):
        np.testing.assert_allclose(vectors, encoder.encode_windows([row])[0], atol=1e-6)
    assert encoder.encode_windows([]) == []


def test_a_model_without_a_reranker():
    assert LandmarkReranker.of(milepost.load("landmark-light")) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped model with itself as its reranker: a landmark model can be one."""
    whole = tmp_path_factory.mktemp("models") / "model"
    shutil.copytree(find_model().path, whole, ignore=shutil.ignore_patterns(RERANKER))
    inside = whole / RERANKER
    inside.mkdir()
    for name in ("milepost.json", "openvino_int8.xml", "openvino_int8.bin"):
        shutil.copy(whole / name, inside / name)
    return whole


def test_a_model_folder_with_a_reranker(folder: Path) -> None:
    model = milepost.load(folder, threads=1)
    reranker = LandmarkReranker.of(model)
    assert "1 threads" in reranker._encoder.engine
    assert reranker._encoder.tokenizer is model.tokenizer
    asked = reranker.for_query("What do insects make their homes of?")
    [window] = asked.read([asked.tokens(SENTENCES)])
    assert window.cosines.shape == (3,)
    assert np.abs(window.cosines).max() <= 1.01
    assert window.verdicts is None
    with milepost.open(model=model) as index:
        index.add(milepost.Document("d", "".join(SENTENCES)))
        question = "What do insects make their homes of?"
        again, first = (index.search(question, k=1, rerank=each)[0] for each in (True, False))
    assert again.hits[0].contributions["reranker"] > 0
    assert "reranker" not in first.hits[0].contributions


def test_a_text_as_a_question_is_not_reranked(folder: Path) -> None:
    with milepost.open(model=milepost.load(folder)) as index:
        index.add(milepost.Document("d", "".join(SENTENCES)))
        passage = index.search("Who builds cells of wax, and why is that so? " * 30, k=1)[0]
    assert "reranker" not in passage.hits[0].contributions


def test_a_damaged_reranker_says_so(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    (copy / RERANKER / "openvino_int8.bin").unlink()
    with pytest.raises(ModelError, match=r"openvino_int8.bin is missing"):
        LandmarkReranker.of(milepost.load(copy))


def test_a_claim_is_read_with_the_sentences_around_the_one_that_is_most_about_it():
    reranker = LandmarkReranker.of(milepost.load("landmark-minilm"))
    filler = "The keeper of the lighthouse counted ships and wrote their names down. "
    sentences = [filler] * 60 + ["The queen lays two thousand eggs a day in spring. "]
    claim = "The queen lays eggs in spring."
    last, first = reranker.judge(claim, sentences, 60)
    assert 0 < first <= 60 - 10
    assert last.cosines.argmax() + first == 60
    whole, first = reranker.judge(claim, sentences)
    assert first == 0
    assert len(whole.cosines) < 60
