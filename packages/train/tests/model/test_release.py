"""From a folder of transformers to a model folder whose vectors are torch's; model cards."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import milepost
from milepost.documents import split
from milepost.encoder import Encoder
from milepost.encoder.engine import Manifest, find_model
from milepost.errors import InputError, ModelError
from milepost_train.config import read_config
from milepost_train.model import open_checkpoint, release
from milepost_train.model.card import card, record_of, trained
from milepost_train.model.export import export, fingerprint
from milepost_train.model.landmark_encoder import TorchEngine
from milepost_train.model.release import Parity, compare, manifest_fields
from milepost_train.run import Trained, train
from support.tiny_models import CAUSAL, TEXT, tiny_folder, write_checkpoint
from support.tiny_runs import write_run

LONG = TEXT * 4


@pytest.mark.parametrize(
    "kind", ["our bert", "our modernbert", "bert", "modernbert", "mistral", "qwen3"]
)
def test_exported_vectors_are_those_of_torch(tmp_path: Path, kind: str) -> None:
    """In several windows: float32 within 1e-4; what it says of itself.

    xlm-roberta, llama and qwen2 are compared with torch in tests below.
    """
    write = write_checkpoint if kind.startswith("our ") else tiny_folder
    folder = write(tmp_path / "hf", kind.removeprefix("our "))
    released = release(folder, tmp_path / "out", window=64, left=16)
    encoder = milepost.load(tmp_path / "out", cache=False)
    marks = encoder.encode(LONG)
    by_torch = Encoder(find_model(tmp_path / "out"), TorchEngine(open_checkpoint(folder).model))
    wanted = by_torch.encode(LONG).vectors
    assert len(wanted) == 28
    np.testing.assert_allclose(marks.vectors, wanted, atol=1e-4)
    assert marks.tokens_given == marks.tokens_read
    assert encoder.manifest == released.manifest
    assert encoder.manifest.causal == (kind in CAUSAL)
    assert encoder.manifest.name == "out"
    assert [parity.precision for parity in released.parity] == ["f32"]
    assert released.parity[0].least > 0.9999
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hf", "out"]


def test_a_window_by_hand(tmp_path: Path) -> None:
    """One window of a decoder gives the states at the ids written out: no BOS, sentences closed."""
    folder = tiny_folder(tmp_path / "hf", "qwen2")
    release(folder, tmp_path / "out")
    opened = open_checkpoint(folder)
    landmark = opened.tokenizer.token_to_id("<|endoftext|>")
    ids: list[int] = []
    marks = []
    for start, end in split(TEXT[:90]):
        ids += opened.tokenizer.encode(TEXT[start:end].strip(), add_special_tokens=False).ids
        marks.append(len(ids))
        ids.append(landmark)
    with torch.no_grad():
        states = opened.model.backbone.network(input_ids=torch.tensor([ids])).last_hidden_state
        wanted = torch.nn.functional.normalize(states[0, marks], dim=-1).numpy()
    found = milepost.load(tmp_path / "out", cache=False).encode(TEXT[:90]).vectors
    assert len(found) > 1
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_weights_of_half_the_size(tmp_path: Path) -> None:
    """bf16 halves the weights on disk, keeps the fingerprint, and comes out as tolerated."""
    folder = tiny_folder(tmp_path / "hf", "xlm-roberta", hidden_size=64, vocab_size=2000)
    released = release(folder, tmp_path / "out", precisions=["f32", "bf16"])
    full, half = (
        (tmp_path / "out" / f"openvino_{name}.bin").stat().st_size for name in ("f32", "bf16")
    )
    assert half < 0.55 * full
    assert {parity.precision: parity.holds for parity in released.parity} == {
        "f32": True,
        "bf16": True,
    }
    assert released.parity[1].least < 1 - 1e-6  # it was rounded
    small = release(folder, tmp_path / "small", precisions=["bf16"])
    assert small.manifest.fingerprint == released.manifest.fingerprint
    assert milepost.load(tmp_path / "small", cache=False).encode(TEXT).vectors.shape == (7, 64)


def test_weights_of_four_bits(tmp_path: Path) -> None:
    """int4 takes less than a quarter of the disk space, and comes out near."""
    pytest.importorskip("nncf", reason="needs the export extra of milepost-train")
    opened = open_checkpoint(tiny_folder(tmp_path / "hf", "bert", hidden_size=64, vocab_size=2000))
    out, tokenizer = tmp_path / "out", tmp_path / "tokenizer.json"
    opened.tokenizer.save(str(tokenizer))
    settings = manifest_fields(opened, 64, 16, 8)
    export(opened.model, tokenizer, out, name="m", int4=True, settings=settings)
    full, small = ((out / f"openvino_{name}.bin").stat().st_size for name in ("f32", "int4"))
    assert small < full / 4
    found = {each.precision: each for each in compare(opened.model, find_model(out), [LONG])}
    assert found["f32"].holds
    assert 0.8 < found["int4"].mean < 1 - 1e-4


def test_the_fingerprint_knows_the_network(tmp_path: Path) -> None:
    """The same weights under other frequencies, or read both ways, are another model."""
    folder = tiny_folder(tmp_path / "hf", "llama")

    def print_of(checkpoint: Any) -> str:
        manifest = Manifest("m", "", 32, right=0, causal=checkpoint.model.causal)
        return fingerprint(checkpoint.model, folder / "tokenizer.json", manifest)

    prints = [print_of(open_checkpoint(folder))]
    assert print_of(open_checkpoint(folder, attention="sdpa")) == prints[0]
    prints.append(print_of(open_checkpoint(folder, bidirectional=True)))
    config = json.loads((folder / "config.json").read_text())
    config["rope_parameters"] = {"rope_type": "default", "rope_theta": 500.0}
    (folder / "config.json").write_text(json.dumps(config))
    prints.append(print_of(open_checkpoint(folder)))
    assert len(set(prints)) == 3
    folder = folder.rename(tmp_path / "elsewhere")
    assert print_of(open_checkpoint(folder)) == prints[2]


@pytest.mark.parametrize(
    "changed", [{"local_attention": 4}, {"num_attention_heads": 1}, {"global_rope_theta": 500.0}]
)
def test_the_fingerprint_knows_the_layers_of_modernbert(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Windows, heads and frequencies change vectors, and no weight shows them."""
    folder = write_checkpoint(tmp_path / "network", "modernbert")
    config = json.loads((folder / "config.json").read_text())
    prints = []
    for said in ({}, {}, changed):
        (folder / "config.json").write_text(json.dumps({**config, **said}))
        model = open_checkpoint(folder).model
        manifest = Manifest("m", "", model.dimensions)
        prints.append(fingerprint(model, folder / "tokenizer.json", manifest))
    assert prints[0] == prints[1] != prints[2]


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


