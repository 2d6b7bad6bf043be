"""Poolings of others: registered, offered by a package, checked before they see data."""

import sys
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from torch import nn  # noqa: E402

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.pooling import registry  # noqa: E402

pytestmark = pytest.mark.torch
LENGTHS = [4, 1, 3]


class Gated(nn.Module):
    """A mean of states that a small network lets through."""

    def __init__(self, width, hidden=6, out=5):
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        self.out = nn.Linear(width, out)

    def forward(self, states, mask):
        share = self.gate(states)[..., 0].masked_fill(~mask, -torch.inf).softmax(1)
        return self.out((share[..., None] * states).sum(1))


class Slots(nn.Module):
    def __init__(self, width, k=3):
        super().__init__()
        self.query = nn.Parameter(torch.randn(k, width))

    def forward(self, states, mask):
        scores = (states @ self.query.T).masked_fill(~mask[..., None], -torch.inf)
        return scores.softmax(1).transpose(1, 2) @ states


class Segmented(nn.Module):
    """The mean of the first token of each segment, weighted by the query, of the last layer."""

    def __init__(self, width, layers, query_width):
        super().__init__()
        self.shapes = width, layers, query_width

    def forward(self, states, mask, segments, queries):
        new = torch.cat([torch.ones_like(mask[:, :1]), segments[:, 1:] != segments[:, :-1]], 1)
        first = (new & mask)[..., None] * states[:, :, -1]
        return first.sum(1) / (new & mask).sum(1, keepdim=True) * queries


class Shaped(nn.Module):
    """A mean that goes wrong as it is told."""

    def __init__(self, width, wrong="no"):
        super().__init__()
        self.wrong = wrong

    def forward(self, states, mask):
        wrong = {
            "tokens": lambda: states.sum(2),
            "scalar": lambda: states.sum((1, 2)),
            "four": lambda: states[:, None, :, :],
            "numpy": lambda: states.sum(1).numpy(),
            "whole": lambda: states.sum(1).long(),
            "nan": lambda: states.sum(1) / (mask.sum(1, keepdim=True) - 3),
            "padding": lambda: states.mean(1),
            "growing": lambda: states * 1.0,
            "raises": lambda: states @ torch.ones(7),
        }
        return wrong.get(self.wrong, lambda: states.sum(1))()


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})


def states(*axes, width=8, seed=0):
    shape = (sum(LENGTHS), *axes, width)
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_a_registered_pooling_is_one_of_the_table():
    row = pooling.register("gated", Gated, paper="1234.56789")
    assert row.title == "A mean of states that a small network lets through."
    assert list(pooling.names())[-1] == "gated"
    assert {name: one.default for name, one in row.parameters.items()} == {"hidden": 6, "out": 5}
    assert pooling.get("gated", hidden=3)(states(), LENGTHS).shape == (3, 5)
    with pytest.raises(InputError, match=r"gated: hidden is 'x', not int"):
        pooling.get("gated", hidden="x")
    with pytest.raises(InputError, match="try: 'gated'"):
        pooling.get("gatd")


def test_it_gives_what_the_module_gives_alone():
    """Concatenated texts, the padded module and the class itself agree; so does a saved file."""
    pooling.register("gated", Gated)
    made = module("gated", 8, seed=4)
    reference, given = made.reference(), states()
    found = reference(given, LENGTHS)
    parts = [torch.from_numpy(part)[None] for part in np.split(given, np.cumsum(LENGTHS)[:-1])]
    with torch.no_grad():
        alone = [made.inner(part, torch.ones(1, part.shape[1], dtype=torch.bool)) for part in parts]
    np.testing.assert_allclose(found, torch.cat(alone).numpy(), atol=1e-6)
    np.testing.assert_allclose(pooling.get("gated", seed=4)(given, LENGTHS), found, atol=1e-6)
    assert not np.allclose(pooling.get("gated", seed=5)(given, LENGTHS), found, atol=1e-2)


def test_a_saved_pooling_is_read_where_it_is_registered(tmp_path):
    pooling.register("gated", Gated)
    reference, given = module("gated", 8, seed=4, hidden=3).reference(), states()
    found = reference(given, LENGTHS)
    reference.save(tmp_path / "gated.npz")
    np.testing.assert_allclose(pooling.load(tmp_path / "gated.npz")(given, LENGTHS), found)
    registry._REGISTERED.clear()
    with pytest.raises(InputError, match="unknown pooling 'gated'"):
        pooling.load(tmp_path / "gated.npz")


