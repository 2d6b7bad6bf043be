"""From a folder of transformers to a model folder whose vectors are torch's; model cards."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import Manifest, find_model
from milepost.errors import InputError, ModelError
from milepost_train.config import read_config
from milepost_train.model import open_checkpoint, release
from milepost_train.model.card import card, record_of, trained
from milepost_train.model.export import fingerprint
from milepost_train.model.landmark_encoder import TorchEngine
from milepost_train.model.release import Parity
from milepost_train.run import Trained, train
from support.tiny_models import CAUSAL, TEXT, tiny_folder, write_checkpoint
from support.tiny_runs import write_run

LONG = TEXT * 4


def network_of(folder: Path, kind: str) -> Path:
    """A checkpoint of ours, or a folder of transformers."""
    write = write_checkpoint if kind.startswith("our ") else tiny_folder
    return write(folder, kind.removeprefix("our "))


@pytest.mark.parametrize(
    "kind", ["our bert", "our rotary", "our modernbert", "bert", "modernbert", "mistral", "qwen3"]
)
def test_exported_vectors_are_those_of_torch(tmp_path: Path, kind: str) -> None:
    """In several windows: float32 within 1e-4; what it says of itself."""
    folder = network_of(tmp_path / "hf", kind)
    released = release(folder, tmp_path / "out", window=64, left=16)
    encoder = milepost.load(tmp_path / "out", cache=False)
    marks = encoder.encode(LONG)
    engine = TorchEngine(open_checkpoint(folder).model)
    wanted = Encoder(find_model(tmp_path / "out"), engine).encode(LONG).vectors
    assert len(wanted) == 28
    np.testing.assert_allclose(marks.vectors, wanted, atol=1e-4)
    assert marks.tokens_given == marks.tokens_read
    assert encoder.manifest == released.manifest
    assert encoder.manifest.causal == (kind in CAUSAL)
    assert encoder.manifest.name == "out"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hf", "out"]


def test_weights_of_half_the_size(tmp_path: Path) -> None:
    """bf16 halves the weights on disk, keeps the fingerprint, and comes out as tolerated."""
    folder = tiny_folder(tmp_path / "hf", "xlm-roberta", hidden_size=64, vocab_size=2000)
    released = release(folder, tmp_path / "out", precisions=["f32", "bf16"])
    full, half = (
        (tmp_path / "out" / f"openvino_{name}.bin").stat().st_size for name in ("f32", "bf16")
    )
    assert half < 0.55 * full
    assert released.parity[1].least < 1 - 1e-6  # it was rounded
    small = release(folder, tmp_path / "small", precisions=["bf16"])
    assert small.manifest.fingerprint == released.manifest.fingerprint


def print_of(folder: Path, **options: Any) -> str:
    checkpoint = open_checkpoint(folder, **options)
    manifest = Manifest("m", "", 32, right=0, causal=checkpoint.model.causal)
    return fingerprint(checkpoint.model, folder / "tokenizer.json", manifest)


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}),
        ("our rotary", {"local_attention": 16}),
        ("our modernbert", {"local_attention": 4}),
        ("our modernbert", {"num_attention_heads": 1}),
        ("our modernbert", {"global_rope_theta": 500.0}),
    ],
)
def test_the_fingerprint_knows_the_network(
    tmp_path: Path, kind: str, changed: dict[str, Any]
) -> None:
    """Windows, heads and frequencies change vectors, and no weight shows them."""
    folder = network_of(tmp_path / "network", kind)
    first = print_of(folder)
    folder = folder.rename(tmp_path / "elsewhere")
    assert print_of(folder) == first
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changed}))
    assert print_of(folder) != first


def test_the_fingerprint_knows_the_direction(tmp_path: Path) -> None:
    """The same weights read both ways are another model."""
    folder = tiny_folder(tmp_path / "hf", "llama")
    first = print_of(folder)
    assert print_of(folder, attention="sdpa") == first != print_of(folder, bidirectional=True)


def test_a_graph_that_disagrees_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_folder(tmp_path / "hf", "bert")
    monkeypatch.setitem(
        __import__("milepost_train.model.release", fromlist=["LEAST"]).LEAST, "bf16", 1.0
    )
    with pytest.raises(ModelError, match=r"bf16 graph is not close enough"):
        release(folder, tmp_path / "out", precisions=["bf16"])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hf"]


def test_parity_does_not_pass_nan() -> None:
    assert not Parity("f32", 3, float("nan"), 1.0, 0.9999, 0.99999).holds
    assert not Parity("f32", 3, 1.0, float("nan"), 0.9999, 0.99999).holds
    assert Parity("f32", 3, 0.99995, 0.99999, 0.9999, 0.99999).holds


@pytest.mark.parametrize(
    ("orders", "said"),
    [
        ({"precisions": ["bf-16"]}, r"unknown precision 'bf-16';.*'bf16'"),
        ({"precisions": []}, "no precision"),
        ({"precisions": ["int8"], "calibration": [" "]}, "int8 needs real text"),
        ({"precisions": ["bf16", "int8"], "format": "onnx"}, "only in f32, not in bf16, int8"),
        ({"format": "onnx", "pooling": Path("p.npz")}, "only for OpenVINO"),
        *(({"dimensions": size}, f"cannot be cut to {size}") for size in (0, -1, 33)),
        *(({"window": 64, "granularity": n}, f"every {n} tokens") for n in (0, 63)),
    ],
)
def test_orders_that_cannot_be_followed(tmp_path: Path, orders: dict[str, Any], said: str) -> None:
    if "pooling" in orders:
        pytest.importorskip("milepost_lab", reason="poolings are those of the lab")
    folder = tiny_folder(tmp_path / "m", "bert")
    with pytest.raises(InputError, match=said):
        release(folder, tmp_path / "out", **orders)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_exists_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists"):
        release(tmp_path / "m", tmp_path)


def test_a_run_and_its_export(finished: Trained, tmp_path: Path) -> None:
    """Data, steps and figures are those of the run; the export adds how the model reads."""
    of_run = (finished.checkpoint.parent / "README.md").read_text("utf-8")
    before, after = finished.checks[0]["task"], finished.found["task"]
    assert f"| task | {before:.1%} | {after:.1%} |" in of_run
    made = release(finished.checkpoint, tmp_path / "animals", window=64, left=16, right=4)
    said = made.manifest.trained
    assert (said["steps"], said["data"]) == (finished.steps, "task, pairs")
    of_model = (tmp_path / "animals" / "README.md").read_text("utf-8")
    trained_so = of_run.partition("## How it was trained")[2].splitlines()
    assert {*trained_so} < {*of_model.splitlines()}
    # A folder says nothing to others, a model of the hub does.
    assert "base_model" not in of_model
    assert finished.checkpoint.parents[1].name not in of_model
    record = record_of(finished.checkpoint)
    assert record is not None
    assert "base_model: owner/name\n" in card("m", None, {**record, "base_model": "owner/name"})


def test_the_record_names_files_of_questions_and_the_data_of_the_run_before(tmp_path: Path) -> None:
    """As ``milepost fit`` names tasks; both runs left a share of the documents out."""
    runs = (("a", "init", "task", 0.3), ("b", "a/checkpoint", "of b.jsonl", 0.2))
    for out, init, task, share in runs:
        config = write_run(tmp_path, init=init, out=out)
        lines = [each.read_text("utf-8") for each in (tmp_path / "task").iterdir()]
        (tmp_path / "of b.jsonl").write_text("".join(lines), "utf-8")
        text = config.read_text("utf-8").replace('["task"]', f'["{task}"]\nhold_out = {share}')
        config.write_text(text, "utf-8")
        done = train(read_config(config))
    record = record_of(done.checkpoint)
    assert record is not None
    said = trained(record)
    assert (said["data"], said["hold_out"]) == ("task, pairs, of b", 0.2)


def test_what_the_record_cannot_say(finished: Trained, tmp_path: Path) -> None:
    """A record of another program is none; a torn last line of the log is passed over."""
    run = shutil.copytree(finished.checkpoint.parent, tmp_path / "run")
    whole = record_of(run / "checkpoint")
    assert whole is not None
    with (run / "log.jsonl").open("a") as file:
        file.write('{"check": {"task": 0.5}}\n7\n{"step": 12, "che')
    assert record_of(run / "checkpoint") == whole
    assert record_of(run) is None
    said = json.loads((run / "run.json").read_text("utf-8"))
    for record in ({**said, "settings": None}, {"settings": {"init": "x"}}):
        (run / "run.json").write_text(json.dumps(record))
        assert record_of(run / "checkpoint") is None
