"""What holds for every pooling of the table, in torch, in NumPy, saved, and as a graph."""

import numpy as np
import openvino
import pytest
import torch

from milepost.errors import InputError, ModelError
from milepost_lab import pooling
from milepost_lab.pooling.export import graph, install
from milepost_lab.pooling.registry import run_code

WIDTH, LAYERS, LENGTHS = 16, 3, [5, 4]
NAMES = list(pooling.names())


def inputs(name, seed=0):
    rng = np.random.default_rng(seed)
    needs = pooling.names()[name].needs
    shape = (9, LAYERS, WIDTH) if "layers" in needs else (9, WIDTH)
    given = {}
    if "queries" in needs:
        given["queries"] = rng.standard_normal((2, WIDTH)).astype("f4")
    if "segments" in needs:
        given["segments"] = [2, 1, 2, 3, 1]
    return rng.standard_normal(shape).astype("f4"), given


def alone(states, given):
    cut = {"queries": slice(1, 2), "segments": slice(3, 5)}
    return states[5:], {name: value[cut[name]] for name, value in given.items()}


def nonzero(vector):
    return vector[vector.any(-1)] if vector.ndim == 2 else vector


@pytest.mark.parametrize("name", NAMES)
def test_a_text_has_the_same_vector_beside_a_longer_one(name):
    states, given = inputs(name)
    pool = pooling.get(name)
    both = pool(states, LENGTHS, **given)
    short, less = alone(states, given)
    np.testing.assert_allclose(
        nonzero(both[1]), nonzero(pool(short, [4], **less)[0]), rtol=1e-4, atol=1e-5
    )
    assert both.dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_tokens_matters_where_the_table_says_so(name):
    row = pooling.names()[name]
    if row.name in {"p2at", "hierarchy"}:
        pytest.skip("begins as a mean of means")
    states, given = inputs(name)
    turned = states[[1, 4, 0, 2, 3, *range(5, 9)]]
    pool = pooling.get(name)
    same = np.allclose(
        np.sort(pool(states, LENGTHS, **given), 1) if row.late == "many" else
        pool(states, LENGTHS, **given),
        np.sort(pool(turned, LENGTHS, **given), 1) if row.late == "many" else
        pool(turned, LENGTHS, **given),
        atol=1e-5,
    )  # fmt: skip
    assert same or row.ordered


@pytest.mark.parametrize("name", NAMES)
def test_gradients_reach_every_weight(name):
    row = pooling.names()[name]
    states, given = inputs(name)
    made = pooling.module(name, WIDTH, layers=LAYERS, seed=3)
    weights = [weight for weight in made.parameters() if weight.requires_grad]
    if not weights:
        return
    with torch.no_grad():
        for weight in weights:  # those that begin at 0 hide others
            weight += 0.1 * torch.randn_like(weight)
    tensors = {
        "queries": torch.from_numpy(given["queries"][:1]) if "queries" in given else None,
        "segments": torch.tensor([[0, 0, 1, 2, 2]]) if "segments" in given else None,
    }
    found = made(
        torch.from_numpy(states[None, :5]),
        torch.ones(1, 5, dtype=torch.bool),
        **{need: tensors[need] for need in row.needs if need in tensors},
    )
    found.square().sum().backward()
    idle = {n for n, w in made.named_parameters() if w.requires_grad and w.grad is None}
    assert idle <= {"score"}  # of hierarchy, whose joins are means unless asked for


@pytest.mark.parametrize("name", NAMES)
def test_saved_poolings_give_the_same_vectors(name, tmp_path):
    states, given = inputs(name)
    pool = pooling.get(name, seed=4)
    wanted = pool(states, LENGTHS, **given)
    pool.save(tmp_path / "pool.npz")
    np.testing.assert_array_equal(
        pooling.load(tmp_path / "pool.npz")(states, LENGTHS, **given), wanted
    )


