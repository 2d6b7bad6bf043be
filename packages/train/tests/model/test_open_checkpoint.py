"""Opening folders: which tokens and which network, and what is wrong with a folder."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from milepost.errors import InputError, ModelError
from milepost_train.model import load_checkpoint, open_checkpoint
from milepost_train.model.release import window_sizes
from milepost_train.model.special import choose_landmark, special_tokens
from support.tiny_models import tiny_folder, tiny_tokenizer


@pytest.mark.parametrize(
    ("kind", "bos_token", "landmark"),
    [
        ("bert", "[CLS]", "[SEP]"),
        ("mpnet", "[CLS]", "[SEP]"),
        ("xlm-roberta", "<s>", "</s>"),
        ("mistral", "<s>", "</s>"),
        ("qwen2", "", "<|endoftext|>"),
    ],
)
def test_tokens_of_the_tokenizer(tmp_path: Path, kind: str, bos_token: str, landmark: str) -> None:
    """A window opens with CLS, BOS or nothing; a sentence closes with the separator or the end."""
    folder = tiny_folder(tmp_path / "m", kind)
    reading = open_checkpoint(folder).reading
    assert (reading.bos_token, reading.landmark) == (bos_token, landmark)
    named = open_checkpoint(folder, bos_token="", landmark="ship").reading
    assert (named.bos_token, named.landmark) == ("", "ship")
    with pytest.raises(ModelError, match="no token '<begin>'"):
        open_checkpoint(folder, bos_token="<begin>")


def test_the_pad_that_counts_positions_is_no_landmark(tmp_path: Path) -> None:
    """XLM-R's positions begin behind its pad, which cannot be taken from it."""
    with pytest.raises(ModelError, match="'<pad>' is the pad token"):
        open_checkpoint(tiny_folder(tmp_path / "m", "xlm-roberta"), landmark="<pad>")


def test_special_tokens_written_in_any_way(tmp_path: Path) -> None:
    """Strings, objects with content, the older file, or nothing but the usual names."""
    tokenizer = tiny_tokenizer("unigram")
    assert special_tokens(tmp_path, tokenizer)["eos_token"] == "</s>"
    (tmp_path / "special_tokens_map.json").write_text('{"cls_token": "<s>", "sep_token": "gone"}')
    assert special_tokens(tmp_path, tokenizer) == {"cls_token": "<s>"}
    (tmp_path / "tokenizer_config.json").write_text('{"sep_token": {"content": "</s>"}}')
    assert special_tokens(tmp_path, tokenizer) == {"cls_token": "<s>", "sep_token": "</s>"}
    with pytest.raises(ModelError, match="neither a separator nor an end"):
        choose_landmark({"cls_token": "<s>"}, None)


def test_what_was_said_is_kept(tmp_path: Path) -> None:
    opened = open_checkpoint(tiny_folder(tmp_path / "m", "llama"), bidirectional=True)
    sizes = {"window": 90, "left": 20, "right": 5, "longest": 40, "granularity": 16}
    opened.reading = dataclasses.replace(opened.reading, **sizes)
    opened.save(tmp_path / "saved")
    again = open_checkpoint(tmp_path / "saved")
    assert again.reading == opened.reading
    assert not again.model.causal
    assert not load_checkpoint(tmp_path / "saved").causal
    assert open_checkpoint(tmp_path / "saved", bidirectional=False).model.causal


def test_folders_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is not a folder"):
        open_checkpoint(tmp_path / "missing")
    with pytest.raises(ModelError, match=r"no config\.json"):
        open_checkpoint(tmp_path)
    folder = tiny_folder(tmp_path / "m", "llama")
    weights = load_file(folder / "model.safetensors")
    weights.pop("layers.1.mlp.up_proj.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks layers\.1\.mlp\.up_proj\.weight") as raised:
        open_checkpoint(folder)
    assert "\n" not in str(raised.value)
    for text, said in (
        ('{"schema": 2, "landmrak": "</s>"}', "landmrak: Unexpected"),
        ('{"opening": "<s>", "landmark": "</s>"}', "schema 1, this version reads schema 2.*--out"),
        ('{"schema": 3, "bos_token": "<s>"}', "schema 3, this version reads schema 2.*pip install"),
        ('{"schema": 2, "bos_token": "", "landmark": "a", "window": "256"}', "window: Input"),
        ("[]", "cannot be read"),
    ):
        (folder / "landmark.json").write_text(text)
        with pytest.raises(ModelError, match=f"landmark.json.*{said}"):
            open_checkpoint(folder)
    (folder / "landmark.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "lama"}))
    with pytest.raises(ModelError, match=r"unknown architecture 'lama'.*'llama'"):
        open_checkpoint(folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        open_checkpoint(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="no tokenizer"):
        open_checkpoint(folder)


def test_window_sizes_fit_the_network(tmp_path: Path) -> None:
    """Windows are as long as the network's positions, halo behind only where it is seen."""
    xlm = open_checkpoint(tiny_folder(tmp_path / "x", "xlm-roberta"))
    assert window_sizes(xlm) == {"window": 254, "left": 63, "right": 31, "longest": 128}
    assert window_sizes(xlm, 40, 10, 0) == {"window": 40, "left": 10, "right": 0, "longest": 38}
    with pytest.raises(InputError, match=r"255 tokens is longer .* \(254\)"):
        window_sizes(xlm, 255)
    with pytest.raises(InputError, match="too little"):
        window_sizes(xlm, 40, 15, 10)
    assert window_sizes(xlm, 3)["longest"] == 1
    llama = open_checkpoint(tiny_folder(tmp_path / "l", "llama", max_position_embeddings=4096))
    assert window_sizes(llama) == {"window": 512, "left": 128, "right": 0, "longest": 128}
    assert window_sizes(llama, 4096)["left"] == 1024
    with pytest.raises(InputError, match="causal"):
        window_sizes(llama, right=16)


def test_verdicts_of_networks_of_transformers_are_kept(tmp_path: Path) -> None:
    """Weights of verdicts lie beside those of the network, which ``transformers`` does not read."""
    opened = open_checkpoint(tiny_folder(tmp_path / "m", "mpnet"))
    opened.reading = dataclasses.replace(opened.reading, verdicts=True)
    opened.model.read_as(opened.reading)
    made = opened.model.verdicts
    assert made is not None
    opened.save(tmp_path / "saved")
    kept = open_checkpoint(tmp_path / "saved").model.verdicts
    assert kept is not None
    for name, weight in made.state_dict().items():
        torch.testing.assert_close(kept.state_dict()[name], weight, atol=1e-3, rtol=1e-3)
