"""Texts of any length to landmarks: everything is read, nothing twice, and spans tile the text."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder import load
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import ModelError
from milepost.testing import fake_encoder
from milepost.types import Document, Landmarks
from support.cli_process import python
from support.recorded_encoder import recorded

MODEL = fake_encoder()
PROSE = (
    "The whale is a mammal, and it breathes air. It dives for an hour at most. "
    "Sailors saw it off the coast in 1851; nobody believed them. "
)


def assert_whole(text: str, marks: Landmarks) -> None:
    """Spans tile the text, shapes agree, and every token was read."""
    n = len(marks.spans)
    assert marks.vectors.shape == (n, MODEL.dimensions)
    assert marks.vectors.dtype == np.float32
    assert marks.vocab_coverage.shape == (n,)
    assert marks.spans.dtype == np.int64
    assert marks.document.shape == (MODEL.dimensions,)
    assert marks.tokens_read == marks.tokens_given
    if text:
        assert marks.spans[0, 0] == 0
        assert marks.spans[-1, 1] == len(text)
        assert (marks.spans[1:, 0] == marks.spans[:-1, 1]).all()
        assert (marks.spans[:, 0] <= marks.spans[:, 1]).all()
        assert ((marks.vocab_coverage >= 0) & (marks.vocab_coverage <= 1)).all()


@pytest.mark.parametrize("repeats", [1, 3, 40, 400])
def test_every_token_is_read(repeats: int) -> None:
    text = PROSE * repeats
    marks = MODEL.encode(text)
    assert_whole(text, marks)
    assert marks.tokens_read == MODEL.count_tokens(text) == repeats * MODEL.count_tokens(PROSE)
    np.testing.assert_allclose(np.linalg.norm(marks.vectors, axis=1), 1.0, atol=1e-5)


def test_a_million_tokens(shared_data: Path) -> None:
    book = shared_data / "book" / "origin-of-species.txt"
    if sys.platform != "linux":
        pytest.skip("the unit of ru_maxrss is another one here")
    code = """
import resource, sys
from pathlib import Path
from milepost.testing import fake_encoder
model = fake_encoder(dimensions=4)
book = Path(sys.argv[1]).read_text(encoding="utf-8")
peaks = []
for text in (book[:100_000], book * 3):
    marks = model.encode(text)
    assert marks.tokens_read == marks.tokens_given
    assert marks.spans[-1, 1] == len(text)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(marks.tokens_read, (peaks[1] - peaks[0]) * 1024)
