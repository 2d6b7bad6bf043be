"""BERT with rotary positions, and local attention by blocks."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import torch

from milepost.encoder.engine.manifest import Manifest
from milepost_train.model import LandmarkEncoder, open_checkpoint
from milepost_train.model import attention as module
from milepost_train.model.attention import attend
from milepost_train.model.export import NAMES, convert, fingerprint
from support.tiny_models import CONFIGS, random_model, randomised, write_checkpoint

ROTARY = {
    **CONFIGS["bert"],
    "num_hidden_layers": 5,
    "max_position_embeddings": 16_384,
    "position_embedding_type": "rotary",
    "local_attention": 8,
}


def rotary_model(**options: Any) -> LandmarkEncoder:
    torch.manual_seed(5)
    made: LandmarkEncoder = randomised(LandmarkEncoder({**ROTARY, **options}, own_sentence=False))
    return made


@pytest.mark.parametrize("kind", ["rotary", "modernbert"])
def test_long_texts_have_the_states_of_the_dense_mask(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = rotary_model() if kind == "rotary" else random_model(kind, own_sentence=False)
    ids = torch.randint(5, 200, (2, 70))
    valid = torch.ones(2, 70, dtype=torch.bool)
    valid[1, 50:] = False
    with torch.no_grad():
        dense = model.backbone(ids, valid, None, None)
        monkeypatch.setattr(module, "BLOCKWISE", 10)
        torch.testing.assert_close(
            model.backbone(ids, valid, None, None)[valid], dense[valid], atol=2e-5, rtol=1e-4
        )
        marks = torch.tensor([[3, 49], [10, 0]])
        found = model.backbone(ids, valid, marks, None)
        rows = torch.stack([dense[0, [3, 49]], dense[1, [10, 0]]])
        torch.testing.assert_close(found, rows, atol=2e-5, rtol=1e-4)
        same = model.backbone(ids[:1], None, None, None)
        torch.testing.assert_close(same, dense[:1], atol=2e-5, rtol=1e-4)


def test_layers_alternate_and_only_distances_count() -> None:
    model = rotary_model()
    layers = model.backbone.layers
    assert [layer.reach for layer in layers] == [4, None, 4, None, None]
    assert [layer.theta for layer in layers] == [1e4, 1.6e5, 1e4, 1.6e5, 1.6e5]
    ids = torch.randint(5, 200, (1, 40))
    valid = torch.ones(1, 60, dtype=torch.bool)
    valid[:, :20] = False  # the same text, 20 places to the right
    shifted = torch.cat((torch.zeros(1, 20, dtype=torch.long), ids), 1)
    with torch.no_grad():
        here = model.backbone(ids, None, None, None)
        there = model.backbone(shifted, valid, None, None)[:, 20:]
    torch.testing.assert_close(here, there, atol=1e-4, rtol=1e-3)


def test_half_precision_stays_half_where_queries_are_rotated() -> None:
    model = rotary_model()
    ids = torch.randint(5, 200, (1, 40))
    kinds = []

    def keep(query: torch.Tensor, key: torch.Tensor, *rest: Any) -> torch.Tensor:
        kinds.append((query.dtype, key.dtype))
        return attend(query, key, *rest)

    with pytest.MonkeyPatch.context() as patch, torch.autocast("cpu", torch.bfloat16):
        patch.setattr(module, "attend", keep)
        model.backbone(ids, None, None, None)
    assert set(kinds) == {(torch.bfloat16, torch.bfloat16)}


def test_a_folder_is_opened_saved_and_exported(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "m", "bert")
    (folder / "config.json").write_text(json.dumps(ROTARY | {"num_hidden_layers": 3}))
    checkpoint = open_checkpoint(folder)
    model = checkpoint.model
    assert "embeddings.position_embeddings.weight" not in model.backbone.state_dict()
    checkpoint.save(tmp_path / "again", torch.float32)
    again = open_checkpoint(tmp_path / "again").model
    ids = torch.randint(5, 200, (1, 700), dtype=torch.int32)
    sentences = torch.arange(700, dtype=torch.int32)[None] // 7
    marks = torch.tensor([[6, 300, 699]], dtype=torch.int32)
    with torch.no_grad():
        vectors = model(ids, sentences, marks)
        torch.testing.assert_close(again(ids, sentences, marks), vectors)
    exact = {"INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(convert(model), "CPU", exact)
    feed = {name: each.numpy() for name, each in zip(NAMES, (ids, sentences, marks), strict=True)}
    found = next(iter(compiled(feed).values()))
    assert float(np.abs(found - vectors.numpy()).max()) < 1e-4
    other = rotary_model(num_hidden_layers=3, local_attention=16)
    other.backbone.load_state_dict(model.backbone.state_dict())
    manifest = Manifest(name="m", fingerprint="", dimensions=model.dimensions)
    tokenizer = tmp_path / "again" / "tokenizer.json"
    assert fingerprint(model, tokenizer, manifest) != fingerprint(other, tokenizer, manifest)
