"""The stitch experiment: known maps, distillation, paths in training, and the whole of it."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.controls.readers import control_readers  # noqa: E402
from milepost_lab.model.stitch.affine import Affine  # noqa: E402
from milepost_lab.model.stitch.folder import load_pool  # noqa: E402
from milepost_lab.model.stitch.pool import EncoderPool  # noqa: E402
from milepost_lab.model.stitch.starts import STARTS  # noqa: E402
from milepost_lab.stitch import study  # noqa: E402
from milepost_lab.stitch.controls import window  # noqa: E402
from milepost_lab.stitch.maps import compare, problem  # noqa: E402
from milepost_lab.stitch.material import Plan, material, recall  # noqa: E402
from milepost_lab.stitch.outcome import (  # noqa: E402
    CONTROL,
    SN_NET,
    Descendant,
    Outcome,
    gains,
    mean_over_seeds,
    starts_of,
)
from milepost_lab.stitch.plot import check, draw  # noqa: E402
from milepost_lab.stitch.study import run  # noqa: E402
from milepost_lab.stitch.training import (  # noqa: E402
    Schedule,
    distil,
    inherit_tables,
    loss_of,
    matched,
    train_paths,
)
from milepost_train.check import vectors_of  # noqa: E402

PLAN = Plan(narrow=16, wide=32, distilling=3, stitching=9, windows=18)


@pytest.fixture(scope="module")
def given_(tmp_path_factory):
    """A tiny ancestor, and a text in the words that it knows."""
    folder = tmp_path_factory.mktemp("stitch")
    random = Random(1)
    words = (f"Word{random.randrange(100)} word{random.randrange(100)}." for _ in range(130))
    text = folder / "text.txt"
    text.write_text(" ".join(words))
    return write_checkpoint(folder / "ancestor", "bert"), text


@pytest.fixture(scope="module")
def shared(given_):
    return material(*given_, PLAN)


def fresh(shared, seed=0):
    config = {**shared.ancestor.model.config, "num_attention_heads": 2}
    torch.manual_seed(seed)
    pool = EncoderPool({**config, "hidden_size": 16}, {**config, "hidden_size": 32})
    for part in (pool.narrow, pool.wide):
        inherit_tables(part, shared.ancestor.model.backbone)
    return pool


def test_known_maps_have_their_exact_errors():
    """Random, transposed, pseudo-inverse and least squares, from few rows and many."""
    task = problem(3)
    told = list(compare(task, draws=120))
    for row in told:
        assert abs(row.measured - row.expected) < 4.5 * row.error, row.start
    by = {row.start: row.expected for row in told}
    assert by["least_squares of 1024"] < by["pinv"] < by["transpose"] < by["random"]
    assert task.least_squares() < by["least_squares of 1024"] < by["least_squares of 16"]


def test_without_noise_the_pseudo_inverse_is_least_squares():
    """And with orthonormal rows and no bias so is the transpose."""
    task = problem(3, noise=0.0)
    assert task.pinv() == pytest.approx(task.least_squares())
    turned = Affine(torch.linalg.qr(task.down.weight.T).Q.T, torch.zeros(8).double())
    plain = type(task)(turned, 0.0)
    assert plain.transpose() == pytest.approx(plain.pinv()) == pytest.approx(16)


def test_blocks_are_matched_with_the_last_of_each_part():
    """The paper's teacher of twelve blocks, and ours of six."""
    assert matched(12, 3) == [3, 7, 11]
    assert matched(6, 3) == [1, 3, 5]
    assert matched(12, 6) == [1, 3, 5, 7, 9, 11]
    with pytest.raises(InputError, match="at most as many blocks"):
        matched(3, 6)


def test_what_the_ancestor_says(shared):
    """Lessons hold its landmarks and its states at every token, of the last block at landmarks."""
    assert len(shared.truth) == 18
    for one in shared.lessons:
        count = int(one.batch.used.sum())
        assert one.vectors.shape == (count, 32)
        assert [len(each) for each in one.depths] == [int(one.valid.sum())] * 2 + [count]
    own = torch.arange(len(shared.truth))[:, None]
    assert not (shared.truth == own).any()  # no sentence is its own answer


