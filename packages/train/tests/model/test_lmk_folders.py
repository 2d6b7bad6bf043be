"""Folders trained with LMK pooling as checkpoints: what training takes, what export refuses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import milepost
from milepost.encoder import Encoder
from milepost.engine import find_model
from milepost.engine.manifest import SENTENCES
from milepost.errors import ModelError
from milepost_train.config import read_config
from milepost_train.model import open_checkpoint, release, save_checkpoint, with_lora
from milepost_train.model.export import fingerprint
from milepost_train.model.interop import read_folder, write_folder
from milepost_train.model.landmark_transformer import LandmarkTransformer
from milepost_train.model.torch_engine import TorchEngine
from milepost_train.run import opened
from support.foreign_folders import CLS, TEXTS, encoder
from support.tiny_runs import write_run
from support.tiny_transformers import TEXT, tiny_folder

MASK = 4
TEXT_OF_THREE = "the cat sat on the mat. the dog sat on the tree. who sat on the house?"


def written(folder: Path, **changes: Any) -> Path:
    """A folder of ours with a landmark of its own after each sentence."""
    usual = {"landmark": MASK, "granularity": SENTENCES, "unit_landmarks": True}
    lmk = read_folder(encoder(folder.with_name(folder.name + "-hf")), granularity=8)
    settings = replace(lmk.settings, **{**usual, **changes})
    write_folder(LandmarkTransformer(lmk.backbone, lmk.tokenizer, settings), folder)
    return folder


def inside(root: Path) -> Path:
    """A folder of sentence-transformers whose network lies in a folder of its own."""
    tiny_folder(root / "0_Transformer", "bert")
    kinds = ("Transformer", "Pooling")
    modules = [
        {"idx": n, "name": str(n), "path": f"{n}_{kind}", "type": f"sentence_transformers.{kind}"}
        for n, kind in enumerate(kinds)
    ]
    (root / "modules.json").write_text(json.dumps(modules))
    return root


def test_a_folder_of_ours_is_where_a_training_may_begin(tmp_path: Path) -> None:
    """`milepost train --init` opens what `write_folder` wrote, with its landmark."""
    written(tmp_path / "lmk", granularity=32)
    config = read_config(write_run(tmp_path / "data", init="../lmk"))
    assert opened(config).reading.landmark == "[MASK]"


def test_an_exported_folder_gives_the_vectors_of_the_folder(tmp_path: Path) -> None:
    """Landmarks after sentences, of unit length: document vectors are the same in both."""
    folder = written(tmp_path / "lmk")
    released = release(folder, tmp_path / "out")
    manifest = released.manifest
    assert (manifest.bos_token, manifest.landmark, manifest.own_sentence) == (
        "[CLS]",
        "[MASK]",
        False,
    )
    found = milepost.load(tmp_path / "out", cache=False).encode(TEXT_OF_THREE)
    assert len(found.vectors) == 3
    mean = found.vectors.astype(float).mean(0)
    (wanted,) = read_folder(folder).encode_documents([TEXT_OF_THREE])
    np.testing.assert_allclose(mean / np.linalg.norm(mean), wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"query_prompt": "dog: "}, "puts prompts in front of texts"),
        ({"document_prompt": "cat: "}, "puts prompts in front of texts"),
    ],
)
def test_settings_that_a_model_folder_does_not_have(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelError, match=f"{said}"):
        release(written(tmp_path / "lmk", **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_rows_that_open_with_two_tokens(tmp_path: Path) -> None:
    """A window opens with one, so such a folder is read by `read_folder` alone."""
    folder = written(tmp_path / "lmk", bos_ids=(CLS, CLS))
    assert len(read_folder(folder).encode_documents(TEXTS)) == len(TEXTS)
    with pytest.raises(ModelError, match="starts rows with 2 tokens"):
        open_checkpoint(folder)


def test_the_network_of_a_folder_may_lie_inside(tmp_path: Path) -> None:
    folder = inside(tmp_path / "st")
    manifest = release(folder, tmp_path / "out").manifest
    found = milepost.load(tmp_path / "out", cache=False).encode(TEXT).vectors
    opened = open_checkpoint(folder / "0_Transformer")
    assert fingerprint(opened.model, tmp_path / "out" / "tokenizer.json", manifest) == (
        manifest.fingerprint
    )
    by_torch = Encoder(find_model(tmp_path / "out"), TorchEngine(opened.model))
    np.testing.assert_allclose(found, by_torch.encode(TEXT).vectors, atol=1e-4)


def test_an_adapter_that_does_not_say_where_its_landmarks_stand(tmp_path: Path) -> None:
    """The authors' decoders have them precede each chunk; ours say how they are read."""
    opened = open_checkpoint(tiny_folder(tmp_path / "base", "llama"))
    with_lora(opened.model, rank=2)
    save_checkpoint(opened.model, tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "landmark.json").exists()
    with pytest.raises(ModelError, match=r"adapter without landmark\.json"):
        release(tmp_path / "adapter", tmp_path / "out")
    named = release(tmp_path / "adapter", tmp_path / "out", landmark="</s>")
    assert named.manifest.landmark == "</s>"
    assert open_checkpoint(tmp_path / "adapter").model.causal
