"""``milepost export`` on tiny models: what it writes, prints and refuses."""

import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

import milepost
from milepost.encoder import Encoder
from milepost.encoder.engine import find_model
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.errors import InputError, MilepostError, ModelError
from milepost_train.cli.export import export
from milepost_train.run import Trained
from support.cli_fixtures import invoked
from support.http_server import Handler, listening
from support.tiny_models import TEXT, tiny_folder, write_checkpoint

run = partial(invoked, export, catch_exceptions=False)


def test_a_decoder_becomes_a_model_folder(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "hf", "llama", num_hidden_layers=1)
    done = run(folder, "--out", tmp_path / "models" / "tiny", "--precision", "f32, bf16")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert "(tiny, fingerprint " in lines[0]
    assert "windows of 256 tokens (64 before, 0 after), causal; BOS token <s>" in lines[1]
    assert [line.split()[0] for line in lines[3:]] == ["f32", "bf16"]
    assert float(lines[3].split()[1]) > 0.9999
    encoder = milepost.load(tmp_path / "models" / "tiny", cache=False)
    assert encoder.encode(TEXT).vectors.shape == (7, 32)


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
    with pytest.raises(ModelError, match="no '<lmk>'"):
        run(folder, "--out", tmp_path / "other", "--landmark", "<lmk>")


def test_a_model_folder_is_none_to_export(tmp_path: Path) -> None:
    shipped = Path(milepost.__file__).parent / "models" / "landmark-light"
    with pytest.raises(ModelError, match=r"is a model folder already"):
        run(shipped, "--out", tmp_path / "out")


def test_a_checkpoint_of_ours(tmp_path: Path) -> None:
    """All precisions from one folder, with a name and sizes given, as one JSON document."""
    pytest.importorskip("nncf", reason="needs the export extra of milepost-train")
    text = tmp_path / "notes.md"
    text.write_text(TEXT * 8, encoding="utf-8")
    done = run(
        write_checkpoint(tmp_path / "ours", "modernbert"),
        *("--out", tmp_path / "out", "--precision", "f32,bf16,int8", "--name", "first"),
        *("--window", "96", "--left", "20", "--right", "10", "--json", "--calibration", text),
    )
    said = json.loads(done.stdout)
    assert (said["name"], said["window"], said["left"], said["right"]) == ("first", 96, 20, 10)
    assert said["landmark"] == "[SEP]"
    assert {parity["precision"] for parity in said["parity"]} == {"f32", "bf16", "int8"}
    assert all(parity["mean"] >= parity["mean_wanted"] for parity in said["parity"])
    model = milepost.load(tmp_path / "out", cache=False)
    assert model.manifest.own_sentence
    folder = find_model(tmp_path / "out")
    in_float = OpenVinoEngine(folder.graph("int8"), cache=None, in_float=True)
    vectors = Encoder(folder, in_float).encode(TEXT).vectors
    assert (vectors * model.encode(TEXT).vectors).sum(-1).mean() > 0.95


def test_only_what_ranks_is_to_be_fitted(finished: Trained, tmp_path: Path) -> None:
    """The hint to run ``milepost fit`` follows the export of a model, not of a reranker."""
    checkpoint = shutil.copytree(finished.checkpoint.parent, tmp_path / "run") / "checkpoint"
    assert "milepost fit" in run(checkpoint, "--out", tmp_path / "model").stderr
    record = tmp_path / "run" / "run.json"
    told = json.loads(record.read_text("utf-8"))
    stages = [{**stage, "parts": [{"kind": "rerank"}]} for stage in told["settings"]["stages"]]
    told["settings"]["stages"] = stages
    record.write_text(json.dumps(told), encoding="utf-8")
    assert "milepost fit" not in run(checkpoint, "--out", tmp_path / "model" / "reranker").stderr
    with pytest.raises(InputError, match="is a reranker"):
        run(checkpoint, "--out", tmp_path / "grid", "--granularity", 32)


class Hub(Handler):
    """As much of the hub's API as an upload needs; ``taken`` has what was committed."""

    taken: ClassVar[dict[str, Any]] = {}
    private: ClassVar[bool] = True

    def do_GET(self) -> None:
        model = {"id": "our-team/tiny", "private": type(self).private}
        self.answer(200, json.dumps(model).encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        home = f"http://{self.headers['Host']}/our-team/tiny"
        if self.path == "/api/repos/create":
            type(self).taken["made"] = json.loads(body)
            answer: Any = {"url": home}
        elif self.path.endswith("/preupload/main"):
            files = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False, "oid": None}
                for each in json.loads(body)["files"]
            ]
            answer = {"files": files}
        elif self.path.endswith("/commit/main"):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    content = b64decode(line["value"]["content"])
                    type(self).taken[line["value"]["path"]] = content
            answer = {"success": True, "commitOid": "0" * 40, "commitUrl": f"{home}/commit/0"}
        else:
            answer = {"errors": [], "warnings": []}
        self.answer(200, json.dumps(answer).encode())


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    with listening(Hub) as url:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", url)
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        Hub.taken.clear()
        monkeypatch.setattr(Hub, "private", True)
        yield Hub.taken


def test_a_model_folder_is_uploaded(tmp_path: Path, hub: dict[str, Any]) -> None:
    """Every file of it, byte for byte, into a private model; the token stays out of all output."""
    folder, out = tiny_folder(tmp_path / "hf", "bert"), tmp_path / "tiny"
    done = run(folder, "--out", out, "--window", 64, "--push", "our-team/tiny", "--private")
    assert done.exit_code == 0
    assert "uploaded to http://127.0.0.1" in done.stderr
    assert "hf_secret" not in done.output
    made = hub.pop("made")
    assert (made["name"], made["organization"], made["visibility"]) == (
        "tiny",
        "our-team",
        "private",
    )
    assert hub == {file.name: file.read_bytes() for file in out.iterdir()}
    assert {"milepost.json", "tokenizer.json", "README.md"} < set(hub)


def test_a_private_model_is_not_sent_to_a_public_one(
    tmp_path: Path, hub: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "private", False)
    folder, out = tiny_folder(tmp_path / "hf", "bert"), tmp_path / "tiny"
    with pytest.raises(InputError, match="is public; nothing was uploaded") as refused:
        run(folder, "--out", out, "--window", 64, "--push", "our-team/tiny", "--private")
    assert "--private" in refused.value.hint
    assert set(hub) == {"made"}
    assert (out / "milepost.json").is_file()


def test_a_hub_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model folder is there, and the message says how to upload it later."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    folder, out = tiny_folder(tmp_path / "hf", "bert"), tmp_path / "tiny"
    with pytest.raises(MilepostError, match="uploading to our-team/tiny") as refused:
        run(folder, "--out", out, "--window", 64, "--push", "our-team/tiny")
    assert f"hf upload our-team/tiny {out}" in refused.value.hint
    assert (out / "milepost.json").is_file()


def test_names_that_the_hub_has_not(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'tiny' is not a name"):
        run(tmp_path, "--out", tmp_path / "out", "--push", "tiny")
    assert run(tmp_path, "--out", tmp_path / "out", "--private").exit_code == 2