"""
    done = python("-c", code, book, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    tokens, grown = map(int, done.stdout.split())
    assert tokens > 1_000_000
    # The text itself (4 bytes a token), its ids and spans; measured: 24 bytes a token.
    assert grown < 60 * tokens


def test_an_empty_text_has_no_landmarks() -> None:
    marks = MODEL.encode("")
    assert_whole("", marks)
    assert marks.spans.shape == (0, 2)
    assert (marks.tokens_given, marks.document.any()) == (0, False)


UNICODE = st.one_of(
    st.text(max_size=400),
    st.text(st.characters(), max_size=100),  # lone surrogates included
    st.lists(
        st.sampled_from(
            ["word, ", "a" * 700, "東京都は日本の首都です。", "مرحبا بالعالم؛ ",
             "😀👩\u200d👩\u200d👧", "\n\n", "... ", "é", "שלום ", "[SEP] ", "ภาษาไทย", "ﬁﬀ ",
             "\x00", "x" * 10000, " ", "a;b,c "]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip


@settings(max_examples=120)
@given(UNICODE)
def test_any_text_is_tiled(text: str) -> None:
    assert_whole(text, MODEL.encode(text))


@settings(max_examples=30)
@given(st.text("abc, ;\n.😀字", min_size=1, max_size=600), st.integers(1, 9))
def test_over_long_sentences_are_cut(text: str, longest: int) -> None:
    model = fake_encoder(longest=longest, window=24, left=8, right=4)
    marks = model.encode(text)
    assert_whole(text, marks)
    assert all(model.count_tokens(text[a:b]) <= longest for a, b in marks.spans.tolist())


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (PROSE + "Short. ") * 60
    together = MODEL.encode(text)
    monkeypatch.setattr("milepost.encoder.landmarks._BATCH_TOKENS", 1)
    model, engine = recorded()
    alone = model.encode(text)
    assert {len(ids) for ids, _, _ in engine.batches} == {1}
    np.testing.assert_allclose(alone.vectors, together.vectors, atol=1e-6)
    np.testing.assert_allclose(alone.document, together.document, atol=1e-6)


def test_spans_in_the_place_of_sentences() -> None:
    text = "One two three. Four five. Six seven eight nine ten."
    marks = MODEL.encode(text, spans=[(4, 19), (26, 51)])
    assert marks.spans.tolist() == [[4, 19], [26, 51]]
    assert marks.tokens_read == sum(MODEL.count_tokens(text[a:b]) for a, b in ((4, 19), (26, 51)))
    sentences = MODEL.encode(text)
    again = MODEL.encode(text, spans=[tuple(span) for span in sentences.spans.tolist()])
    assert again.vectors.tobytes() == sentences.vectors.tobytes()
    narrow = fake_encoder(longest=3, window=8, left=0, right=0)
    assert len(narrow.encode(text, spans=[(0, 51)]).spans) > 3
    marks = MODEL.encode(Document("d", text, blocks=(26,)), spans=[(0, 51)])
    assert marks.spans.tolist() == [[0, 51]]


def test_progress_counts_every_sentence() -> None:
    told: list[tuple[int, int]] = []
    marks = MODEL.encode(PROSE * 200, progress=lambda done, count: told.append((done, count)))
    done = [number for number, _ in told]
    assert len(told) > 2
    assert done == sorted(set(done))
    assert told[-1] == (len(marks.spans), len(marks.spans))
    assert {count for _, count in told} == {len(marks.spans)}


def test_borders_of_a_document_are_respected() -> None:
    text = "A heading without a full stop and the words after it"
    at = text.index("and")
    marks = MODEL.encode(Document("d", text, blocks=(at,)))
    assert marks.spans.tolist() == [[0, at], [at, len(text)]]
    assert len(MODEL.encode(text).spans) == 1


def test_texts_read_together() -> None:
    texts = ["One. Two.", "", PROSE * 30, "  ", "Three words.", Document("d", "A b", blocks=(2,))]
    model, engine = recorded(window=64, left=20, right=10, longest=40)
    alone = [model.encode(text) for text in texts]
    batches_alone = len(engine.batches)
    engine.batches.clear()
    together = model.encode_texts(texts)
    assert len(engine.batches) < batches_alone
    for got, wanted in zip(together, alone, strict=True):
        np.testing.assert_allclose(got.vectors, wanted.vectors, atol=1e-6)
        np.testing.assert_allclose(got.document, wanted.document, atol=1e-6)
        assert got.spans.tolist() == wanted.spans.tolist()
        assert got.tokens_read == got.tokens_given == wanted.tokens_given
        assert got.vocab_coverage.tolist() == wanted.vocab_coverage.tolist()
    assert model.encode_texts([]) == []


@pytest.mark.parametrize("repeats", [0, 1, 12])
def test_the_state_of_every_token(repeats: int) -> None:
    text = PROSE * repeats
    model, _ = recorded(window=64, left=20, right=10, longest=40)
    found = list(model.token_states(text))
    starts = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in found)])
    wanted = MODEL.tokenizer.encode([text])[0].starts
    assert sorted(starts.tolist()) == wanted
    for places, states in found:
        assert states.shape == (len(places), 32)
        assert (np.diff(places) > 0).all()
        np.testing.assert_allclose(np.linalg.norm(states, axis=1), 1.0, atol=1e-5)


def test_the_state_of_a_token_is_the_graphs() -> None:
    model = load(threads=1, cache=False)
    text = "The whale is a mammal. It breathes air."
    ((starts, states),) = model.token_states(text)
    first, second = (tokens.ids for tokens in model.tokenizer.encode([text[:23], text[23:]]))
    ids = [101, *first, 102, *second, 102]
    numbers = [0, *[1] * (len(first) + 1), *[2] * (len(second) + 1)]
    places = [n for n in range(1, len(ids)) if ids[n] != 102]
    wanted = model._engine.run(*(np.array([row], np.int32) for row in (ids, numbers, places)))[0]
    assert starts.tolist() == model.tokenizer.encode([text])[0].starts
    assert (states * wanted).sum(axis=1).min() > 0.999  # int8 rounds by batch and padding


def test_many_documents() -> None:
    asked: list[str] = []

    def texts() -> object:
        for text in ("One. Two.", "", "Three."):
            asked.append(text)
            yield text

    stream = MODEL.encode_documents(texts())
    assert len(next(stream).spans) == 2
    assert asked == ["One. Two."]
    assert [len(marks.spans) for marks in stream] == [0, 1]


def test_a_model_without_its_landmark_token_is_refused() -> None:
    with pytest.raises(ModelError, match=r"no token '\[LMK\]'"):
        Tokenizer(MODEL.tokenizer._backend, "[CLS]", "[LMK]")
