"""The backbones against Hugging Face's own, rotary positions, and the landmark rule longhand."""

import json
import warnings
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from milepost.encoder.engine.manifest import Manifest
from milepost.errors import ModelError
from milepost_train.model import LandmarkEncoder, load_checkpoint, open_checkpoint
from milepost_train.model import attention as module
from milepost_train.model.export import NAMES, convert, fingerprint
from milepost_train.model.landmark_encoder import Reading
from support.tiny_models import CONFIGS, random_model, randomised, write_checkpoint


def reference(kind: str, model: Any) -> Any:
    """The same weights in Hugging Face's implementation."""
    fields = {key: value for key, value in CONFIGS[kind].items() if key != "model_type"}
    specials = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # transformers' own deprecations
        if kind == "bert":
            config = transformers.BertConfig(**fields, attn_implementation="eager")
            other = transformers.BertModel(config, add_pooling_layer=False)
        else:
            config = transformers.ModernBertConfig(
                **fields, **specials, bos_token_id=2, eos_token_id=3, attn_implementation="eager"
            )
            other = transformers.ModernBertModel(config)
    other.load_state_dict(model.backbone.state_dict())
    return other.eval()


@pytest.mark.parametrize("length", [40, 59])
@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_full_attention_equals_hugging_face(kind: str, length: int) -> None:
    model = random_model(kind, own_sentence=False)
    ids = torch.randint(5, 200, (2, length))
    valid = torch.ones(2, length, dtype=torch.bool)
    valid[1, 25:] = False
    marks = torch.arange(length).expand(2, -1)
    with torch.no_grad():
        ours = model.backbone(ids, valid, marks, None)
        theirs = reference(kind, model)(input_ids=ids, attention_mask=valid.long())[0]
    torch.testing.assert_close(ours[valid], theirs[valid], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_last_layer_stays_in_the_sentence(kind: str) -> None:
    config = {**CONFIGS[kind], "num_hidden_layers": 1}
    torch.manual_seed(1)
    model = LandmarkEncoder(config).eval()
    full = LandmarkEncoder(config, own_sentence=False).eval()
    full.load_state_dict(model.state_dict())
    ids = torch.randint(5, 200, (1, 9))
    changed = ids.clone()
    changed[0, 5:8] = 7
    sentences = torch.tensor([[0, 1, 1, 1, 1, 2, 2, 2, 2]])
    marks = torch.tensor([[4]])
    with torch.no_grad():
        torch.testing.assert_close(model(ids, sentences, marks), model(changed, sentences, marks))
        assert not torch.allclose(full(ids, sentences, marks), full(changed, sentences, marks))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", sorted(CONFIGS))
def test_two_reads_are_those_of_two_models(kind: str, layers: int) -> None:
    """The parts are vectors of a landmark that sees its sentence and of one that sees the window.

    Each is weighted by the root of its share; together they have unit length.
    """
    one = random_model(kind)
    width = one.dimensions
    both = deepcopy(one)
    both.read_as(Reading("", "", own_sentence=True, context=width, context_layers=layers))
    window = LandmarkEncoder(one.config, own_sentence=False).eval()
    window.backbone.load_state_dict(one.backbone.state_dict())
    ids = torch.randint(5, 200, (2, 12))
    sentences = torch.tensor([[0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3], [0, 1, 1, 2, 2, *[-1] * 7]])
    marks = torch.tensor([[4, 7, 11], [2, 4, 0]])
    used = torch.tensor([[True, True, True], [True, True, False]])
    with torch.no_grad():
        found = both(ids, sentences, marks)[used]
        own, around = (model(ids, sentences, marks)[used] for model in (one, window))
    share = torch.sigmoid(both.context.share.bias)
    assert both.dimensions == found.shape[1] == 2 * width
    torch.testing.assert_close(found[:, :width], (1 - share).sqrt() * own, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[:, width:], share.sqrt() * around, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(5))


def test_a_context_read_is_saved_and_read_again(tmp_path: Any) -> None:
    folder = write_checkpoint(tmp_path / "plain", "bert")
    checkpoint = open_checkpoint(folder)
    checkpoint.reading = Reading("[CLS]", "[SEP]", own_sentence=True, context=8, context_layers=2)
    checkpoint.model.read_as(checkpoint.reading)
    with torch.no_grad():
        checkpoint.model.context.share.weight.normal_()
    checkpoint.save(tmp_path / "again", torch.float32)
    again = open_checkpoint(tmp_path / "again")
    assert (again.reading.context, again.reading.context_layers) == (8, 2)
    for name, weight in checkpoint.model.state_dict().items():
        torch.testing.assert_close(again.model.state_dict()[name], weight)
    again.reading.write(folder)  # whose weights have no context
    with pytest.raises(ModelError, match=r"lacks context\."):
        open_checkpoint(folder)


def test_checkpoint_round_trip(tmp_path: Any) -> None:
    folder = write_checkpoint(tmp_path / "m", "bert")
    model = random_model("bert")
    weights = load_file(folder / "model.safetensors")
    save_file({f"bert.{k}": v for k, v in weights.items()}, folder / "model.safetensors")
    assert torch.equal(
        load_checkpoint(folder).backbone.state_dict()["encoder.layer.0.output.dense.weight"],
        model.backbone.state_dict()["encoder.layer.0.output.dense.weight"],
    )


@pytest.mark.parametrize(
    ("kind", "field", "value", "said"),
    [
        ("bert", "hidden_size", 64, r"safetensors does not match .* \(200, 32\), not \(200, 64\)"),
        ("bert", "hidden_size", None, r"config\.json has no hidden_size"),
        ("bert", "hidden_act", "gelu_new", r"hidden_act is 'gelu_new'.*transformers = true"),
        ("modernbert", "hidden_activation", "silu", r"hidden_activation is 'silu'.*rs = true"),
    ],
)
def test_a_config_that_cannot_be_used_is_named(
    tmp_path: Any, kind: str, field: str, value: object, said: str
) -> None:
    """Sizes of other weights, a field that is missing, an activation that is not ours."""
    folder = write_checkpoint(tmp_path / "m", kind)
    config = {**CONFIGS[kind], field: value}
    kept = {name: each for name, each in config.items() if each is not None}
    (folder / "config.json").write_text(json.dumps(kept))
    with pytest.raises(ModelError, match=said):
        load_checkpoint(folder)


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
