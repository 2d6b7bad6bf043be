"""Tasks, nets that share weights, and a study of all of it in small."""

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.supernet import learner, mixture, tasks  # noqa: E402
from milepost_lab.supernet.architectures import Architecture  # noqa: E402
from milepost_lab.supernet.learner import Learner, alone  # noqa: E402
from milepost_lab.supernet.mixture import search  # noqa: E402
from milepost_lab.supernet.nets import ImageNet, pooled  # noqa: E402
from milepost_lab.supernet.study import parts, study  # noqa: E402
from milepost_lab.supernet.tasks import DECOYS, MOTIFS, motifs, task, textures  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(tasks, "SIZES", dict.fromkeys(tasks.SIZES, 96))
    monkeypatch.setattr(learner, "BATCH", 4)
    monkeypatch.setattr(mixture, "SLICE", 8)


def test_motifs_differ_in_nothing_but_their_order():
    states, classes = motifs(200, np.random.default_rng(0))
    symbols = states[..., : tasks.SYMBOLS].argmax(-1)
    # With the noise an argmax is wrong now and then; most rows are read as they were written.
    right = 0
    for row, kind in zip(symbols, classes, strict=True):
        text = "".join(map(str, row))
        first, second = (text.find("".join(map(str, motif))) for motif in MOTIFS)
        right += first >= 0 and second >= 0 and (second < first) == bool(kind)
    assert right > 190
    assert sorted(MOTIFS[0]) == sorted(MOTIFS[1])
    assert sorted(DECOYS[0]) == sorted(DECOYS[1])
    assert 70 < classes.sum() < 130


def test_averages_of_pairs_do_not_tell_stripes_of_a_disc_from_ground():
    images, classes = textures(60, np.random.default_rng(0))
    assert images.shape == (60, 1, 16, 16)
    assert set(classes) == {0, 1, 2, 3}
    pooled = images.reshape(60, 8, 2, 8, 2).mean((2, 4))
    assert np.abs(images).mean() > 2 * np.abs(pooled).mean()


