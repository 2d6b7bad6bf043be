"""Rows of LMK pooling by hand, and folders that sentence-transformers itself opens."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import ModelError
from milepost_train.model.interop import read_folder, write_folder
from milepost_train.model.landmark_transformer import (
    LandmarkTransformer,
    LmkSettings,
    Row,
    chunks,
    insert,
    pad,
    pool,
)
from support.tiny_models import CLS, SEP, TEXTS, encoder

C, M, PAD = 1, 2, 0
Z = [11, 12, 13, 14, 15, 16, 17]


def settings_of(**fields: Any) -> LmkSettings:
    """Settings for the small tokenizer."""
    usual: dict[str, Any] = {"bos_ids": (CLS,), "landmark": SEP, "granularity": 6, "limit": 64}
    return LmkSettings(**usual | fields)


VARIANTS: list[dict[str, Any]] = [
    {},
    {"granularity": "sentences", "longest": 9},
    {"unit_landmarks": True},
    {"normalized": False, "query_prompt": "dog: ", "document_prompt": "cat: "},
]


def row_of(content: list[int], g: int, limit: int = 32) -> Row:
    return insert(chunks(content, g), bos_ids=[C], landmark=M, limit=limit)


def states_of(ids: torch.Tensor) -> torch.Tensor:
    """The state of position ``i`` is ``(i, i²)``."""
    at = torch.arange(ids.shape[1], dtype=torch.float32)
    return torch.stack([at, at**2], dim=-1).expand(len(ids), -1, -1)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([1, 2, 3, 7, 32, 64, 128, 256]),
    st.integers(2, 1199),
    st.sampled_from([0, 1, 40, 1200]),
)
def test_safe_reads_as_much_as_fits(g: int, limit: int, size: int) -> None:
    """The content kept is the largest ``N`` with ``1 + N + ceil(N / g) <= limit``, closed form."""
    row = row_of(list(range(100, 100 + size)), g, limit)
    most = max(0, (limit - 1) - math.ceil((limit - 1) / (g + 1)))
    kept = [token for token in row.ids[1:] if token != M]
    assert kept == list(range(100, 100 + min(size, most)))
    assert row.landmarks == [at for at, token in enumerate(row.ids) if token == M]
    assert len(row.ids) <= limit
    assert row.landmarks[-1] == len(row.ids) - 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_sums_are_float32(dtype: torch.dtype) -> None:
    states = torch.full((1, 4096, 2), 1.0, dtype=dtype)
    everywhere = torch.ones(1, 4096, dtype=torch.bool)
    mean = pool(states, everywhere, everywhere)
    assert mean.dtype == torch.float32
    assert mean.tolist() == [[1.0, 1.0]]


def test_states_of_padding_do_not_matter() -> None:
    ids, *masks = pad([row_of(Z, 3), row_of([11], 3)], PAD)
    states = states_of(ids).clone()
    states[1, 3:] = float("nan")
    assert pool(states, *masks)[1].tolist() == [2.0, 4.0]


pytestmark = pytest.mark.filterwarnings("default")


library = pytest.importorskip("sentence_transformers", reason="needs the rivals extra")


@pytest.fixture
def source(tmp_path: Path) -> tuple[object, object]:
    folder = encoder(tmp_path / "source")
    return (
        transformers.AutoModel.from_pretrained(folder),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def opened(folder: Path) -> object:
    return library.SentenceTransformer(str(folder), device="cpu", trust_remote_code=True)


@pytest.mark.parametrize("number", range(len(VARIANTS)))
def test_written_opened_and_read_again(
    tmp_path: Path, source: tuple[object, object], number: int
) -> None:
    """The library alone, and what it saves, give the vectors that were written."""
    lmk = LandmarkTransformer(*source, settings_of(**VARIANTS[number]))
    (tmp_path / "out.part").mkdir()  # a write that was killed
    write_folder(lmk, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    with pytest.raises(ModelError, match="exists"):
        write_folder(lmk, tmp_path / "out")
    ours, model = lmk.model(), opened(tmp_path / "out")
    documents, queries = ours.encode_document(TEXTS), ours.encode_query(TEXTS)
    near = 1e-6 * np.linalg.norm(documents, axis=1).max()
    assert np.abs(model.encode_document(TEXTS, batch_size=2) - documents).max() < near
    assert np.abs(model.encode_query(TEXTS) - queries).max() < near
    if not lmk.settings.document_prompt:
        assert np.abs(model.encode(TEXTS) - documents).max() < near
    assert model.get_embedding_dimension() == 32
    assert model.max_seq_length == 64
    model.save(str(tmp_path / "again"))
    for name in ("out", "again"):
        again = read_folder(tmp_path / name)
        assert again.settings == lmk.settings
        assert np.array_equal(again.model().encode_document(TEXTS), documents)


def test_shorter_rows_and_train_mode(tmp_path: Path, source: tuple[object, object]) -> None:
    """``max_seq_length`` can be lowered; train mode does not change where landmarks stand."""
    write_folder(LandmarkTransformer(*source, settings_of()), tmp_path / "out")
    model = opened(tmp_path / "out")
    model.max_seq_length = 20
    want = LandmarkTransformer(*source, settings_of(limit=20)).model().encode_document(TEXTS)
    assert np.abs(model.encode(TEXTS) - want).max() < 1e-6
    model.train()
    features = [model.preprocess(TEXTS)["landmark_mask"] for _ in range(4)]
    assert all((mask == features[0]).all() for mask in features)
