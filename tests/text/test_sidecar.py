"""Files of properties beside files: read, merged, refused with a reason, and never indexed."""

import json
from pathlib import Path

import pytest

from milepost.errors import UnreadableFile
from milepost.text import files, read
from milepost.text.sidecar import described, sidecar


def _note(folder: Path, name: str = "note.md", text: str = "---\ntitle: Old\n---\nText.\n") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".meta.json", '{"title": "New", "year": 2020, "tags": ["a", "b"], "none": null}'),
        (".meta.yaml", "title: New\nyear: 2020\ntags: [a, b]\nnone:\n"),
        (".meta.yaml", "title: 'New'\nyear: 2020.0\ntags:\n- a\n- b\n"),
    ],
)
def test_a_sidecar_wins_over_its_file(tmp_path: Path, suffix: str, text: str) -> None:
    path = _note(tmp_path, text="---\ntitle: Old\nauthor: Lee\n---\nText.\n")
    beside = tmp_path / f"note.md{suffix}"
    beside.write_text(text, encoding="utf-8")
    assert sidecar(path) == beside
    assert described(beside) == path
    assert read(path).properties == {
        "title": "New",
        "author": "Lee",
        "year": 2020.0,
        "tags": ("a", "b"),
    }
    beside.unlink()
    assert read(path).properties["title"] == "Old"


def test_json_comes_first(tmp_path: Path) -> None:
    path = _note(tmp_path)
    (tmp_path / "note.md.meta.json").write_text('{"k": "json"}', encoding="utf-8")
    (tmp_path / "note.md.meta.yaml").write_text("k: yaml", encoding="utf-8")
    assert read(path).properties["k"] == "json"


@pytest.mark.parametrize(
    ("suffix", "text", "problem"),
    [
        (".meta.json", "{", "is not JSON: "),
        (".meta.json", "", "is not JSON: "),
        (".meta.json", "[" * 100_000, "is not JSON: "),
        (".meta.json", "[" * 60_000, "is not JSON: nested too deeply"),
        (".meta.json", "[1]", "holds no properties"),
        (".meta.json", '{"a": {"b": 1}}', "'a' cannot be dict"),
        (".meta.json", '{"Big Key": 1}', "'Big Key' cannot be the key"),
        (".meta.json", '{"a": NaN}', "'a' cannot be float"),
        (".meta.yaml", "a: [1", "is not YAML: "),
        (".meta.yaml", "a: &x 1\nb: *x\n", "is not YAML: aliases"),
        (".meta.yaml", "a: !!python/object:os.system x\n", "is not YAML: "),
        (".meta.yaml", "just text", "holds no properties"),
        (".meta.yaml", "[" * 60_000, "is not YAML: "),
    ],
)
def test_a_bad_sidecar_names_itself(tmp_path: Path, suffix: str, text: str, problem: str) -> None:
    path = _note(tmp_path)
    beside = tmp_path / f"note.md{suffix}"
    beside.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableFile) as caught:
        read(path)
    assert caught.value.problem.startswith(str(beside))
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = _note(tmp_path)
    (tmp_path / "note.md.meta.json").write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UnreadableFile, match="is not JSON"):
        read(path)


def test_sidecars_are_no_documents(tmp_path: Path) -> None:
    path = _note(tmp_path)
    beside = tmp_path / "note.md.meta.json"
    beside.write_text(json.dumps({"a": 1}), encoding="utf-8")
    alone = _note(tmp_path, "lonely.meta.json", "{}")
    assert list(files([tmp_path])) == [alone, path]
    assert list(files([path, beside])) == [path]
    assert list(files([beside])) == [path]
