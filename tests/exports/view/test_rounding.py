"""The rounded light model is a model folder like any other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from milepost.encoder import Encoder, load
from milepost.encoder.engine import find_model
from milepost.errors import MilepostError, ModelError
from milepost.exports.view import page_model
from milepost.exports.view.graph import Graph
from milepost.exports.view.network import graph_of, read_network
from milepost.exports.view.rounding import LIGHT

QUESTIONS = ("how do bees build their cells", "Which species?", "naïve café 3.5 €", "a", "🐜 ants")


@pytest.mark.parametrize("name", ["rounded", "shipped"])
def test_arrays_say_what_the_engine_says(name: str, light: Encoder) -> None:
    encoder = light if name == "rounded" else load(LIGHT)
    network = read_network(graph_of(encoder.folder))
    for question in QUESTIONS:
        ids = [*encoder.tokenizer.count([question])[0][0], encoder.tokenizer.landmark]
        assert np.abs(network.encode(ids) - encoder.encode_query(question)).max() < 1e-5


def test_the_rounded_model_means_nearly_the_same(light: Encoder) -> None:
    shipped = load(LIGHT)
    cosines = [float(light.encode_query(q) @ shipped.encode_query(q)) for q in QUESTIONS[:2]]
    assert min(cosines) > 0.93


def test_it_has_a_name_and_fingerprint_of_its_own_and_is_made_once(light: Encoder) -> None:
    shipped = find_model(LIGHT).manifest
    assert light.manifest.name == "landmark-light-page"
    assert light.fingerprint != shipped.fingerprint
    assert light.manifest.fusion == shipped.fusion
    made = (light.folder / "openvino_bf16.bin").stat()
    assert page_model() == light.folder
    assert (light.folder / "openvino_bf16.bin").stat().st_mtime_ns == made.st_mtime_ns
    assert page_model(light.folder) == light.folder  # it is not rounded twice


def test_other_models_are_refused() -> None:
    with pytest.raises(ModelError, match="not a light model"):
        page_model("landmark-minilm")
    with pytest.raises(ModelError, match="no model named"):
        page_model("landmark-lihgt")


def test_a_damaged_graph_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "graph.xml").write_text("<net><layers>", encoding="utf-8")
    (tmp_path / "graph.bin").write_bytes(b"")
    with pytest.raises(ModelError, match=r"graph\.xml cannot be read"):
        Graph(tmp_path / "graph.xml")


def test_a_full_disk_leaves_no_part_of_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(graph: Any, path: Path, **_: Any) -> None:
        path.write_text("<net><layers>", encoding="utf-8")  # OpenVINO does so without an error

    monkeypatch.setattr("openvino.save_model", save)
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path))
    with pytest.raises(MilepostError, match=r"cannot be written: .* cannot be read"):
        page_model()
    assert not list((tmp_path / "models").iterdir())


def test_a_cache_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MILEPOST_CACHE", str(tmp_path / "file"))
    with pytest.raises(MilepostError, match=r"cannot be written.*MILEPOST_CACHE"):
        page_model()
