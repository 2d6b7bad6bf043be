"""int8 where the CPU gains by it, float where it does not, and one index for both."""

import os
import shutil
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import milepost
from milepost.encoder.engine import ModelFolder, cpu, find_model, openvino, precision
from milepost.encoder.engine.folder import SHIPPED
from milepost.encoder.engine.precision import choose
from milepost.errors import InputError, ModelError
from support.shipped_book import BOOK

MINILM = "landmark-minilm"


@pytest.fixture(autouse=True)
def no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable of whoever runs the tests does not count."""
    monkeypatch.delenv(precision.VARIABLE, raising=False)


@pytest.fixture(scope="module")
def text() -> str:
    return BOOK.read_text(encoding="utf-8")[200_000:204_000]


@pytest.fixture(scope="module")
def encoders() -> dict[str, milepost.Encoder]:
    return {
        "int8": milepost.load(MINILM, precision="int8", cache=False),
        "float": milepost.load(MINILM, precision="float", cache=False),
    }


def folder_with(place: Path, *graphs: str) -> ModelFolder:
    for name in graphs:
        for suffix in ("xml", "bin"):
            (place / f"openvino_{name}.{suffix}").touch()
    return ModelFolder(place, find_model(MINILM).manifest)


@pytest.mark.parametrize(
    ("graphs", "dot_product", "asked", "name"),
    [
        (("int8",), True, None, "int8"),
        (("int8",), False, None, "int8 in float"),
        (("int8",), None, "auto", "int8"),
        (("int8",), True, "float", "int8 in float"),
        (("int8",), False, "int8", "int8"),
        (("int8", "f32"), False, "auto", "f32"),
        (("int8", "f32"), True, "float", "f32"),
        (("int8", "bf16"), False, "auto", "int8 in float"),
        (("bf16",), True, "auto", "bf16"),
        (("f32", "bf16"), True, "auto", "f32"),
    ],
)
def test_what_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    graphs: tuple[str, ...],
    dot_product: bool | None,
    asked: str | None,
    name: str,
) -> None:
    monkeypatch.setattr(precision, "has_int8_dot_product", lambda: dot_product)
    assert choose(folder_with(tmp_path, *graphs), asked).name == name


def test_this_cpu_decides(tmp_path: Path) -> None:
    chosen = choose(folder_with(tmp_path, "int8"))
    assert chosen.in_float is (cpu.has_int8_dot_product() is False)


def test_the_environment_is_asked_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = folder_with(tmp_path, "int8")
    monkeypatch.setenv(precision.VARIABLE, "float")
    assert choose(both).name == "int8 in float"
    assert precision.VARIABLE in choose(both).why
    assert choose(both, "int8").name == "int8"
    monkeypatch.setenv(precision.VARIABLE, "int8")
    assert choose(both).name == "int8"
    assert choose(find_model("landmark-light")).name == "bf16"
    monkeypatch.setenv(precision.VARIABLE, "")
    assert choose(both).why != f"by {precision.VARIABLE}"


def test_wrong_words_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("f16", "INT8", ""):
        with pytest.raises(InputError, match="unknown precision"):
            milepost.load(MINILM, precision=wrong)
        with pytest.raises(InputError, match="unknown precision"):
            milepost.open(tmp_path / "index", precision=wrong)
    assert not (tmp_path / "index").exists()
    monkeypatch.setenv(precision.VARIABLE, "half")
    with pytest.raises(InputError, match="'half' in MILEPOST_PRECISION"):
        milepost.load(MINILM)


def test_a_folder_without_graphs(tmp_path: Path) -> None:
    for asked in ("auto", "int8", "float"):
        with pytest.raises(ModelError, match="holds no OpenVINO graph"):
            choose(folder_with(tmp_path), asked)


def test_both_paths_agree(encoders: dict[str, milepost.Encoder], text: str) -> None:
    whole, plain = encoders["int8"].encode(text), encoders["float"].encode(text)
    np.testing.assert_array_equal(whole.spans, plain.spans)
    cosines = (whole.vectors * plain.vectors).sum(1)
    assert cosines.mean() >= 0.995
    assert cosines.min() >= 0.97
    assert not np.array_equal(whole.vectors, plain.vectors)
    assert float(whole.document @ plain.document) >= 0.995
    assert encoders["int8"].fingerprint == encoders["float"].fingerprint
    assert encoders["int8"].engine.startswith("OpenVINO, openvino_int8, ")
    assert encoders["float"].engine.startswith("OpenVINO, openvino_int8 in float, ")


def test_rerankers_agree_and_run_as_their_model_does(
    encoders: dict[str, milepost.Encoder], text: str
) -> None:
    from milepost.encoder.reranker import LandmarkReranker

    question, scores = "How do species compete for food?", {}
    for name, encoder in encoders.items():
        reranker = LandmarkReranker.of(encoder)
        assert reranker._encoder.engine == encoder.engine
        bound = reranker.for_query(question)
        sentences = bound.tokens([part for part in text.split(". ")[:6] if part.strip()])
        scores[name] = np.concatenate([each.cosines for each in bound.read([sentences])])
    np.testing.assert_allclose(scores["int8"], scores["float"], atol=0.1)


def test_one_index_for_both(
    tmp_path: Path, encoders: dict[str, milepost.Encoder], text: str
) -> None:
    place = tmp_path / "index"
    file = tmp_path / "book.txt"
    file.write_text(text, encoding="utf-8")
    question = "Why are species of the same genus rivals?"
    with milepost.open(place, model=encoders["int8"]) as index:
        index.add(file)
        first = index.search(question, k=3)
    with milepost.open(place, model=encoders["float"]) as index:
        assert index.add(file).unchanged == (str(file),)
        again = index.search(question, k=3)
    assert again[0].start < first[0].end
    assert first[0].start < again[0].end
    np.testing.assert_allclose(again[0].score, first[0].score, atol=0.15)


def test_open_takes_a_precision(tmp_path: Path) -> None:
    for asked, said in (("int8", "openvino_int8,"), ("float", "openvino_int8 in float,")):
        with milepost.open(tmp_path / asked, model=MINILM, precision=asked) as index:
            assert said in index.model.engine


def test_a_changed_model_is_compiled_anew(tmp_path: Path) -> None:
    """The engine knows a compiled graph by its weights, not by name, size or time of change."""
    model, cache = tmp_path / "model", tmp_path / "cache"
    model.mkdir()
    for suffix in (".xml", ".bin"):
        file = SHIPPED / MINILM / f"openvino_int8{suffix}"
        shutil.copy2(file, model)

    def vectors() -> np.ndarray:
        engine = openvino.OpenVinoEngine(model / "openvino_int8.xml", cache=cache, in_float=True)
        return milepost.Encoder(find_model(MINILM), engine).encode("Bees build cells.").vectors

    first = vectors()
    assert len(list(cache.iterdir())) == 1
    np.testing.assert_array_equal(vectors(), first)
    assert len(list(cache.iterdir())) == 1
    weights = model / "openvino_int8.bin"
    before, numbers = weights.stat(), bytearray(weights.read_bytes())
    middle = len(numbers) // 2
    numbers[middle : middle + 20_000] = bytes(20_000)
    weights.write_bytes(numbers)
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert np.abs(vectors() - first).max() > 1e-3


def test_a_graph_that_is_missing(tmp_path: Path) -> None:
    for cache in (None, tmp_path / "cache"):
        with pytest.raises(ModelError, match=r"none\.xml cannot be compiled"):
            openvino.OpenVinoEngine(tmp_path / "none.xml", cache=cache, in_float=True)


def test_too_little_memory_is_said(encoders: dict[str, milepost.Encoder], monkeypatch) -> None:
    infer = Mock(side_effect=RuntimeError("Exception from x.cpp:\n[CPU] a node can't alloc\n\n"))
    monkeypatch.setattr(encoders["float"]._engine, "_request", Mock(infer=infer))
    with pytest.raises(ModelError, match="free some memory"):
        encoders["float"].encode_query("Who builds?")