def test_padded_states_with_a_mask_are_the_same():
    given = states()
    padded, mask = np.full((3, 5, 8), np.nan, np.float32), np.zeros((3, 5), bool)
    for row, part in enumerate(np.split(given, np.cumsum(LENGTHS)[:-1])):
        padded[row, : len(part)], mask[row, : len(part)] = part, True
    for name in ("mean", "attention"):
        pool = pooling.get(name)
        np.testing.assert_array_equal(pool(padded, mask=mask), pool(given, LENGTHS))
    for wrong in ({}, {"mask": mask, "lengths": LENGTHS}):
        with pytest.raises(InputError, match="mean needs either lengths or mask="):
            pooling.get("mean")(padded, **wrong)
    with pytest.raises(InputError, match=r"not \(tokens, d\); try: mask="):
        pooling.get("mean")(np.zeros((3, 5, 8), np.float32), LENGTHS)


def test_several_vectors_a_text():
    pooling.register("slots", Slots)
    found = pooling.get("slots", k=2)(states(), LENGTHS)
    assert found.shape == (3, 2, 8)
    # A text of one token is that token, whatever attends.
    np.testing.assert_allclose(found[1], states()[[4, 4]], atol=1e-6)


def test_segments_queries_and_layers_are_given_where_they_are_needed():
    pooling.register("parts", Segmented, needs={"segments", "queries", "layers"})
    given, asked = states(2), states(seed=1)[:3]
    found = pooling.get("parts")(given, LENGTHS, queries=asked, segments=[2, 2, 1, 3])
    firsts = [(given[0, -1] + given[2, -1]) / 2, given[4, -1], given[5, -1]]
    np.testing.assert_allclose(found, np.stack(firsts) * asked, atol=1e-5)
    made = module("parts", 8, query_width=8, layers=2)
    assert made.inner.shapes == (8, 2, 8)
    two = made(torch.ones(1, 3, 2, 8), torch.tensor([3]), torch.ones(1, 2, 8), torch.zeros(1, 3))
    assert two.shape == (1, 2, 8)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("tokens", "gives the shape"),
        ("scalar", r"returns the shape \(2,\) for 2 texts"),
        ("four", r"returns the shape \(2, 1, 5, 8\)"),
        ("numpy", "returns ndarray, not a tensor of floats"),
        ("whole", "returns torch.int64, not a tensor of floats"),
        ("nan", "gives NaN or infinity for a text of 3 tokens"),
        ("padding", "reads padding"),
        ("growing", "gives the shape"),
        ("raises", "fails on states of the shape .*RuntimeError: .*forward"),
    ],
)
def test_what_is_wrong_is_said_before_any_data_and_by_name(wrong, said):
    pooling.register("shaped", Shaped)
    with pytest.raises(InputError, match=f"^shaped {said}"):
        module("shaped", 8, wrong=wrong)
    module("shaped", 8)


class Projected(nn.Module):
    """A mean behind a random projection that is kept as it is told."""

    def __init__(self, width, kept="saved"):
        super().__init__()
        drawn = torch.randn(width, 4)
        if kept == "plain":
            self.drawn = drawn
        elif kept == "shaped":
            self.register_buffer("drawn", torch.randn(width, 1 + int(1e4 * drawn[0, 0].abs())))
        else:
            self.register_buffer("drawn", drawn, persistent=kept != "unsaved")
        self.kept, self.seen = kept, 0.0

    def forward(self, states, mask):
        means = states.sum(1) / mask.sum(1, keepdim=True)
        if self.training and self.kept == "trained":
            self.seen = means.detach().mean(0)
        return (means - self.seen) @ self.drawn


@pytest.mark.parametrize("kept", ["plain", "unsaved", "trained"])
def test_state_that_is_not_saved_is_refused(kept):
    """What is scored and saved is another module with the same state_dict."""
    pooling.register("projected", Projected)
    with pytest.raises(InputError, match=r"projected keeps state outside.*self\.register_buffer"):
        module("projected", 8, kept=kept)
    made, given = module("projected", 8, seed=4), states()
    parts = [torch.from_numpy(part).mean(0) for part in np.split(given, np.cumsum(LENGTHS)[:-1])]
    wanted = torch.stack(parts) @ made.inner.drawn
    np.testing.assert_allclose(made.reference()(given, LENGTHS), wanted.numpy(), atol=1e-6)


