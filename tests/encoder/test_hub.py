"""Models by their name on the Hugging Face hub: its real client, its cache, no network."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from milepost.encoder.engine import Manifest, find_model
from milepost.errors import ModelError
from support.http_server import Handler, listening


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path


@contextmanager
def hub(folder: Path, commit: str) -> Iterator[str]:
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": name}
        for name, data in files.items()
    ]

    class Hub(Handler):
        def do_GET(self) -> None:
            _, what, *_, last = self.path.partition("?")[0].split("/")
            if what == "api":
                files["info"] = json.dumps({"id": "m", "sha": commit}).encode()
                files["tree"] = json.dumps(tree).encode()
                last = "tree" if "/tree/" in self.path else "info"
            self.answer(200, files[last], {"ETag": f'"{last}"', "X-Repo-Commit": commit})

        do_HEAD = do_GET

    with listening(Hub) as url:
        yield url


def snapshot_of(cache: Path, commit: str) -> Path:
    """The empty folder of a model in the cache."""
    cached = cache / "models--somebody--small"
    (cached / "snapshots" / commit).mkdir(parents=True)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(commit)
    return cached / "snapshots" / commit


def test_a_cached_hub_model_asks_nobody(cache: Path) -> None:
    snapshot = snapshot_of(cache, "0123abc")
    (snapshot / "openvino_int8.bin").touch()
    Manifest(name="small", fingerprint="00ff", dimensions=8).write(snapshot)
    found = find_model("somebody/small")
    assert found.path == snapshot
    assert found.manifest.name == "small"


@pytest.mark.parametrize("file", ["config.json", "milepost.json"])
def test_a_part_of_a_model_is_fetched_again(
    cache: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
) -> None:
    from huggingface_hub import constants

    commit = "0123abc" + "0" * 33
    given = tmp_path_factory.mktemp("hub")
    (given / "openvino_int8.bin").write_bytes(b"weights")
    (given / "config.json").write_text("{}")
    Manifest(name="small", fingerprint="00ff", dimensions=8).write(given)
    shutil.copy(given / file, snapshot_of(cache, commit))
    with hub(given, commit) as url:
        monkeypatch.setattr(constants, "ENDPOINT", url)
        template = url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        assert (find_model("somebody/small").path / "openvino_int8.bin").read_bytes() == b"weights"


def test_a_hub_that_cannot_be_reached(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="from the Hugging Face hub failed") as raised:
        find_model("nobody/nothing")
    assert "\n" not in str(raised.value)
    assert "milepost models" in raised.value.hint


def test_a_folder_goes_before_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "somebody" / "small").mkdir(parents=True)
    Manifest(name="own", fingerprint="00ff", dimensions=8).write(tmp_path / "somebody" / "small")
    assert find_model("somebody/small").manifest.name == "own"
