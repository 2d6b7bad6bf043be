"""Torch twins of the grid and the hierarchy under settings that are not the defaults."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.model.pooling.export import write  # noqa: E402
from milepost_lab.model.pooling.neighbours import paired  # noqa: E402
from support.every_operator import WIDTH, cut, warm  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("p2at", {"columns": True}),
        ("p2at", {"rows": False, "columns": True, "pyramid": "parallel"}),
        ("p2at", {"rows": False, "pyramid": "none"}),
        ("p2at", {"heads": 1, "key": 3, "reach": 2}),
        ("pyramid", {"cascade": True, "read": "mean"}),
        ("pyramid", {"widths": (5,)}),
        ("hierarchy", {"placement": (1, 2, 1, 1), "join": "max"}),
        ("hierarchy", {"placement": (2,)}),
        ("hierarchy", {"placement": (1, 2, 1, 1), "join": "attention"}),
        ("hierarchy", {"placement": (1, 1, 1), "join": ("attention", "max")}),
        ("hierarchy", {"placement": (1, 1, 1), "join": ("max", "mean")}),
    ],
)
def test_every_ablation_is_the_reference_s(name, settings):
    pool = warm(name, **settings)
    built = module(name, WIDTH, **settings)
    if pool.weights:
        built.load_state_dict({n: torch.from_numpy(v) for n, v in pool.weights.items()})
    rng = np.random.default_rng(0)
    lengths, longest = [11, 1, 6], 13
    texts = [rng.standard_normal((n, WIDTH)).astype("f4") for n in lengths]
    states = torch.full((3, longest, WIDTH), torch.nan)
    segments = torch.full((3, longest), 77)
    for row, text in enumerate(texts):
        states[row, : len(text)] = torch.from_numpy(text)
        parts = torch.tensor(cut(len(text)))
        segments[row, : len(text)] = torch.repeat_interleave(torch.arange(len(parts)), parts)
    with torch.no_grad():
        got = built(states, torch.tensor(lengths), segments=segments).numpy()
    given = [part for n in lengths for part in cut(n)]
    wanted = pool(np.concatenate(texts), lengths, segments=given)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_pairs_of_padded_texts():
    values = torch.tensor([[[1.0], [3.0], [7.0]], [[10.0], [20.0], [0.0]]])
    mask = torch.tensor([[True, True, True], [True, True, False]])
    joined, left = paired(values, mask, "mean")
    assert joined[..., 0].tolist() == [[2, 7], [15, 0]]
    assert left.tolist() == [[True, True], [True, False]]
    assert paired(-values, mask, "max")[0][..., 0].tolist() == [[-1, -7], [-10, 0]]
    # Numbers alone are 1 or -1 at unit mean square: unlike, they are heard three to one.
    values = torch.tensor([[[4.0], [-8.0], [7.0]], [[10.0], [20.0], [0.0]]])
    score = torch.tensor([3.0]).log() / 2
    joined, left = paired(values, mask, "attention", score)
    torch.testing.assert_close(joined[..., 0], torch.tensor([[1.0, 7.0], [15.0, 0.0]]))
    assert left.tolist() == [[True, True], [True, False]]


def test_one_module_runs_every_placement_with_the_same_weights():
    rng = np.random.default_rng(1)
    built = module("hierarchy", WIDTH, placement=(2, 1))
    with torch.no_grad():
        for weight in built.parameters():
            weight.add_(torch.from_numpy(0.1 * rng.standard_normal(weight.shape)).float())
    states = torch.from_numpy(rng.standard_normal((1, 7, WIDTH)).astype("f4"))
    mask = torch.ones(1, 7, dtype=torch.bool)
    other = module("hierarchy", WIDTH, placement=(1, 2))
    other.load_state_dict(built.state_dict())
    torch.testing.assert_close(
        built.placed(states, mask, (1, 2), ("mean",)), other(states, torch.tensor([7]))
    )


@pytest.mark.parametrize("join", ["attention", ("max", "attention")])
def test_attention_between_halvings_trains_and_runs_in_openvino(join, tmp_path):
    import openvino

    pool = warm("hierarchy", placement=(1, 1, 1), join=join)
    built = module("hierarchy", WIDTH, placement=(1, 1, 1), join=join)
    built.load_state_dict({n: torch.from_numpy(v) for n, v in pool.weights.items()})
    rng = np.random.default_rng(0)
    states = torch.from_numpy(rng.standard_normal((2, 9, WIDTH)).astype("f4"))
    states[1, 6:] = torch.nan
    built(states.requires_grad_(True), torch.tensor([9, 6])).square().sum().backward()
    assert torch.isfinite(states.grad[0]).all()
    assert (states.grad[1, 6:] == 0).all()
    for name, weight in built.named_parameters():
        assert torch.isfinite(weight.grad).all(), name
        assert weight.grad.abs().max() > 0, name
    write(built, tmp_path)
    compiled = openvino.Core().compile_model(
        tmp_path / "pooling.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    for length in (1, 2, 3, 7, 40):
        text = rng.standard_normal((length, WIDTH)).astype("f4")
        np.testing.assert_allclose(
            compiled({"states": text})["vector"], pool(text, [length])[0], rtol=2e-4, atol=2e-5
        )
