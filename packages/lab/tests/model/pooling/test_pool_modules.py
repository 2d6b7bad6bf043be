"""Every torch pooling is the NumPy one, trains, and runs in OpenVINO."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab import pooling  # noqa: E402
from milepost_lab.model.pooling import module, padded  # noqa: E402
from milepost_lab.model.pooling.export import write  # noqa: E402
from support.every_operator import ASKED, LAYERS, NAMES, WIDTH, cut, inputs, one, warm  # noqa: E402

pytestmark = pytest.mark.torch
LENGTHS = [4, 1, 7, 2]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def made(name):
    """A module with the weights of ``warm``."""
    pool = warm(name)
    asked = ASKED if "queries" in pool.operator.needs else 0
    built = module(name, WIDTH, query_width=asked, layers=LAYERS)
    if pool.weights:
        built.load_state_dict({n: torch.from_numpy(v) for n, v in pool.weights.items()})
    return pool, built


def as_tensors(name, states, given, *, padding=0.0, more=0):
    """A batch as the module reads it: padded with anything, as far as one likes."""
    parts = [one(name, states, given, LENGTHS, n) for n in range(len(LENGTHS))]
    whole, lengths = padded([torch.from_numpy(part) for part, _ in parts])
    if more:
        whole = torch.cat([whole, torch.zeros(len(LENGTHS), more, *whole.shape[2:])], 1)
    for row, length in enumerate(LENGTHS):
        whole[row, length:] = padding
    kept = {}
    if "queries" in given:
        kept["queries"] = torch.from_numpy(given["queries"])
    if "segments" in given:
        kept["segments"] = torch.full(whole.shape[:2], 77)
        for row, length in enumerate(LENGTHS):
            kept["segments"][row, :length] = numbers(length)
    return whole, lengths, kept


def numbers(length):
    """The segment of each token."""
    return torch.repeat_interleave(torch.arange(len(cut(length))), torch.tensor(cut(length)))


def test_torch_and_numpy_agree(name):
    pool, built = made(name)
    states, given = inputs(name, np.random.default_rng(1), LENGTHS)
    whole, lengths, kept = as_tensors(name, states, given)
    with torch.no_grad():
        got = built(whole, lengths, **kept).numpy()
    wanted = pool(states, LENGTHS, **given)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        built.reference()(states, LENGTHS, **given), wanted, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("padding", [0.0, 1e4, float("nan")])
def test_padding_is_not_read(name, padding):
    _, built = made(name)
    states, given = inputs(name, np.random.default_rng(2), LENGTHS)
    whole, lengths, kept = as_tensors(name, states, given)
    other, _, also = as_tensors(name, states, given, padding=padding, more=5)
    with torch.no_grad():
        torch.testing.assert_close(
            built(other, lengths, **also), built(whole, lengths, **kept), rtol=1e-5, atol=1e-6
        )


def test_gradients_are_finite_and_reach_every_weight(name):
    _, built = made(name)
    states, given = inputs(name, np.random.default_rng(3), LENGTHS)
    whole, lengths, kept = as_tensors(name, states, given, padding=float("nan"))
    whole.requires_grad_(True)
    out = built(whole, lengths, **kept)
    (out * torch.randn(out.shape, generator=torch.Generator().manual_seed(0))).sum().backward()
    mask = torch.arange(whole.shape[1])[None] < lengths[:, None]
    assert torch.isfinite(whole.grad[mask]).all()
    assert (whole.grad[~mask] == 0).all()
    for label, weight in built.named_parameters():
        assert weight.grad is not None, label
        assert torch.isfinite(weight.grad).all(), label
        assert weight.grad.abs().max() > 0, label


def test_it_runs_in_openvino_with_texts_of_any_length(name, tmp_path):
    import openvino

    pool, built = made(name)
    needs = pool.operator.needs
    widths = {"query_width": ASKED} if "queries" in needs else {}
    if pool.operator.late == "many":
        with pytest.raises(InputError, match=f"{name} gives many vectors per text"):
            write(built, tmp_path)
        return
    write(built, tmp_path, **widths)
    compiled = openvino.Core().compile_model(
        tmp_path / "pooling.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    for length in (1, 2, 7, 40):
        states, given = inputs(name, np.random.default_rng(length), [length])
        feed = {"states": states}
        if "queries" in needs:
            feed["query"] = given["queries"][0]
        if "segments" in needs:
            feed["segments"] = numbers(length).numpy()
        np.testing.assert_allclose(
            compiled(feed)["vector"], pool(states, [length], **given)[0], rtol=2e-4, atol=2e-5
        )
    assert pooling.load(tmp_path / "pooling.npz").operator.name == name
    assert compiled.outputs[0].get_any_name() == "vector"


def test_several_queries_of_a_text_give_what_each_gives_alone(name):
    if "queries" not in pooling.names()[name].needs:
        pytest.skip("this operator reads no query")
    _, built = made(name)
    states, given = inputs(name, np.random.default_rng(4), LENGTHS)
    whole, lengths, kept = as_tensors(name, states, given, padding=float("nan"))
    kept["queries"] = torch.randn(
        len(LENGTHS), 3, ASKED, generator=torch.Generator().manual_seed(0)
    )
    with torch.no_grad():
        together = built(whole, lengths, **kept)
        for number in range(3):
            alone = built(whole, lengths, **{**kept, "queries": kept["queries"][:, number]})
            torch.testing.assert_close(together[:, number], alone, rtol=1e-5, atol=1e-6)
