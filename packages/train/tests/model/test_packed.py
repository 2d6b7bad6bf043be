"""Token vectors in 4 bits: what is lost, what is not, and the graph that reads them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.errors import ModelError
from milepost_train.model import LandmarkEncoder
from milepost_train.model.export import BLOCK, PackedTable, export, packed, with_packed_table
from support.tiny_models import write_checkpoint


def widened(table: torch.Tensor) -> torch.Tensor:
    return packed(table)(torch.arange(len(table))[None])[0]


@given(st.integers(0, 1 << 30), st.sampled_from([1e-3, 1.0, 100.0]))
@settings(max_examples=40, deadline=None)
def test_no_number_is_off_by_more_than_one_step(seed: int, size: float) -> None:
    """A step is an eighth of the block's largest number; at the far end there is one step less."""
    table = torch.randn(5, 3 * BLOCK, generator=torch.Generator().manual_seed(seed)) * size
    steps = table.unflatten(-1, (-1, BLOCK)).abs().amax(-1, keepdim=True) / 8
    off = (widened(table) - table).unflatten(-1, (-1, BLOCK)).abs()
    assert (off <= steps * 1.01).all()
    assert (off.mean() < steps.mean() * 0.3).item()


def test_what_was_packed_before_comes_out_as_it_was() -> None:
    once = widened(torch.randn(50, 64))
    assert torch.equal(widened(once), once)
    assert torch.equal(widened(torch.zeros(2, 32)), torch.zeros(2, 32))


def bert(width: int = 64) -> LandmarkEncoder:
    torch.manual_seed(0)
    config = {"model_type": "bert", "vocab_size": 600, "hidden_size": width}
    return LandmarkEncoder(
        {
            **config,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 96,
            "max_position_embeddings": 64,
        }
    )


def test_the_exported_graph_reads_the_packed_table(tmp_path: Path) -> None:
    """The same vectors as torch, and a file that is smaller by seven eighths of the table."""
    model = bert()
    small = with_packed_table(model)
    assert not isinstance(model.backbone.embeddings["word_embeddings"], PackedTable), "a copy"
    tokenizer = write_checkpoint(tmp_path / "init", "bert") / "tokenizer.json"
    for name, each in (("wide", model), ("small", small)):
        export(each, tokenizer, tmp_path / name, name=name)
    sizes = [(tmp_path / n / "openvino_f32.bin").stat().st_size for n in ("wide", "small")]
    assert sizes[0] - sizes[1] == pytest.approx(600 * 64 * (4 - 4.5 / 8), rel=0.02)
    ids = torch.tensor([[1, 7, 2, 599, 300, 2], [1, 5, 6, 2, 0, 0]], dtype=torch.int32)
    sentences = torch.tensor([[0, 1, 1, 2, 2, 2], [0, 1, 1, 1, -1, -1]], dtype=torch.int32)
    marks = torch.tensor([[2, 5], [3, 0]], dtype=torch.int32)
    with torch.no_grad():
        wanted = small(ids, sentences, marks).numpy()
    engine = OpenVinoEngine(tmp_path / "small" / "openvino_f32.xml", cache=None)
    found = engine.run(ids.numpy(), sentences.numpy(), marks.numpy())
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-5)
    np.testing.assert_allclose(found[1, 0], wanted[1, 0], atol=1e-5)


def test_what_cannot_be_packed_is_refused() -> None:
    with pytest.raises(ModelError, match="4 bits"):
        with_packed_table(bert(width=40))
