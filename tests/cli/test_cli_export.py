"""``milepost export`` on tiny models: what it writes, prints and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import milepost
from milepost.console.options import Settings
from milepost.errors import ModelError
from support.small_models import write_checkpoint
from support.tiny_transformers import TEXT, tiny_folder

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra: pip install 'milepost[train]'")
pytest.importorskip("transformers", reason="needs the train extra")


def run(*arguments: str | Path) -> Any:
    """The command's result; what it raises is raised."""
    from milepost.cli.export import export

    return CliRunner().invoke(
        export, [str(a) for a in arguments], obj=Settings(), catch_exceptions=False
    )


def test_a_decoder_becomes_a_model_folder(tmp_path: Path) -> None:
    """The report names tokens, windows and cosines, and the folder reads text."""
    folder = tiny_folder(tmp_path / "hf", "llama", num_hidden_layers=1)
    done = run(folder, "--out", tmp_path / "models" / "tiny", "--precision", "f32, bf16")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert "(tiny, fingerprint " in lines[0]
    assert "windows of 256 tokens (64 before, 0 after), causal; BOS token <s>" in lines[1]
    assert [line.split()[0] for line in lines[3:]] == ["f32", "bf16"]
    assert float(lines[3].split()[1]) > 0.9999
    assert [line.split()[2::2][:2] for line in lines[3:]] == [
        ["0.9999", "0.99999"],
        ["0.99", "0.998"],
    ]
    encoder = milepost.load(tmp_path / "models" / "tiny", cache=False)
    assert encoder.encode(TEXT).vectors.shape == (7, 32)


def test_int8_of_a_network_of_transformers(tmp_path: Path) -> None:
    """A network that is not ours is quantised within what is tolerated, and reads text."""
    pytest.importorskip("nncf", reason="needs the export extra: pip install 'milepost[export]'")
    text = tmp_path / "notes.md"
    text.write_text(TEXT * 8, encoding="utf-8")
    done = run(
        tiny_folder(tmp_path / "hf", "xlm-roberta", num_hidden_layers=1),
        *("--out", tmp_path / "out", "--precision", "int8", "--calibration", text, "--json"),
    )
    (parity,) = json.loads(done.stdout)["parity"]
    assert parity["least_wanted"] <= parity["least"] < 0.99999
    assert parity["mean"] >= parity["mean_wanted"]
    assert milepost.load(tmp_path / "out", cache=False).encode(TEXT).vectors.shape == (7, 32)


def test_the_landmark_may_be_named(tmp_path: Path) -> None:
    """A token of the vocabulary, read both ways by a decoder; a new one would mean nothing."""
    folder = tiny_folder(tmp_path / "hf", "llama", num_hidden_layers=1)
    done = run(
        *(folder, "--out", tmp_path / "out", "--landmark", "<unk>", "--bidirectional", "--json"),
        *("--precision", "fp32,float32"),  # the names that others give it
    )
    said = json.loads(done.stdout)
    assert [parity["precision"] for parity in said["parity"]] == ["f32"]
    assert (said["landmark"], said["causal"], said["right"]) == ("<unk>", False, 32)
    with pytest.raises(ModelError, match="no '<lmk>', and a new token means nothing untrained"):
        run(folder, "--out", tmp_path / "other", "--landmark", "<lmk>")


def test_a_model_folder_is_none_to_export(tmp_path: Path) -> None:
    """What is exported already is told from a folder that holds nothing."""
    shipped = Path(milepost.__file__).parent / "models" / "landmark-light"
    with pytest.raises(ModelError, match=r"is a model folder already.*use it by --model"):
        run(shipped, "--out", tmp_path / "out")


def test_a_checkpoint_of_ours(tmp_path: Path) -> None:
    """Two precisions from one folder, with a name and sizes given, as one JSON document."""
    done = run(
        write_checkpoint(tmp_path / "ours", "bert"),
        *("--out", tmp_path / "out", "--precision", "f32,bf16", "--name", "first"),
        *("--window", "96", "--left", "20", "--right", "10", "--json"),
    )
    said = json.loads(done.stdout)
    assert (said["name"], said["window"], said["left"], said["right"]) == ("first", 96, 20, 10)
    assert said["landmark"] == "[SEP]"
    assert {parity["precision"] for parity in said["parity"]} == {"f32", "bf16"}
    assert all(parity["mean"] >= parity["mean_wanted"] for parity in said["parity"])
    assert milepost.load(tmp_path / "out", cache=False).manifest.own_sentence


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    """A folder without config, and sizes that are none, leave nothing behind."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"no config\.json"):
        run(tmp_path / "empty", "--out", tmp_path / "out")
    refused = run(tmp_path / "empty", "--out", tmp_path / "out", "--window", "2")
    assert refused.exit_code == 2
    assert run(tmp_path / "empty").exit_code == 2
    assert not (tmp_path / "out").exists()
