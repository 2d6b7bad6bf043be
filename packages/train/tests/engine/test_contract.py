"""One contract over the ways to run a landmark model: torch, OpenVINO f32, int8, int8 in float."""

import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from milepost.encoder.engine import find_model
from milepost.encoder.engine.openvino import OpenVinoEngine
from milepost_train.batches import assemble
from milepost_train.model import export
from support.tiny_models import CONFIGS, random_model, write_tokenizer

pytest.importorskip("nncf", reason="needs the export extra of milepost-train")

Run = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
TOLERANCE = {"torch": 1e-5, "f32": 1e-4, "int8": 0.05, "int8 in float": 0.05}


def feed(seed: int, rows: int = 3, most: int = 46) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A padded batch of random windows as the encoder would make them."""
    random = np.random.default_rng(seed)
    windows = []
    for _ in range(rows):
        cost, window = 0, []
        for length in random.integers(1, 12, int(random.integers(1, 9))):
            cost += length + 1
            if not window or cost < most:
                window.append(random.integers(5, 200, length).astype(np.int32))
        windows.append(window)
    owners = [(0, n) for n in range(sum(map(len, windows)))]
    batch = assemble(windows, owners, 2, 3)
    ids, sentences, marks = (
        part.numpy().astype(np.int32) for part in (batch.ids, batch.sentences, batch.marks)
    )
    return ids, sentences, marks


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Run]:
    """What runs a kind of network in a way; made when it is asked for, and once."""

    @cache
    def folder(kind: str) -> Path:
        where = tmp_path_factory.mktemp(kind)
        tokenizer = write_tokenizer(where / "t.json")
        names = ("ids", "sentences", "marks")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tracer's and NNCF's own, about their internals
            batches = [dict(zip(names, feed(number), strict=True)) for number in range(4)]
            export(random_model(kind), tokenizer, where / kind, name=kind, calibration=batches)
        return where / kind

    @cache
    def made(kind: str, way: str) -> Run:
        if way == "torch":
            return partial(by_torch, random_model(kind))
        precision, _, in_float = way.partition(" in ")
        graph = find_model(folder(kind)).graph(precision)
        return OpenVinoEngine(graph, cache=None, in_float=bool(in_float)).run

    return made


@pytest.fixture(params=sorted(CONFIGS))
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=list(TOLERANCE))
def engine(
    request: pytest.FixtureRequest, kind: str, runner: Callable[[str, str], Run]
) -> tuple[str, Run]:
    return request.param, runner(kind, request.param)


def by_torch(model: Any, ids: np.ndarray, sentences: np.ndarray, marks: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return model(*map(torch.from_numpy, (ids, sentences, marks))).numpy()


def test_agrees_with_torch(engine: tuple[str, Run], kind: str) -> None:
    name, run = engine
    model = random_model(kind)
    for seed in range(4):
        batch = feed(seed)
        wanted = by_torch(model, *batch)
        got = run(*batch)
        where = batch[2] > 0
        assert got.shape == wanted.shape
        assert np.abs(got[where] - wanted[where]).max() < (
            TOLERANCE[name] if not name.startswith("int8") else 0.3
        )
        assert (got[where] * wanted[where]).sum(-1).mean() > 1 - TOLERANCE[name]
        np.testing.assert_allclose(np.linalg.norm(got[where], axis=-1), 1.0, atol=1e-4)


def test_padding_changes_nothing(engine: tuple[str, Run]) -> None:
    name, run = engine
    ids, sentences, marks = feed(11, rows=2)
    ids[1, 1:], sentences[1, 1:] = 3, -1
    ids[1, 1:5], sentences[1, 1:6], marks[1] = [50, 60, 70, 80], 1, 0
    marks[1, 0] = 5
    together = run(ids, sentences, marks)
    alone = run(ids[1:, :6], sentences[1:, :6], marks[1:, :1])
    other = np.where(sentences < 0, 77, ids).astype(np.int32)
    np.testing.assert_allclose(together[1, 0], alone[0, 0], atol=max(TOLERANCE[name], 1e-5))
    np.testing.assert_allclose(
        run(other, sentences, marks)[1, 0], together[1, 0], atol=max(TOLERANCE[name], 1e-5)
    )