@pytest.mark.parametrize(
    ("name", "joins", "count"),
    [
        ("planted", (), 10),
        ("shapes", (), 10),
        ("max-magnitude", (), 54),
        ("max-magnitude", ("max", "mean"), 24),
        ("shapes", ("mean", "attention"), 40),
    ],
)
def test_one_net_serves_every_architecture_of_a_task(name, joins, count):
    made = task(name, joins=joins)
    assert len(made.architectures) == len(set(made.architectures)) == count
    net = Learner(made, 0).net
    with torch.no_grad():
        scores = net.score if name == "shapes" else net.pooling.score
        scores.normal_()
    inputs = made.train[0][:5]
    out = [net(inputs, each) for each in made.architectures]
    assert {each.shape for each in out} == {out[0].shape}
    for one, two in combinations(out, 2):
        assert not torch.allclose(one, two, atol=1e-5)
    for each in made.architectures[:: count // 5]:
        together = net(made.train[0][:2], each)
        torch.testing.assert_close(together[:1], net(made.train[0][:1], each))


def test_pools_of_an_image_round_up():
    """Of 7 they leave 4, 2, 1, and the last row counts; rounded down, 3, 1 and none."""
    net, image = ImageNet(2, 4, 3, 3), torch.zeros(1, 1, 7, 7)
    thrice = Architecture((1, 1, 1, 1), ("max",) * 3)
    sizes = []
    for norm in net.norms:
        norm.register_forward_hook(lambda _, given, __: sizes.append(given[0].shape[-1]))
    before = net(image, thrice)
    assert sizes == [7, 4, 2, 1]
    image[..., -1, :] = 5.0
    assert not torch.allclose(net(image, thrice), before)


def test_squares_of_an_image_by_hand():
    """Of 3x3, the last column and row are joined of two, the corner is alone."""
    x = torch.arange(9.0).view(1, 1, 3, 3)
    zero = torch.zeros(1)
    assert pooled(x, "max", zero).flatten().tolist() == [4, 5, 7, 8]
    assert pooled(x, "mean", zero).flatten().tolist() == [2, 3.5, 6.5, 8]
    torch.testing.assert_close(pooled(x, "attention", zero), pooled(x, "mean", zero))
    # All but 0 are 1 at unit mean square: 1, 3 and 4 weigh three times as much as 0.
    three = pooled(x, "attention", torch.tensor([3.0]).log())
    torch.testing.assert_close(three.flatten(), torch.tensor([2.4, 3.5, 6.5, 8]))
    heavy = pooled(x, "attention", torch.tensor([40.0]))
    torch.testing.assert_close(heavy.flatten(), torch.tensor([8 / 3, 3.5, 6.5, 8]))


def test_cost_and_resolution_go_with_late_halvings():
    made = task("planted")
    assert made.architectures[int(np.argmax(made.macs))].placement == (4, 1, 1)
    assert made.architectures[int(np.argmin(made.resolution))].placement == (1, 1, 4)


def test_a_net_alone_learns(monkeypatch):
    monkeypatch.setattr(learner, "BATCH", 32)
    made = task("shapes")
    some = Architecture((2, 1, 3), ("max", "max"))
    before = alone(made, some, 0, 1).accuracy(some, made.train)
    after = alone(made, some, 0, 40).accuracy(some, made.train)
    assert after > before + 0.1


@pytest.mark.parametrize("assignment", mixture.ASSIGNMENTS)
def test_every_step_is_counted_and_only_known_cells_are_heard(assignment, monkeypatch):
    monkeypatch.setattr(mixture, "LEAST", 2)
    made = task("planted")
    found = search(made, 2, 24, assignment=assignment, seed=1)
    assert found.steps.sum() == 24
    known = found.steps.max(1) >= mixture.LEAST
    assert 0 < known.sum() < 10
    np.testing.assert_array_equal(np.isfinite(found.ranking), known)
    assert (found.steps[np.arange(10), found.nets][known] >= mixture.LEAST).all()
    if assignment in ("fixed", "cost"):
        assert ((found.steps > 0).sum(1) <= 1).all()
        assert ((found.steps > 0).sum(0) <= 5).all()
    if assignment == "cost":
        cheap = np.argsort(made.macs, kind="stable")[:5]
        assert found.steps[cheap, 1].sum() == 0


class Known:
    """In a learner's place: accuracies that are written down."""

    def __init__(self, of):
        self.of = of

    def accuracy(self, placement, part, rows=None):
        assert (part, rows) == ("choice", None)
        return self.of[placement]


@pytest.mark.parametrize(
    ("first", "heard", "wanted", "nets"),
    [
        ((0.84, 0.84, 0.83), 5, (0.85, 0.84, 0.83), (1, 0, 0)),
        ((0.84, 0.86, 0.83), 5, (0.85, 0.86, 0.83), (1, 0, 0)),
        # One measurement too few is as good as none, and then nobody knows the placement.
        ((0.84, 0.84, 0.83), 4, (0.85, None, 0.83), (1, None, 0)),
    ],
)
def test_a_cell_never_trained_is_not_heard(first, heard, wanted, nets):
    """By hand: the second net would give 1.0 with the second placement, which it never saw."""
    made = SimpleNamespace(architectures=[0, 1, 2], choice="choice")
    scores = mixture.Scores(3, 2)
    for (placement, net), count in np.ndenumerate([[5, 5], [heard, 0], [5, 5]]):
        for _ in range(count):
            scores.add(placement, net, 0.5)  # what it was in training does not count
    found = mixture._heard(made, [Known(first), Known((0.85, 1.0, 0.82))], scores)
    for placement, value in enumerate(wanted):
        if value is None:
            assert np.isnan(found.ranking[placement])
        else:
            assert found.ranking[placement] == value
            assert found.nets[placement] == nets[placement]


def test_a_search_repeats_with_its_seed(monkeypatch):
    monkeypatch.setattr(mixture, "LEAST", 1)
    made = task("planted")
    first, again, other = (search(made, 2, 10, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.steps, again.steps)
    np.testing.assert_array_equal(first.ranking, again.ranking)
    assert not np.array_equal(first.steps, other.steps)


def test_learnt_shares_find_the_net_that_is_better_and_load_both():
    scores, usual = mixture.Scores(4, 2), mixture.Scores(1, 1)
    for placement in range(4):
        for net in range(2):
            scores.add(placement, net, 0.1 if (placement < 2) == (net == 0) else -0.1)
    usual.add(0, 0, 0.7)
    logs = mixture._followed(scores, usual, 1.0, even=True)
    assert (np.exp(logs[:2, 0]) > 0.9).all()
    assert (np.exp(logs[2:, 1]) > 0.9).all()
    np.testing.assert_allclose(np.exp(logs).mean(0), 0.5, atol=0.01)
    scores.add(3, 0, 5.0)
    greedy = np.exp(mixture._followed(scores, usual, 1.0, even=False)).mean(0)
    assert greedy[0] > 0.6


def test_a_study_judges_every_method_and_is_plain_json():
    seen = []
    made = study(
        "planted",
        supernets=(1, 2),
        assignments=("fixed",),
        seeds=2,
        steps=1,
        budget=15,
        progress=lambda what, done, of: seen.append((what, done, of)),
    )
    assert [Architecture(row.placement, row.joins) for row in made.rows] == task(
        "planted"
    ).architectures
    assert made.parts == []  # of one join nothing is to be said
    assert any(row.worth for row in made.rows)
    names = [method.name for method in made.methods]
    assert names[:3] == ["brute force", "1 net", "2 nets, fixed"]
    assert names[-3:] == ["even placement", "one by lot", "best of 15 by lot"]
    for method in made.methods:
        assert method.regret >= 0
        if method.tau is not None:
            assert -1 <= method.low <= method.high <= 1
    macs = {method.name: method for method in made.methods}["most MACs"]
    assert macs.picks == (Architecture((4, 1, 1), ("mean", "mean")),)
    assert json.loads(json.dumps(made.as_json()))["rows"][0]["placement"] == [1, 1, 4]
    assert seen[-1][1] < seen[-1][2] == 2 * (10 + 2 * 15)


def test_a_proxy_that_knows_no_joins_loses_what_they_lose_on_average():
    made = study(
        "max-magnitude",
        supernets=(1,),
        seeds=1,
        steps=1,
        budget=1,
        joins=("mean", "max", "attention"),
    )
    assert len(made.rows) == 54
    cheapest = [row.accuracy for row in made.rows if row.placement == (1, 1, 3)]
    best = max(row.accuracy for row in made.rows)
    proxy = {method.name: method for method in made.methods}["fewest MACs"]
    assert proxy.picks == (Architecture((1, 1, 3)),)
    assert proxy.regret == pytest.approx(best - sum(cheapest) / 9)
    even = {method.name: method for method in made.methods}["even placement"]
    assert even.picks == (Architecture((2, 2, 1), ("mean", "mean")),)


def test_parts_are_means_over_what_shares_them():
    """By hand: two placements, two joins at one halving."""
    accuracies = {((1, 2), "mean"): 0.5, ((1, 2), "max"): 0.9}
    accuracies |= {((2, 1), "mean"): 0.6, ((2, 1), "max"): 0.8}
    rows = [
        SimpleNamespace(placement=placement, joins=(join,), accuracy=accuracy)
        for (placement, join), accuracy in accuracies.items()
    ]
    seen = [(part.name, round(part.mean, 6), part.best) for part in parts(rows)]
    assert seen == [
        ("1 2", 0.7, 0.9),
        ("2 1", 0.7, 0.8),
        ("halving 1: mean", 0.55, 0.6),
        ("halving 1: max", 0.85, 0.9),
    ]
    assert parts(rows[::2]) == []


def test_a_drawn_best_of_all_has_no_regret_but_that_of_its_validation():
    made = study("planted", supernets=(1,), seeds=1, steps=1, budget=10)
    lot = {method.name: method for method in made.methods}
    assert lot["best of 10 by lot"].regret <= lot["one by lot"].regret + 0.05
    assert "brute force" not in lot  # one seed cannot judge itself


def test_unknown_tasks_and_too_many_nets_are_named():
    with pytest.raises(InputError, match="try: 'shapes'"):
        task("shape")
    with pytest.raises(InputError, match="11 supernets for 10 architectures"):
        study("planted", supernets=(11,))
    with pytest.raises(InputError, match="try: 'mean'"):
        task("max-magnitude", joins=("maen",))


def test_a_task_s_examples_hang_on_its_seed_and_no_part_is_another():
    made = task("planted", seed=1)
    other = task("planted", seed=2)
    assert not torch.equal(made.train[0], other.train[0])
    torch.testing.assert_close(task("planted", seed=1).train[0], made.train[0])
    parts = [part[0] for part in (made.train, made.search, made.choice, made.test)]
    for one, two in combinations(parts, 2):
        assert not torch.equal(one, two)