def test_orders_that_cannot_be_followed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown precision 'bf-16';.*'bf16'"):
        release(tmp_path / "m", tmp_path / "out", precisions=["bf-16"])
    with pytest.raises(InputError, match="no precision"):
        release(tmp_path / "m", tmp_path / "out", precisions=[])
    with pytest.raises(InputError, match="int8 needs real text"):
        release(tmp_path / "m", tmp_path / "out", precisions=["int8"], calibration=[" "])
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="out exists"):
        release(tmp_path / "m", tmp_path / "out")


def test_a_run_and_its_export(finished: Trained, tmp_path: Path) -> None:
    """Data, steps and figures are those of the run; the export adds how the model reads."""
    of_run = (finished.checkpoint.parent / "README.md").read_text("utf-8")
    before, after = finished.checks[0]["task"], finished.found["task"]
    assert f"| task | {before:.1%} | {after:.1%} |" in of_run
    assert "## How it reads" not in of_run
    made = release(finished.checkpoint, tmp_path / "animals", window=64, left=16, right=4)
    said = made.manifest.trained
    assert (said["steps"], said["data"]) == (finished.steps, "task, pairs")
    of_model = (tmp_path / "animals" / "README.md").read_text("utf-8")
    assert "## How it reads" in of_model
    for line in of_run.partition("## How it was trained")[2].splitlines():
        assert line in of_model
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
