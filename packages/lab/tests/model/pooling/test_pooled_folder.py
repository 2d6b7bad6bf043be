"""A model folder whose documents are pooled by another operator than the mean of landmarks."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

import milepost  # noqa: E402
from milepost.cli.checks import _model  # noqa: E402
from milepost.engine.folder import SHIPPED, find_model  # noqa: E402
from milepost.errors import InputError, ModelError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling.export import install  # noqa: E402

pytestmark = pytest.mark.torch
TEXT = "Bees build cells of wax. A cell has six walls. The wax is costly to make. Who pays?"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(SHIPPED / "landmark-light", tmp_path / "model")


def trained(folder, name="attention", **settings):
    """A pooling with weights of the model's width, saved."""
    width = json.loads((folder / "milepost.json").read_text())["dimensions"]
    weights = {"query": np.random.default_rng(0).standard_normal(width).astype(np.float32)}
    pool = pooling.get(name, weights=weights if name == "attention" else None, **settings)
    file = folder.parent / "trained.npz"
    pool.save(file)
    return pool, file


def test_documents_are_pooled_by_it_and_landmarks_stay(folder):
    before = milepost.load(folder, cache=False).encode(TEXT)
    pool, file = trained(folder, temperature=0.1)
    made = install(file, folder)
    model = milepost.load(folder, cache=False)
    after = model.encode(TEXT)
    np.testing.assert_array_equal(after.vectors, before.vectors)
    wanted = pool(after.vectors, [len(after.vectors)])[0]
    np.testing.assert_allclose(after.document, wanted / np.linalg.norm(wanted), atol=1e-5)
    assert not np.allclose(after.document, before.document, atol=1e-2)
    assert model.manifest == made
    assert model.manifest.pooling == "attention"


def test_the_mean_as_a_graph_is_the_mean(folder):
    before = milepost.load(folder, cache=False).encode(TEXT)
    install(trained(folder, "mean")[1], folder)
    model = milepost.load(folder, cache=False)
    np.testing.assert_allclose(model.encode(TEXT).document, before.document, atol=1e-5)
    assert not model.encode("").document.any()


@pytest.mark.parametrize("name", ["pma", "latent-attention", "adapool", "top-k"])
def test_the_newer_poolings_can_be_installed(folder, name):
    pool, file = trained(folder, name)
    install(file, folder)
    found = milepost.load(folder, cache=False).encode(TEXT)
    wanted = pool(found.vectors, [len(found.vectors)])[0]
    np.testing.assert_allclose(found.document, wanted / np.linalg.norm(wanted), atol=1e-5)


def test_an_index_of_the_model_before_is_not_mixed_with_it(folder):
    before = milepost.load(folder, cache=False).fingerprint
    install(trained(folder, "max")[1], folder)
    assert milepost.load(folder, cache=False).fingerprint != before


def test_a_pooling_of_another_width_is_refused(folder):
    file = folder.parent / "narrow.npz"
    pooling.get("attention", weights={"query": np.ones(3, np.float32)}).save(file)
    with pytest.raises(InputError, match="need"):
        install(file, folder)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("ponet-triple", {}), ("wordpool", {"prefixes": 2, "join": "concat"}), ("splade", {})],
)
def test_vectors_wider_than_a_question_s_are_refused_and_the_folder_is_left(folder, name, settings):
    before = (folder / "milepost.json").read_bytes()
    with pytest.raises(InputError, match="but a question's has"):
        install(trained(folder, name, **settings)[1], folder)
    assert (folder / "milepost.json").read_bytes() == before
    assert not (folder / "pooling.xml").exists()


@pytest.mark.parametrize("settings", [{}, {"repetitions": 4, "planes": 2}])
def test_late_interaction_is_refused(folder, settings):
    """Even an encoding that happens to be as wide as a question's vector."""
    file = folder.parent / "late.npz"
    for name in ("fixed-encoding",) if settings else ("tokens", "token-pool", "fixed-encoding"):
        pooling.get(name, **settings).save(file)
        with pytest.raises(InputError, match=f"holds {name}, for late interaction"):
            install(file, folder)


def test_threads_that_ask_at_once_get_their_own_text_s_vector(folder):
    """The graph is compiled by whoever comes first, and each reads what it asked for."""
    from concurrent.futures import ThreadPoolExecutor

    from milepost.engine.pooling import PoolingGraph

    install(trained(folder, "max")[1], folder)
    width = json.loads((folder / "milepost.json").read_text())["dimensions"]
    texts = [np.full((2, width), number, np.float32) for number in range(1, 9)]
    for _ in range(3):
        graph = PoolingGraph(folder / "pooling.xml")
        with ThreadPoolExecutor(8) as threads:
            found = list(threads.map(graph, texts))
        np.testing.assert_array_equal(np.stack(found), [text[0] for text in texts])


def test_weights_beyond_single_precision_are_named_and_no_document_has_nan(folder):
    pool, file = trained(folder, temperature=1e-3)
    pool.weights["query"] *= 1e37
    pool.save(file)
    install(file, folder)
    model = milepost.load(folder, cache=False)
    with pytest.raises(ModelError, match=r"pooling\.xml gives no finite vector"):
        model.encode(TEXT)


def test_a_damaged_pooling_is_found_by_doctor(folder):
    """Its files are checked like the graph's, also if it replaced another."""
    install(trained(folder, "max")[1], folder)
    install(trained(folder)[1], folder)
    model = find_model(folder)
    assert _model(model).detail.endswith("checksums match")
    for name in ("pooling.xml", "pooling.bin", "pooling.npz"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(kept + b" ")
        assert _model(model).detail.endswith(f"{name} has changed")
        (folder / name).write_bytes(kept)


def test_a_folder_that_lost_its_pooling_says_so(folder):
    install(trained(folder, "max")[1], folder)
    (folder / "pooling.xml").unlink()
    with pytest.raises(ModelError, match=r"pooling\.xml is missing"):
        milepost.load(folder, cache=False)
