"""A BERT that reads any length: local layers, positions that go round, chosen layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from milepost_lab.lmk.long_bert import LongBert, load_long_bert  # noqa: E402
from milepost_train.model.bert import Bert  # noqa: E402
from support.small_models import CONFIGS  # noqa: E402


def bert(**changes: Any) -> Bert:
    """Random weights, large enough to make states differ."""
    torch.manual_seed(3)
    made = Bert({**CONFIGS["bert"], **changes})
    with torch.no_grad():
        for weight in made.parameters():
            if weight.dim() > 1:
                weight.normal_(0.0, 0.3)
    return made.eval()


BERT = bert()


def some(length: int, texts: int = 1) -> torch.Tensor:
    return torch.randint(5, 200, (texts, length), generator=torch.Generator().manual_seed(length))


def longhand(model: Bert, ids: torch.Tensor, valid: torch.Tensor, block: int) -> torch.Tensor:
    """Every layer over the whole text under a mask written out, token by token."""
    table: Any = model.embeddings
    length = ids.shape[1]
    places = [0, *(n % (model.max_tokens - 1) + 1 for n in range(length - 1))]
    states = table["LayerNorm"](
        table["word_embeddings"](ids)
        + table["position_embeddings"](torch.tensor(places))
        + table["token_type_embeddings"].weight[0]
    )
    near = torch.zeros(length, length, dtype=torch.bool)
    for token in range(length):
        begin = token // block * block
        near[token, max(0, begin - block // 2) : begin + block + block // 2] = True
    *local, last = model.encoder["layer"]
    for layer in local:
        states = layer(states, near & valid[:, None, None, :])
    result: torch.Tensor = last(states, valid[:, None, None, :])
    return result


@settings(deadline=None, max_examples=25)
@given(length=st.integers(1, 60), shorter=st.integers(0, 20), half=st.integers(1, 8))
def test_local_layers_are_a_mask(length: int, shorter: int, half: int) -> None:
    """Overlapping windows give what full attention gives under the mask they stand for."""
    block = 2 * half
    ids, valid = some(length, 2), torch.ones(2, length, dtype=torch.bool)
    valid[1, max(1, length - shorter) :] = False
    marks = torch.arange(length).expand(2, -1)
    with torch.no_grad():
        found = LongBert(BERT, block)(ids, valid, marks)
        wanted = longhand(BERT, ids, valid, block)
    assert torch.allclose(found[valid], wanted[valid], atol=1e-5)


def test_short_texts_are_read_as_bert_reads_them() -> None:
    """Up to a block nothing differs from the BERT whose weights these are."""
    ids, valid = some(12), torch.ones(1, 12, dtype=torch.bool)
    marks = torch.tensor([[0, 5, 11]])
    with torch.no_grad():
        assert torch.equal(LongBert(BERT, 12)(ids, valid, marks), BERT(ids, valid, marks, None))


def test_positions_go_round() -> None:
    """Texts longer than the table are read."""
    model = LongBert(bert(max_position_embeddings=9), 4)
    ids, valid = some(40), torch.ones(1, 40, dtype=torch.bool)
    marks = torch.tensor([[0, 20, 39]])
    with torch.no_grad():
        found = model(ids, valid, marks)
        wanted = longhand(model.bert, ids, valid, 4)[:, marks[0]]
    assert torch.allclose(found, wanted, atol=1e-5)


def test_the_last_layer_reads_everything() -> None:
    """What stands far away changes the opening token's state."""
    ids, valid = some(64), torch.ones(1, 64, dtype=torch.bool)
    other = ids.clone()
    other[0, -1] = 7 if ids[0, -1] != 7 else 8
    model, marks = LongBert(BERT, 4), torch.tensor([[0]])
    with torch.no_grad():
        assert not torch.allclose(model(ids, valid, marks), model(other, valid, marks), atol=1e-4)


@pytest.mark.parametrize("block", [0, 1, 7])
def test_refused_blocks(block: int) -> None:
    """A block has a middle half."""
    with pytest.raises(ValueError, match="even number"):
        LongBert(BERT, block)


def test_chosen_layers_of_a_folder(tmp_path: Path) -> None:
    """The layers kept are those named, in their order; the pooler is left out."""
    whole = bert(num_hidden_layers=4)
    config = {**CONFIGS["bert"], "num_hidden_layers": 4}
    (tmp_path / "config.json").write_text(json.dumps(config))
    weights = {**whole.state_dict(), "pooler.dense.bias": torch.zeros(32)}
    save_file(weights, tmp_path / "model.safetensors")
    found = load_long_bert(tmp_path, (1, 3)).bert
    layers: Any = found.encoder["layer"]
    assert len(layers) == 2
    for new, old in enumerate((1, 3)):
        wanted = whole.encoder["layer"][old].state_dict()  # type: ignore[index]
        assert all(torch.equal(v, wanted[n]) for n, v in layers[new].state_dict().items())
    table: Any = found.embeddings
    words: Any = whole.embeddings
    assert torch.equal(table["word_embeddings"].weight, words["word_embeddings"].weight)