def test_a_state_of_another_shape_for_each_seed_is_refused():
    pooling.register("projected", Projected)
    with pytest.raises(InputError, match=r"state_dict of projected does not fit.*size mismatch"):
        module("projected", 8, kept="shaped")


class InPlace(nn.Module):
    """A weighted mean, its weights masked in place, which their gradient needs as they were."""

    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, states, mask):
        share = self.score(states)[..., 0].softmax(1)
        share *= mask
        return (share / share.sum(1, keepdim=True))[..., None].mul(states).sum(1)


class Marked(nn.Module):
    """A mean whose weights, and what it draws and counts, the trial must leave as they are."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def forward(self, states, mask):
        return self.norm(states.sum(1) / mask.sum(1, keepdim=True))


def test_a_backward_pass_that_fails_is_said_before_any_data():
    pooling.register("in-place", InPlace)
    with (
        torch.no_grad(),  # as where a trained pooling is used
        pytest.raises(InputError, match=r"^in-place fails in its backward pass: Runtime.*x \*= y"),
    ):
        module("in-place", 8)


def test_the_trial_leaves_no_trace():
    pooling.register("marked", Marked)
    torch.manual_seed(0)
    made, drawn = module("marked", 8), torch.rand(3)
    torch.manual_seed(0)
    torch.testing.assert_close(torch.rand(3), drawn)
    assert made.training
    assert made.inner.norm.num_batches_tracked == 0
    assert all(weight.grad is None for weight in made.parameters())


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        ("mean", Gated, "mean is a pooling of Milepost; try: another name"),
        ("My Pool", Gated, "cannot name a pooling"),
        ("mine", 3, "3 is not a class or function"),
        ("mine", lambda: None, "does not take the width"),
        ("mine", lambda width, hidden: None, "its argument hidden has no default"),
        ("mine", lambda width, how=None: None, "its argument how has no default"),
        ("mine", lambda width, seed=0: None, "its argument seed has the name of an argument"),
    ],
)
def test_what_cannot_be_registered(name, make, said):
    with pytest.raises(InputError, match=said):
        pooling.register(name, make)
    with pytest.raises(InputError, match="mine needs 'tokens'"):
        pooling.register("mine", Gated, needs={"tokens"})


def test_a_partial_has_the_title_of_its_class():
    registry.register("mine", partial(Gated, hidden=32))
    assert pooling.names()["mine"].title == Gated.__doc__


def test_what_makes_no_module_is_named():
    pooling.register("mine", lambda width: 3)
    with pytest.raises(InputError, match=r"mine makes int, not a torch\.nn\.Module"):
        module("mine", 8)
    pooling.register("mine", lambda width, heads=3: nn.MultiheadAttention(width, heads))
    with pytest.raises(InputError, match="mine cannot be made for states of width 8: Assertion"):
        module("mine", 8)


CODE = """
from torch import nn
class Total(nn.Module):
    def __init__(self, width, scale=2.0):
        super().__init__()
        self.scale = scale
    def forward(self, states, mask):
        return self.scale * states.masked_fill(~mask[..., None], 0).sum(1)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Two packages as pip lays them out: one is right, one cannot be imported."""
    (tmp_path / "total_pooling.py").write_text(CODE)
    about = tmp_path / "total_pooling-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: total-pooling\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[milepost.poolings]\ntotal = total_pooling:Total\nbroken = no_such_module:Pool\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("total_pooling", None)


@pytest.mark.usefixtures("installed")
def test_a_package_offers_a_pooling():
    """It is imported when it is asked for, and a broken one stops nobody else."""
    assert registry.others() == ["broken", "total"]
    assert "total_pooling" not in sys.modules
    found = pooling.get("total", scale=3.0)(states(), LENGTHS)
    np.testing.assert_allclose(found[1], 3 * states()[4], rtol=1e-6)
    with pytest.raises(InputError, match=r"broken of total-pooling cannot be imported.*pip uninst"):
        pooling.get("broken")