def test_distillation_trains_the_maps_as_well(shared):
    """The encoder comes nearer, and no map is the random one it was."""
    pool = fresh(shared)
    encoder = pool.encoder("narrow")
    one = shared.lessons[0]
    targets = shared.space(one.vectors)
    before = loss_of(vectors_of(encoder, one.batch), targets).item()
    wide = [each.detach().clone() for each in pool.wide.parameters()]
    schedule = Schedule(40, seed=3)
    maps = distil(pool, "narrow", [one], shared.space, schedule)
    assert loss_of(vectors_of(encoder, one.batch), targets).item() < 0.8 * before
    assert [each.weight.shape for each in maps] == [(16, 32)] * 3
    torch.manual_seed(3)
    begun = [Affine.of(torch.nn.Linear(32, 16)) for _ in maps]
    for trained, first in zip(maps, begun, strict=True):
        assert (trained.weight - first.weight).abs().max() > 0.01
    assert all(torch.equal(a, b) for a, b in zip(wide, pool.wide.parameters(), strict=True))


def test_the_common_direction_is_no_target(shared):
    """An encoder that says the same of everything is no nearer than one that says nothing."""
    told = torch.cat([shared.space(one.vectors) for one in shared.lessons])
    plain = torch.cat([one.vectors for one in shared.lessons])
    assert told.norm(dim=1).sub(1).abs().max() < 1e-5
    assert told.mean(0).norm() < 0.5 * plain.mean(0).norm()
    constant = torch.nn.functional.normalize(torch.ones_like(told), dim=1)
    assert loss_of(constant, told) > 0.9
    assert loss_of(told, told).item() == pytest.approx(0, abs=1e-5)


def test_tables_come_from_the_ancestor_and_stay(shared):
    """Of full width they are its own; training leaves them alone."""
    pool = fresh(shared)
    ancestor = shared.ancestor.model.backbone
    words = pool.wide.embeddings["word_embeddings"].weight
    assert torch.equal(words, ancestor.embeddings["word_embeddings"].weight)
    train_paths(pool, pool.paths, shared.lessons, shared.space, Schedule(12, seed=1))
    assert torch.equal(words, ancestor.embeddings["word_embeddings"].weight)


def test_only_drawn_paths_train_and_the_loss_falls(shared):
    """Of one path alone nothing else moves; the draw is seeded; learning is learning."""
    pool = fresh(shared)
    path = pool.path("0-1")
    kept = {name: each.detach().clone() for name, each in pool.named_parameters()}
    encoder = pool.encoder(path)
    one = shared.lessons[0]
    targets = shared.space(one.vectors)
    before = loss_of(vectors_of(encoder, one.batch), targets).item()
    drawn = train_paths(pool, [path], [one], shared.space, Schedule(40, seed=1))
    assert drawn == [path] * 40
    assert loss_of(vectors_of(encoder, one.batch), targets).item() < 0.8 * before
    moved = {n for n, each in pool.named_parameters() if not torch.equal(each, kept[n])}
    assert not any(
        name.startswith(("narrow.encoder.layer.1", "wide.encoder.layer.0", "stitches.1", "leave"))
        for name in moved
    )
    again = train_paths(fresh(shared), pool.paths, [one], shared.space, Schedule(6, seed=5))
    assert again == train_paths(fresh(shared), pool.paths, [one], shared.space, Schedule(6, seed=5))


def test_recall_by_hand():
    """Two of three found, then none: a third."""
    found = torch.tensor([[1, 2, 3], [4, 5, 6]])
    truth = torch.tensor([[3, 2, 9], [1, 2, 3]])
    assert recall(found, truth) == pytest.approx(1 / 3)


@pytest.mark.usefixtures("small_controls")
def test_the_whole_experiment(given_, tmp_path, monkeypatch):
    """Every arm and every descendant, a matrix with the pool's own recall on its diagonal."""
    monkeypatch.setattr(study, "_milliseconds", partial(study._milliseconds, times=1))
    told = []
    outcome = run(
        *given_,
        PLAN,
        controls=control_readers(),
        out=tmp_path / "pool",
        progress=lambda *each: told.append(each),
    )
    assert ("seed 0, control", 17, 17) in told
    arms = {each.arm for each in outcome.descendants}
    assert arms == {
        *(f"start:{start}" for start in STARTS), "random", "transpose", "pinv",
        f"start:{SN_NET}", "pool", SN_NET, "alone", "early exit", CONTROL,
    }  # fmt: skip
    pool = [row for row, _ in mean_over_seeds(outcome, ("pool",))]
    names, matrix = outcome.matrix
    assert names == tuple(row.name for row in pool)
    assert [matrix[n][n] for n in range(9)] == pytest.approx([row.recall for row in pool])
    assert sum(outcome.updates[f"stitch {n}"] for n in (-1, 0, 1)) + outcome.updates[
        "wide embeddings"
    ] == pytest.approx(PLAN.stitching)
    assert all(cost > 0 for cost in outcome.costs.values())
    assert [each.start for each in starts_of(outcome)] == [*STARTS, SN_NET]
    equal_to_the_pool(outcome)
    what_knows_nothing(outcome)
    read = load_pool(tmp_path / "pool")
    assert [path.name for path in read.paths] == list(names)
    picture = tmp_path / "stitch.svg"
    draw(outcome, picture)
    assert "<svg" in picture.read_text()


