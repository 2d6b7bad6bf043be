"""Folders trained with LMK pooling as checkpoints: what training takes, what export refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")
pytest.importorskip("transformers", reason="needs the train extra")

import milepost  # noqa: E402
from milepost.encoder import Encoder  # noqa: E402
from milepost.engine import find_model  # noqa: E402
from milepost.engine.manifest import SENTENCES  # noqa: E402
from milepost.errors import ModelError  # noqa: E402
from milepost_train.model import open_checkpoint, release  # noqa: E402
from milepost_train.model.export import fingerprint  # noqa: E402
from milepost_train.model.interop import read_folder, write_folder  # noqa: E402
from milepost_train.model.lmk import Rule  # noqa: E402
from milepost_train.model.lmk_model import LmkModel  # noqa: E402
from milepost_train.model.reading import Reading  # noqa: E402
from milepost_train.model.torch_engine import TorchEngine  # noqa: E402
from support.foreign_folders import CLS, GENERATIONS, TEXTS, encoder, pull_request  # noqa: E402
from support.tiny_transformers import TEXT, tiny_folder  # noqa: E402

MASK = 4
TEXT_OF_THREE = "the cat sat on the mat. the dog sat on the tree. who sat on the house?"


def written(folder: Path, **changes: Any) -> Path:
    """A folder of ours with a landmark of its own after each sentence."""
    usual = {"landmark": MASK, "granularity": SENTENCES, "unit_landmarks": True, "rule": Rule.SAFE}
    lmk = read_folder(encoder(folder.with_name(folder.name + "-hf")), granularity=8)
    settings = replace(lmk.settings, **{**usual, **changes})
    write_folder(LmkModel(lmk.backbone, lmk.tokenizer, settings), folder)
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


@pytest.mark.parametrize("generation", GENERATIONS)
def test_landmark_training_starts_from_a_folder_of_the_pull_request(
    tmp_path: Path, generation: str
) -> None:
    """Its landmark closes sentences from now on, and its attention stays as it was."""
    config = {**GENERATIONS[generation], "lmk_token_id": MASK}
    folder = pull_request(encoder(tmp_path / "m"), config, {"lmk_token_id": MASK})
    opened = open_checkpoint(folder)
    every = 128 if generation == "A" else 5
    assert opened.reading == Reading("[CLS]", "[MASK]", granularity=every)
    assert not opened.model.own_sentence
    assert open_checkpoint(folder, landmark="[SEP]").reading.landmark == "[SEP]"


def test_a_folder_of_ours_is_where_a_training_may_begin(tmp_path: Path) -> None:
    """`milepost train --init` opens what `write_folder` wrote, with its landmark."""
    from milepost_train.config import read_config
    from milepost_train.run import opened
    from support.tiny_runs import write_run

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
        ({"rule": Rule.DOUBLE_SUFFIX}, "closes a row by the tokenizer's own tokens"),
        ({"by_id": True}, "pools separators of the text"),
        ({"lower_case": True}, "turns text to lower case"),
        ({"query_prompt": "dog: "}, "puts prompts in front"),
    ],
)
def test_settings_that_a_model_folder_does_not_have(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    """What cannot be said in a manifest is named, with what to do, and nothing is written."""
    with pytest.raises(ModelError, match=f"{said}, and a model folder does not;.*train it first"):
        release(written(tmp_path / "lmk", **changes), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("generation", ["A", "B"])
def test_a_folder_of_the_pull_request_is_exported(tmp_path: Path, generation: str) -> None:
    """Its landmarks stand every so many tokens in the model folder, too."""
    folder = pull_request(encoder(tmp_path / "m"), GENERATIONS[generation])
    released = release(folder, tmp_path / "out")
    assert released.manifest.granularity == (128 if generation == "A" else 5)
    assert not released.manifest.own_sentence
    assert "averages landmarks of any length" in released.notes[-1]


def test_what_is_guessed_of_a_folder_is_said(tmp_path: Path) -> None:
    """A folder of several intervals names none for its use, unless the caller does."""
    config = {"splitter_type": "variable", "splitter_granularity": [32, 64]}
    folder = pull_request(encoder(tmp_path / "m"), config)
    released = release(folder, tmp_path / "out")
    assert released.manifest.granularity == 128
    assert any("128 is taken" in note for note in released.notes)
    named = release(folder, tmp_path / "named", granularity=64)
    assert named.manifest.granularity == 64
    assert not any("128 is taken" in note for note in named.notes)


def test_closing_tokens_of_the_pull_request_are_not_exported(tmp_path: Path) -> None:
    """Its last layout pools them as well; no name of a token changes that."""
    folder = pull_request(encoder(tmp_path / "m"), GENERATIONS["C"])
    with pytest.raises(ModelError, match="closes a row by the tokenizer's own tokens"):
        release(folder, tmp_path / "out", landmark="[SEP]")


def test_the_authors_folders_are_exported(tmp_path: Path) -> None:
    """Weights alone, under a name that says how often a landmark stands."""
    folder = encoder(tmp_path / "m_lmk_fixed_gran_64")
    assert not open_checkpoint(folder).model.own_sentence
    assert release(folder, tmp_path / "out").manifest.granularity == 64


def test_rows_that_open_with_two_tokens(tmp_path: Path) -> None:
    """A window opens with one, so such a folder is read by `read_folder` alone."""
    folder = written(tmp_path / "lmk", bos_ids=(CLS, CLS))
    assert len(read_folder(folder).encode_documents(TEXTS)) == len(TEXTS)
    with pytest.raises(ModelError, match="starts rows with 2 tokens"):
        open_checkpoint(folder)


def test_the_network_of_a_folder_may_lie_inside(tmp_path: Path) -> None:
    """`export` finds it where `train` does."""
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
    pytest.importorskip("peft", reason="needs the train extra")
    from milepost_train.model import save_checkpoint, with_lora

    opened = open_checkpoint(tiny_folder(tmp_path / "base", "llama"))
    with_lora(opened.model, rank=2)
    save_checkpoint(opened.model, tmp_path / "adapter")
    assert not (tmp_path / "adapter" / "landmark.json").exists()
    with pytest.raises(ModelError, match=r"adapter without landmark\.json.*precede each chunk"):
        release(tmp_path / "adapter", tmp_path / "out")
    named = release(tmp_path / "adapter", tmp_path / "out", landmark="</s>")
    assert named.manifest.landmark == "</s>"
    assert open_checkpoint(tmp_path / "adapter").model.causal
