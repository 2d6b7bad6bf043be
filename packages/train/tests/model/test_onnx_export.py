"""ONNX: the vectors of torch in OpenVINO and in onnxruntime, and what is refused."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

import milepost
from milepost.errors import InputError
from milepost_train.cli.export import export
from milepost_train.model import release
from support.cli_fixtures import invoked
from support.tiny_models import tiny_folder, write_checkpoint

onnx = pytest.importorskip("onnx", reason="needs the export extra of milepost-train")

KINDS = ("ours", "modernbert", "xlm-roberta", "qwen3")


def checkpoint(folder: Path, kind: str) -> Path:
    return write_checkpoint(folder, "bert") if kind == "ours" else tiny_folder(folder, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_backbone_is_near_to_torch(tmp_path: Path, kind: str) -> None:
    """In windows of other lengths than the one that was traced, read by OpenVINO."""
    released = release(
        checkpoint(tmp_path / "m", kind), tmp_path / "out", format="onnx", window=64, left=16
    )
    (parity,) = released.parity
    assert (parity.precision, parity.holds) == ("f32", True)
    assert parity.sentences > 15
    assert released.manifest.name == "out"


def test_what_the_folder_holds(tmp_path: Path) -> None:
    """Graph, tokenizer, manifest, README, and sums that hold."""
    folder = write_checkpoint(tmp_path / "m", "bert")
    orders = folder, "--out", tmp_path / "out", "--format", "onnx"
    done = invoked(export, *orders, catch_exceptions=False)
    assert "f32, onnx" in done.stdout
    found = {file.name for file in (tmp_path / "out").iterdir()}
    assert found == {"model.onnx", "tokenizer.json", "milepost.json", "SHA256SUMS", "README.md"}
    for line in (tmp_path / "out" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    (output,) = onnx.load(tmp_path / "out" / "model.onnx").graph.output
    assert output.type.tensor_type.shape.dim[2].dim_value == 32


@pytest.mark.parametrize("granularity", [None, 4])
def test_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, granularity: int | None
) -> None:
    """Its vectors are the landmarks of its sentences, or their mean a document's."""
    pytest.importorskip("onnxruntime", reason="needs the bench extra")
    folder = tiny_folder(tmp_path / "m", "bert")
    given, wanted = (
        release(folder, tmp_path / form, format=form, granularity=granularity).manifest
        for form in ("onnx", "openvino")
    )
    assert wanted.fingerprint == given.fingerprint
    monkeypatch.chdir(tmp_path / "onnx")
    (code,) = re.findall(r"```python\n(.*?)```", Path("README.md").read_text("utf-8"), re.DOTALL)
    names: dict[str, np.ndarray] = {}
    exec(code, names)
    text = "Ice kept the ship at sea. Who had paid?"
    encoded = milepost.load(tmp_path / "openvino", cache=False).encode(text)
    if granularity is None:
        np.testing.assert_allclose(names["vectors"][0], encoded.vectors, atol=1e-4)
    else:
        mean = names["vectors"][0].mean(axis=0)
        np.testing.assert_allclose(mean / np.linalg.norm(mean), encoded.document, atol=1e-4)


def test_what_onnx_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only in f32, not in bf16, int8"):
        release(
            tmp_path / "m",
            tmp_path / "out",
            format="onnx",
            precisions=["f32", "bf16", "int8"],
            calibration=["Ice kept it from the coast."],
        )


def test_onnx_has_no_pooling(tmp_path: Path) -> None:
    pytest.importorskip("milepost_lab", reason="poolings are those of the lab")
    with pytest.raises(InputError, match="only for OpenVINO"):
        release(tmp_path / "m", tmp_path / "out", format="onnx", pooling=tmp_path / "p.npz")