def equal_to_the_pool(outcome):
    """SN-Net has the pool's sizes and steps, other weights, and one seed gives no difference."""
    pool, apart = ([row for row, _ in mean_over_seeds(outcome, (arm,))] for arm in ("pool", SN_NET))
    assert [(row.name, row.parameters, row.operations) for row in apart] == [
        (row.name, row.parameters, row.operations) for row in pool
    ]
    assert all(a.agreement != b.agreement for a, b in zip(pool, apart, strict=True))
    costs = outcome.costs
    assert costs[f"{SN_NET}, apart"] == pytest.approx(costs["auxiliaries"])
    assert costs[f"{SN_NET}, stitching"] == pytest.approx(costs["stitching, least_squares"])
    assert gains(outcome) == {}


def test_the_pool_less_sn_net_by_hand():
    """Two seeds; the stitched paths of a seed are averaged before the seeds are."""

    def row(arm, name, seed, found):
        return Descendant(arm, name, seed, 1, 1, 1.0, 0.0, found)

    recalls = {
        "pool": {"narrow": (0.2, 0.3), "0-0": (0.5, 0.6), "1-0": (0.7, 0.8), "wide": (0.4, 0.4)},
        "transpose": {"narrow": (0.2, 0.3), "0-0": (0.4, 0.6), "1-0": (0.4, 0.4)},
        SN_NET: {"narrow": (0.1, 0.2), "0-0": (0.5, 0.5), "1-0": (0.5, 0.5), "wide": (0.4, 0.4)},
    }
    rows = [
        row(arm, name, seed, found)
        for arm, paths in recalls.items()
        for name, values in paths.items()
        for seed, found in enumerate(values)
    ]
    found = gains(Outcome(tuple(rows), ((), ()), {}, {}, 1))
    means = {kind: one.mean for kind, one in found.items()}
    by_hand = {"narrow": 0.1, "stitched": 0.15, "wide": 0.0}
    assert means == pytest.approx(
        {f"{kind}, pool": mean for kind, mean in by_hand.items()} | {"stitched, transpose": -0.05}
    )
    # Of 0.1 and 0.2 the standard error is 0.05, and t of one degree of freedom is 12.7062.
    assert found["stitched, pool"].low == pytest.approx(0.15 - 12.7062 * 0.05)
    assert found["stitched, pool"].high == pytest.approx(0.15 + 12.7062 * 0.05)


def what_knows_nothing(outcome):
    """The pool's sizes untrained, and encoders of bytes, which share no space."""
    rows, alone = (
        {row.name: row for row, _ in mean_over_seeds(outcome, (arm,))} for arm in (CONTROL, "alone")
    )
    sizes = [f"{name}@random" for name in alone]
    assert list(rows) == [*sizes, "bytes@nonsense", "bytes@hierarchical"]
    for name, row in alone.items():
        size = rows[f"{name}@random"]
        assert (size.parameters, size.operations) == (row.parameters, row.operations)
        assert abs(size.agreement) < 1
    for name in ("nonsense", "hierarchical"):
        own = rows[f"bytes@{name}"]
        # Of 384 ids a table, two blocks of four maps and a gated layer, 32 buckets, five norms.
        assert own.parameters == 384 * 64 + 2 * (4 * 64 * 64 + 3 * 64 * 128) + 32 * 4 + 5 * 64
        assert own.agreement is None
        assert own.operations > 0
        assert 0 <= own.recall <= 1


def test_a_window_of_words_says_where_each_sentence_lies():
    text, spans = window(["One two.", " three", ""])
    assert text == "One two. three ."
    assert [text[a:b] for a, b in spans] == ["One two.", "three", "."]


def test_what_is_refused(given_, tmp_path):
    """Widths and steps that cannot be, a text that is too short, a picture of another kind."""
    for changes, words in (
        ({"narrow": 20}, "multiples of 16"),
        ({"windows": 6}, "too small"),
        ({"sampling": "evenly"}, "unknown sampling 'evenly'"),
    ):
        with pytest.raises(InputError, match=words):
            Plan(**changes)
    with pytest.raises(InputError, match="a text of 600"):
        run(*given_, Plan(wide=32, windows=100))
    with pytest.raises(InputError, match="has 32 channels, fewer than the 48 of the wide encoder"):
        run(*given_, Plan(wide=48))
    with pytest.raises(InputError, match=r"is not a \.svg or \.png"):
        check(tmp_path / "stitch.txt")
