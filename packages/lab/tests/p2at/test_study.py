"""Shapes, their overlap, the hardest pixels, and a small study."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from click.testing import CliRunner  # noqa: E402

from milepost.console.options import Settings  # noqa: E402
from milepost.errors import InputError  # noqa: E402
from milepost_lab.p2at import study as segmentation  # noqa: E402
from milepost_lab.p2at.command import command  # noqa: E402
from milepost_lab.p2at.network.segmenter import segmenter  # noqa: E402
from milepost_lab.p2at.shapes import CLASSES, NOISE, SIZE, draw  # noqa: E402
from milepost_lab.p2at.study import (  # noqa: E402
    CONTROL,
    Outcome,
    gains,
    hardest,
    overlap,
    study,
    trained,
)

pytestmark = pytest.mark.torch


def test_the_same_seed_draws_the_same_images():
    images, classes = draw(6, 3)
    again, _ = draw(6, 3)
    np.testing.assert_array_equal(images, again)
    assert images.shape == (6, 1, 32, 32)
    assert images.dtype == np.float32
    assert classes.shape == (6, 32, 32)
    assert np.abs(images - draw(6, 4)[0]).max() > 1


def test_bars_look_alike_but_for_one_end():
    images, classes = draw(200, 0)
    ends = {3: 2.2, 4: -1.2}
    for kind, end in ends.items():
        bars = [image[0][pixels == kind] for image, pixels in zip(images, classes, strict=True)]
        bars = [bar for bar in bars if len(bar)]
        assert {len(bar) for bar in bars} == {28 * 3}
        middle = np.median(np.concatenate(bars))
        assert middle == pytest.approx(1.0, abs=3 * NOISE / 10)
        share = np.mean(np.abs(np.concatenate(bars) - end) < 2 * NOISE)
        assert 0.1 < share < 0.2  # 4 of 28 pixels along
    there = {int(kind) for kind in np.unique(classes)}
    assert there == set(range(len(CLASSES)))


def test_overlap_by_hand():
    # Class 0: 3 right, 1 called 1. Class 1: 4 right. Class 2 is neither there nor called.
    counts = np.array([[3, 1, 0], [0, 4, 0], [0, 0, 0]])
    assert overlap(counts)[:2] == pytest.approx((3 / 4, 4 / 5))
    assert math.isnan(overlap(counts)[2])
    outcome = Outcome("x", 0, 1, 1.0, 1.0, overlap(counts))
    assert outcome.mean == pytest.approx((0.75 + 0.8) / 2)


def test_pixels_that_are_all_alike_still_have_a_loss():
    # As published "p < threshold" keeps none of four at 0.95: the mean of nothing is NaN.
    losses = -torch.log(torch.full((4,), 0.95))
    assert hardest(losses, 2) == pytest.approx(-math.log(0.95), rel=1e-5)


def test_the_k_hardest_are_kept_with_the_k_th():
    given = torch.tensor([0.95, 0.97, 0.99, 0.99])
    assert int((given < given.max()).sum()) == 2  # kept as published: none of the greatest
    losses = -torch.log(given)
    assert hardest(losses, 10) == pytest.approx(float(losses.mean()), rel=1e-5)
    assert hardest(losses, 2) == pytest.approx(float(losses[:2].mean()), rel=1e-5)
    mixed = -torch.log(torch.tensor([0.2, 0.89, 0.95, 0.99]))
    assert hardest(mixed, 1) == pytest.approx(float(mixed[:2].mean()), rel=1e-5)


def test_training_lowers_the_loss_and_repeats(monkeypatch):
    monkeypatch.setattr(segmentation, "TRAIN", 16)
    before, after, again = (trained("rows", 0, steps, batch=8) for steps in (1, 25, 25))
    images, classes = (torch.from_numpy(part) for part in draw(16, 0))
    with torch.no_grad():
        first, last, same = (
            float(torch.nn.functional.cross_entropy(net(images), classes))
            for net in (before, after, again)
        )
    assert last < 0.7 * first
    assert last == same


def test_a_control_trains_nothing_but_the_last_layer(monkeypatch):
    monkeypatch.setattr(segmentation, "TRAIN", 8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        drawn = segmenter("corrected", len(CLASSES), SIZE).state_dict()
    net = trained(CONTROL, 3, 2, batch=4)
    moved = {name for name, weight in net.state_dict().items() if not weight.equal(drawn[name])}
    assert moved == {"classes.weight", "classes.bias"}


def test_texts_are_no_controls_of_images():
    with pytest.raises(InputError, match="nonsense is text"):
        trained("corrected@nonsense", 0, 1)
    with pytest.raises(InputError, match="try: 'random'"):
        trained("corrected@randon", 0, 1)


def test_a_study_has_one_outcome_an_arm_and_seed(monkeypatch):
    monkeypatch.setattr(segmentation, "TRAIN", 8)
    monkeypatch.setattr(segmentation, "TEST", 8)
    seen = []
    outcomes = study(["mean", "full"], 2, 1, progress=lambda arm, done, of: seen.append((done, of)))
    assert [(each.arm, each.seed) for each in outcomes] == [
        ("mean", 0), ("mean", 1), ("full", 0), ("full", 1),
    ]  # fmt: skip
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert all(0 <= each.mean <= 1 and each.milliseconds > 0 for each in outcomes)


def test_a_study_that_was_stopped_goes_on_and_arms_of_a_seed_share_images(monkeypatch, tmp_path):
    monkeypatch.setattr(segmentation, "TEST", 8)
    drawn = []
    monkeypatch.setattr(
        segmentation, "draw", lambda count, seed: drawn.append((count, seed)) or draw(count, seed)
    )

    def stop(arm, done, of):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(["identity", "flat"], 2, 1, stop, images=6, folder=tmp_path)
    assert drawn == [(6, 0), (8, 1)] * 2
    assert {file.stem for file in tmp_path.iterdir()} == {"identity-0", "flat-0", "study"}
    found = study(["identity", "flat"], 2, 1, images=6, folder=tmp_path)
    assert drawn[4:] == [(6, 2), (8, 1)] * 2
    fresh = study(["identity", "flat"], 2, 1, images=6)
    assert [each.overlap for each in found] == [each.overlap for each in fresh]


def test_differences_are_over_seeds_and_of_networks_that_are_wired_alike():
    overlaps = {
        "published": (0.4, 0.5, 0.4),
        "identity": (0.5, 0.7, 0.6),
        "identity-published": (0.3, 0.4, 0.3),
        "flat": (0.6, 0.8, 0.8),
        "corrected@random": (0, 0, 0),
    }
    outcomes = [
        Outcome(arm, seed, 1, 1.0, 1.0, (value,) * 2)
        for arm, values in overlaps.items()
        for seed, value in enumerate(values)
    ]
    found = gains(outcomes)
    assert list(found) == ["flat - identity", "published - identity-published"]
    one = found["flat - identity"]
    # 0.1, 0.1 and 0.2: the standard error is a thirtieth, t of two degrees of freedom 4.3027.
    ends = (4 / 30 - 4.3027 / 30, 4 / 30 + 4.3027 / 30)
    assert (one.mean, one.low, one.high) == pytest.approx((4 / 30, *ends), abs=1e-5)
    assert one.clusters == 3
    assert gains([each for each in outcomes if each.seed == 0]) == {}


def test_the_command_refuses_a_folder_of_other_settings(monkeypatch, tmp_path):
    """What is there stays; more seeds and arms may join it."""
    monkeypatch.setattr(segmentation, "TEST", 8)

    def run(*args):
        given = ["--no-controls", "--out", tmp_path, *args]
        return CliRunner().invoke(
            command, [str(each) for each in given], obj=Settings(quiet=True), standalone_mode=False
        )

    first = ("--arm", "identity", "--steps", 1, "--images", 6, "--json")
    assert run(*first, "--seeds", 1).exception is None
    kept = {file: file.read_bytes() for file in tmp_path.iterdir()}
    for more, said in (
        (("--steps", 2), f"{tmp_path} holds runs with --steps 1, not --steps 2"),
        (("--images", 7), f"{tmp_path} holds runs with --images 6, not --images 7"),
    ):
        refused = run(*first, "--seeds", 1, *more).exception
        assert isinstance(refused, InputError)
        assert str(refused).startswith(said)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == kept
    assert run(*first, "--arm", "flat", "--seeds", 2).exception is None
    assert {file: file.read_bytes() for file in kept} == kept
    assert len(list(tmp_path.iterdir())) == len(kept) + 3
