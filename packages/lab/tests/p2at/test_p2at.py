"""P2AT's blocks for images: numbers worked out by hand, and what each mended accident changes."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.p2at.model import (  # noqa: E402
    CORRECTED,
    PUBLISHED,
    Block,
    PyramidAttention,
    attended,
    drawn_out,
    squeezed,
    window,
)
from milepost_lab.p2at.segmenter import (  # noqa: E402
    ARMS,
    arm,
    segmenter,
    weights,
)
from milepost_lab.p2at.study import command, hardest, overlap  # noqa: E402


def near(got, wanted, **more):
    torch.testing.assert_close(got, torch.as_tensor(wanted, dtype=got.dtype), **more)


def test_counted_zeros_make_corners_sag_and_masked_averages_do_not():
    ones = torch.ones(1, 1, 3, 3)
    sags = torch.tensor([[4 / 9, 2 / 3, 4 / 9], [2 / 3, 1, 2 / 3], [4 / 9, 2 / 3, 4 / 9]])
    near(window(ones, ones, 3, masked=False)[0, 0], sags)
    near(window(ones, ones, 3, masked=True), ones)
    row = torch.ones(1, 1, 1, 5)
    # Of one row the other two rows of each 3x3 window are missing as well.
    first = 3 * window(row, row, 3, masked=False)
    near(first[0, 0, 0], [2 / 3, 1, 1, 1, 2 / 3])
    again = 5 * window(first, row, 5, masked=False)
    near(again[0, 0, 0], [0.533333, 0.733333, 0.866667, 0.733333, 0.533333], atol=1e-6, rtol=0)


def branches(x, there=None):
    """Rows and columns of attention with one head and q = k = v = x."""
    x = torch.tensor(x)[None, None]
    there = torch.ones_like(x) if there is None else torch.tensor(there)[None, None]
    found = []
    for axis in ("row", "column"):
        means, some = squeezed(x, there, axis)
        found.append(attended(means, means, means, some, 1)[0, 0])
    return found


def test_rows_and_columns_by_hand():
    rows, columns = branches([[1.0, 3.0], [5.0, 7.0]])
    near(rows, [5.998659, 6.0], atol=1e-6, rtol=0)
    near(columns, [4.995055, 4.999909], atol=1e-6, rtol=0)
    total = torch.tensor([[1.0, 3.0], [5.0, 7.0]]) + rows[:, None] + columns[None]
    near(total, [[11.993713, 13.998568], [15.995055, 17.999909]], atol=2e-6, rtol=0)
    rows, columns = branches([[0.25, 0.75], [1.25, 1.75]])
    near(rows, [1.122459, 1.317574], atol=1e-6, rtol=0)
    near(columns, [1.046333, 1.075677], atol=1e-6, rtol=0)
    total = torch.tensor([[0.25, 0.75], [1.25, 1.75]]) + rows[:, None] + columns[None]
    near(total, [[2.418793, 2.948137], [3.613908, 4.143252]], atol=2e-6, rtol=0)


def test_padding_takes_part_unless_it_is_masked():
    padded = [[0.25, 0.75, 0.0], [1.25, 1.75, 0.0], [0.0, 0.0, 0.0]]
    there = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    values = torch.tensor([[0.25, 0.75], [1.25, 1.75]])
    rows, columns = branches(padded)
    leaked = values + rows[:2, None] + columns[None, :2]
    near(leaked, [[1.254770, 1.790357], [2.373999, 2.909586]], atol=2e-6, rtol=0)
    rows, columns = branches(padded, there)
    near(rows, [1.122459, 1.317574, 0.0], atol=1e-6, rtol=0)
    near(columns, [1.046333, 1.075677, 0.0], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("table", "places", "wanted"),
    [
        ([0, 1, 2, 3], 2, [0.5, 2.5]),
        ([0, 1, 2, 3], 1, [1.5]),
        ([0, 1], 4, [0, 0.25, 0.75, 1]),
        (range(16), 3, [2.166667, 7.5, 12.833333]),
    ],
)
def test_positions_are_drawn_out_half_a_pixel_off(table, places, wanted):
    table = torch.tensor([list(table)], dtype=torch.float32)
    got = drawn_out(table, torch.tensor([places]), places)[0, 0]
    near(got, wanted, atol=1e-5, rtol=0)
    reference = torch.nn.functional.interpolate(
        table[None], places, mode="linear", align_corners=False
    )
    near(got, reference[0, 0])


def block(wiring, seed=0):
    torch.manual_seed(seed)
    mixer = PyramidAttention(8, heads=2, key=4, wiring=wiring)
    return Block(8, mixer, hidden=12, wiring=wiring)


def test_mended_padding_changes_nothing():
    made, x = block(CORRECTED), torch.randn(1, 8, 4, 5)
    wide = torch.full((1, 8, 7, 9), 50.0)
    wide[..., :4, :5] = x
    mask = torch.zeros(1, 7, 9, dtype=torch.bool)
    mask[:, :4, :5] = True
    got = made(wide, mask)
    near(got[..., :4, :5], made(x), atol=1e-5, rtol=1e-4)
    assert (got * ~mask[:, None] == 0).all()


def test_mended_batch_mates_change_nothing_and_as_published_they_do():
    x = torch.randn(3, 8, 4, 4)
    for wiring, alike in ((CORRECTED, True), (PUBLISHED, False)):
        made = block(wiring).train()
        assert torch.allclose(made(x)[:1], made(x[:1]), atol=1e-5) == alike


@pytest.mark.parametrize("flag", ["interleave", "masked", "bounded", "alike"])
def test_every_flag_changes_something(flag):
    x = torch.randn(2, 8, 4, 4)
    other = block(replace(CORRECTED, **{flag: False}))
    mended = block(CORRECTED)
    mended.load_state_dict(other.state_dict(), strict=False)
    assert not torch.allclose(mended(x), other(x), atol=1e-4)


@pytest.mark.parametrize("name", list(ARMS))
def test_every_arm_is_as_heavy_and_learns(name):
    torch.manual_seed(0)
    budget = weights(segmenter("corrected", 5, 16).block)
    net = segmenter(name, 5, 16, budget=budget)
    assert weights(net.block) == pytest.approx(budget, rel=0.01)
    out = net(torch.randn(2, 1, 16, 16))
    assert out.shape == (2, 5, 16, 16)
    out.square().sum().backward()
    still = [n for n, w in net.named_parameters() if w.grad is None]
    assert still == []


def test_an_unknown_arm_and_a_small_budget_are_named():
    with pytest.raises(InputError, match="try: 'published'"):
        arm("publishd")
    with pytest.raises(InputError, match="weights at least, not 100"):
        segmenter("corrected", 5, 16, budget=100)


def test_the_hardest_pixels_are_kept_as_in_check_8():
    losses = -torch.log(torch.tensor([0.95] * 4))
    near(hardest(losses, 1), losses[0])  # as published none is kept: NaN
    easy = -torch.log(torch.tensor([0.95, 0.97, 0.99, 0.99]))
    near(hardest(easy, 2), easy[:2].mean())


def test_overlap_counts_pixels_of_all_images():
    found = overlap(np.array([[3, 1, 0], [0, 2, 0], [0, 0, 0]]))
    assert found[:2] == pytest.approx([3 / 4, 2 / 3])
    assert np.isnan(found[2])


def test_the_study_runs(run_study):
    args = ("--arm", "corrected", "--arm", "identity", "--seeds", 2, "--steps", 1, "--images", 8)
    found = run_study(command, *args)
    names = [row["arm"] for row in found["rows"]]
    assert names == ["corrected", "identity", "corrected - identity"]
