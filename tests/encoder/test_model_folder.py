"""Model folders: what they say of themselves, what is missing from them, where they are found."""

import json
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from milepost.encoder.engine import Manifest, find_model, shipped_models
from milepost.encoder.engine.folder import MODEL_GROUP, PACKAGES, cache_folder
from milepost.encoder.engine.manifest import SCHEMA, read_manifest
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost.encoder.engine.tokenizer import Tokenizer
from milepost.errors import InputError, ModelError

GOOD = Manifest("small", "0123456789abcdef", 32, fusion={"gate": {"always": 0.5}})


def changed(folder: Path, **fields: object) -> Path:
    """A folder whose manifest has other fields; ``...`` leaves one out."""
    GOOD.write(folder)
    path = folder / "milepost.json"
    said = json.loads(path.read_text(encoding="utf-8")) | fields
    kept = {name: value for name, value in said.items() if value is not ...}
    path.write_text(json.dumps(kept), encoding="utf-8")
    return folder


def test_written_and_read(tmp_path: Path) -> None:
    tight = Manifest("gröβe", "f", 8, longest=62, window=64, trained={"steps": 3})
    prefixed = Manifest("small", "f", 8, query_prefix="query: ")
    grid = Manifest("m", "0" * 16, 4, granularity=254)
    causal = Manifest("m", "f", 8, bos_token="", right=0, causal=True)
    for manifest in (GOOD, tight, prefixed, grid, causal):
        manifest.write(tmp_path)
        assert read_manifest(tmp_path) == manifest
        fields = json.loads((tmp_path / "milepost.json").read_text("utf-8"))
        assert fields["schema"] == SCHEMA
        assert ("granularity" in fields) == (manifest is grid)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"schema": ...}, "no schema number"),
        ({"novelty": 1}, "unknown fields: novelty"),
        ({"fingerprint": ...}, "incomplete"),
        ({"window": "256"}, "no usable window"),
        ({"left": -1}, "no usable left"),
        ({"window": 100, "longest": 99}, "no usable window"),
        ({"query_prefix": 5}, "no usable query_prefix"),
        ({"right": 16, "causal": True}, "no usable right"),
        *(
            ({"granularity": each}, "no usable granularity")
            for each in (0, -3, 2.5, "words", True, None, [32], 255)
        ),
    ],
)
def test_a_manifest_that_cannot_be_used(
    tmp_path: Path, fields: dict[str, object], problem: str
) -> None:
    with pytest.raises(ModelError, match=problem) as raised:
        read_manifest(changed(tmp_path, **fields))
    assert str(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        (1, "milepost export CHECKPOINT --out FOLDER"),
        (1, "milepost fit FOLDER --tasks FILES"),
        (SCHEMA + 1, "pip install . in a clone"),
    ],
)
def test_another_schema_is_refused(tmp_path: Path, schema: int, hint: str) -> None:
    folder = changed(tmp_path, schema=schema, opening="[CLS]", bos_token=..., dimensions=...)
    with pytest.raises(ModelError) as raised:
        read_manifest(folder)
    problem = (
        f"{tmp_path / 'milepost.json'} has schema {schema}, this version reads schema {SCHEMA}"
    )
    assert raised.value.problem == problem
    assert hint in raised.value.hint


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b'"text"'])
def test_a_damaged_manifest(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "milepost.json").write_bytes(content)
    with pytest.raises(ModelError):
        read_manifest(tmp_path)


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    for name in (tmp_path / "missing", "http://127.0.0.1:1/v1#tiny"):
        with pytest.raises(ModelError, match="no model named") as raised:
            find_model(name)
        assert all(model.manifest.name in str(raised.value) for model in shipped_models())
    with pytest.raises(ModelError, match=r"no milepost\.json"):
        find_model(tmp_path)


def test_a_folder_that_lacks_files(tmp_path: Path) -> None:
    changed(tmp_path)
    folder = find_model(str(tmp_path))
    assert folder.precisions == ()
    with pytest.raises(ModelError, match=r"tokenizer\.json is missing"):
        _ = folder.tokenizer
    with pytest.raises(ModelError, match="no OpenVINO graph"):
        folder.graph()
    with pytest.raises(ModelError, match="unknown precision 'f16'"):
        folder.graph("f16")  # type: ignore[arg-type]
    graph = tmp_path / "openvino_f32.xml"
    graph.write_text("<net/>")
    assert folder.precisions == ("f32",)
    with pytest.raises(ModelError, match=r"openvino_f32\.bin is missing"):
        folder.graph()
    graph.with_suffix(".bin").write_bytes(b"")
    assert folder.graph() == folder.graph("f32") == graph
    (tmp_path / "openvino_int8.xml").write_text("<net/>")
    assert folder.precisions == ("int8", "f32")


def test_a_damaged_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    with pytest.raises(ModelError, match="is not a tokenizer"):
        Tokenizer(path, "[CLS]", "[SEP]")


def test_the_cache_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "c"))
    assert cache_folder() == tmp_path / "c"
    monkeypatch.delenv("MILEPOST_CACHE")
    assert cache_folder().name == "milepost"
    assert cache_folder().is_absolute()


def test_a_path_of_dots_is_the_callers_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Manifest("here", "0123456789abcdef", 8).write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert find_model(".").manifest.name == "here"
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert find_model("..").manifest.name == "here"


def test_a_path_names_a_packaged_model_as_a_string_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "landmark-gone", "milepost_gone")
    for name in ("landmark-gone", Path("landmark-gone")):
        with pytest.raises(ModelError, match="in the package milepost-gone"):
            find_model(name)


def test_a_package_offers_a_model_by_an_entry_point(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = tmp_path / "models_of_a_test"
    (module / "landmark-other").mkdir(parents=True)
    Manifest("landmark-other", "feedfacefeedface", 8).write(module / "landmark-other")
    (module / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("landmark-other", "models_of_a_test", MODEL_GROUP)
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: [point] if group == MODEL_GROUP else []
    )
    assert find_model("landmark-other").path == module / "landmark-other"
    assert "landmark-other" in [each.manifest.name for each in shipped_models()]


@pytest.mark.parametrize("threads", [0, -1])
def test_a_number_of_threads_that_cannot_run(tmp_path: Path, threads: int) -> None:
    with pytest.raises(InputError, match=f"threads = {threads}"):
        OpenVinoEngine(tmp_path / "openvino_int8.xml", cache=None, threads=threads)