@pytest.mark.parametrize(
    "name", [name for name, row in pooling.names().items() if row.late != "many"]
)
def test_a_graph_gives_the_vector_of_texts_of_other_lengths(name):
    states, given = inputs(name)
    row, pool = pooling.names()[name], pooling.get(name)
    wanted = pool(states, LENGTHS, **given)[1]
    made = pool.module(WIDTH, WIDTH if "queries" in row.needs else 0, states.shape[1]
                       if states.ndim == 3 else 1)  # fmt: skip
    compiled = openvino.compile_model(
        graph(made, row, WIDTH, layers=LAYERS), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    feed = {"states": states[5:]}
    if "queries" in row.needs:
        feed["query"] = given["queries"][1]
    if "segments" in row.needs:
        feed["segments"] = np.array([0, 0, 0, 1])
    np.testing.assert_allclose(compiled(feed)[0], wanted, rtol=1e-3, atol=1e-4)


def test_wrong_inputs_are_named():
    states = np.ones((4, WIDTH), "f4")
    for call, message in (
        (lambda: pooling.get("means"), "unknown pooling 'means'"),
        (lambda: pooling.get("ggem", group=2), "no setting 'group'"),
        (lambda: pooling.get("ggem", groups=2.5), "not int"),
        (lambda: pooling.get("ggem", form="abs"), "form is 'abs'"),
        (lambda: pooling.get("ggem", groups=3)(states, [4]), "3 groups"),
        (lambda: pooling.get("pma", heads=3)(states, [4]), "3 heads do not divide"),
        (lambda: pooling.get("xpool")(states, [4]), "needs a query"),
        (lambda: pooling.get("lmk")(states, [4]), "needs segments"),
        (lambda: pooling.get("lmk")(states, [4], segments=[5]), "must tile"),
        (lambda: pooling.get("lmk")(states, [2, 2], segments=[3, 1]), "must tile"),
        (lambda: pooling.get("mean")(states, [3]), "add up to 3 of 4"),
        (lambda: pooling.get("mean")(states * np.nan, [4]), "NaN"),
        (lambda: pooling.get("layer-mean")(states, [4]), "3-dimensional"),
        (lambda: pooling.get("pyramid", widths=(2,))(states, [4], segments=[4]), "odd"),
        (lambda: pooling.get("block", chunks=65)(states, [4], queries=states[:1]), "65 chunks"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "pool.npz").write_text("x")
    with pytest.raises(ModelError, match="is not a pooling"):
        pooling.load(tmp_path / "pool.npz")


class Gated(torch.nn.Module):
    def __init__(self, width, hidden=4):
        super().__init__()
        self.gate = torch.nn.Linear(width, 1)

    def forward(self, states, mask):
        gates = torch.sigmoid(self.gate(states)) * mask[..., None]
        return (gates * states).sum(1)


class Padded(torch.nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, states, mask):
        return states.mean(1)


def test_a_pooling_of_others_is_tried_before_it_is_used():
    pooling.register("gated", Gated)
    assert pooling.names()["gated"].defaults == {"hidden": 4}
    assert pooling.get("gated")(np.ones((3, 8), "f4"), [3]).shape == (1, 8)
    pooling.register("padded", Padded)
    with pytest.raises(InputError, match="reads padding"):
        pooling.module("padded", 8)
    with pytest.raises(InputError, match="pooling of Milepost"):
        pooling.register("mean", Gated)
    with pytest.raises(InputError, match="no default"):
        pooling.register("wrong", lambda width, given=None: Gated(width))


def test_code_that_registers_nothing_is_refused(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("import torch\n")
    with pytest.raises(InputError, match="registers no pooling"):
        run_code(file)
    file.write_text("1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        run_code(file)
    file.write_text(
        "from milepost_lab import pooling\n"
        "from milepost_lab.pooling.plain import Mean\npooling.register('own', Mean)\n"
    )
    run_code(file)
    assert pooling.get("own")(np.ones((2, 8), "f4"), [2]).tolist() == [[1] * 8]


def test_landmarks_of_chunks_are_pooled():
    pooled = pooling.of_landmarks("lmk")
    found = pooled(np.array([[1.0], [3.0], [5.0]], "f4"), [2, 1])
    np.testing.assert_allclose(found, [[2], [5]])
    with pytest.raises(InputError, match="cannot make one vector"):
        pooling.of_landmarks("xpool")


def test_a_pooling_that_reads_a_query_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setattr("milepost_lab.pooling.export.read_manifest", lambda folder: None)
    pool = pooling.get("query-top-k")
    pool(np.ones((2, 8), "f4"), [2], queries=np.ones((1, 8), "f4"))
    pool.save(tmp_path / "pool.npz")
    with pytest.raises(InputError, match="does not make one vector"):
        install(tmp_path / "pool.npz", tmp_path)
