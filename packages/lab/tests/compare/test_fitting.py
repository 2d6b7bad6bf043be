"""One training: the rate that validation chose, its curve, and the network trained with it."""

from dataclasses import replace

import numpy as np
import pytest

from support.small_comparison import small_pairs, small_task
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.compare.cache import ResultCache  # noqa: E402
from milepost_lab.compare.fitting import Chosen, Fitter, parted  # noqa: E402
from milepost_lab.compare.found import Found  # noqa: E402
from milepost_lab.compare.pooled import Pooled, similar  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.recipe import CompareRecipe  # noqa: E402
from milepost_lab.compare.rows import CompareRow, rows_of  # noqa: E402
from milepost_lab.compare.scores import scores  # noqa: E402
from milepost_lab.compare.session import Session  # noqa: E402
from milepost_lab.compare.tables import stops  # noqa: E402
from milepost_lab.pooling.maxsim import maxsim  # noqa: E402

RECIPE = CompareRecipe(steps=8, batch=12, width=16, rates=(1e-7, 1e-2))
PAIRS = small_pairs(36)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    return TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), "bert")))


def fitter(reader, recipe=RECIPE, name="attention", pairs=PAIRS):
    sides = tuple(reader.states([pair[side] for pair in pairs]) for side in (0, 1))
    return Fitter(CompareRow(name), pairs, sides, recipe, reader)


def say(*_):
    pass


def test_the_last_sixth_validates():
    assert parted(600) == (range(500), range(500, 600))
    assert parted(3) == (range(2), range(2, 3))


def test_the_best_rate_of_validation_is_taken_for_all_seeds(reader):
    """A rate that trains nothing loses to one that does; another seed does not choose again."""
    one = fitter(reader)
    fit = one.fit(0, None, say)
    assert fit.chosen.rate == max(fit.chosen.tried, key=fit.chosen.tried.get)
    assert set(fit.chosen.tried) == set(RECIPE.rates)
    assert [step for step, _ in fit.curve] == [2, 4, 6, 8]
    assert fit.curve[-1][1] == fit.chosen.tried[fit.chosen.rate]
    alone = fitter(reader, replace(RECIPE, rates=(fit.chosen.rate,))).fit(0, None, say)
    assert alone.losses == fit.losses
    trained = []
    other = one.fit(1, fit.chosen, lambda *told: trained.append(told))
    assert other.chosen is fit.chosen
    assert len(trained) == RECIPE.steps


def test_validation_pairs_do_not_train(reader):
    """Others in their place change the curve and no weight."""
    recipe = replace(RECIPE, rates=(1e-2,))
    changed = [*PAIRS[:30], *small_pairs(6, seed=5)]
    one, other = (
        fitter(reader, recipe, pairs=pairs).fit(0, None, say) for pairs in (PAIRS, changed)
    )
    assert one.losses == other.losses
    weights = [dict(fit.pooled.named_parameters()) for fit in (one, other)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert one.curve != other.curve


def test_a_rate_that_breaks_a_training_is_not_chosen(reader):
    fit = fitter(reader, replace(RECIPE, rates=(1e30, 1e-3)), "xpool").fit(0, None, say)
    assert fit.chosen == Chosen(1e-3, {1e30: 0.0, 1e-3: fit.chosen.tried[1e-3]})
    with pytest.raises(InputError, match=r"xpool: the loss of step \d is (nan|inf)"):
        fitter(reader, replace(RECIPE, rates=(1e30,)), "xpool").fit(0, None, say)


@pytest.mark.parametrize("name", ["mean", "xpool", "lmk"])
def test_the_network_is_trained_too(reader, name):
    """It moves, the one that others read with does not, and states are read by what was trained."""
    recipe = replace(RECIPE, network="full", rates=(1e-3,), steps=3)
    before = {key: value.clone() for key, value in reader.model.named_parameters()}
    fit = fitter(reader, recipe, name).fit(0, None, say)
    assert all(torch.equal(value, before[key]) for key, value in reader.model.named_parameters())
    moved = dict(fit.reader.model.named_parameters())
    assert not all(torch.equal(moved[key], before[key]) for key in before)
    texts = [text for _, text in PAIRS[:3]]
    assert not np.array_equal(fit.reader.states(texts).tokens, reader.states(texts).tokens)
    assert len(fit.curve) == 3


def test_scores_of_several_vectors_by_hand():
    """The mean over a query's vectors of the best of the text's."""
    asked = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    found = torch.tensor([[[1.0, 0.0], [0.6, 0.8]], [[-1.0, 0.0], [0.0, -1.0]]])
    torch.testing.assert_close(similar(asked, found), torch.tensor([[0.9, 0.0]]))
    reference = maxsim(asked[0].numpy(), [2], found.flatten(0, 1).numpy(), [2, 2])
    torch.testing.assert_close(similar(asked, found), torch.from_numpy(reference) / 2)
    one = torch.nn.functional.normalize(torch.randn(3, 4), dim=-1)
    torch.testing.assert_close(similar(one[:, None], one[:, None]), similar(one, one))


def test_an_index_has_unit_landmarks_and_no_heads(reader):
    sides = fitter(reader).states
    pooled = Pooled(CompareRow("lmk"), sides[1], 0, None, as_index=True)
    landmarks = sides[1].layers[:, -1].astype(np.float32)
    landmarks /= np.linalg.norm(landmarks, axis=1, keepdims=True)
    wanted = [part.mean(0) for part in np.split(landmarks, np.cumsum(sides[1].per_text)[:-1])]
    unit = np.stack([one / np.linalg.norm(one) for one in wanted])
    queries = sides[0].layers[:, -1].astype(np.float32)  # one sentence each
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    np.testing.assert_allclose(scores(pooled, *sides), queries @ unit.T, atol=1e-4)
    with pytest.raises(InputError, match="xpool reads queries, which an index lacks"):
        Pooled(CompareRow("xpool"), sides[1], 0, None, as_index=True)


def test_the_rate_is_kept_with_the_runs(reader, tmp_path):
    """Seeds that come later take it from the file; what has no weights trains nothing."""
    path, rows = tmp_path / "runs.jsonl", rows_of("attention", controls=False)
    recipe, told = replace(RECIPE, as_index=True), []
    for seeds in ([0], [0, 1]):
        made = Session(reader, [small_task()], (), recipe, ResultCache(path))
        made.progress = lambda *each: told.append(each[1])
        made.run(rows, seeds)
    runs = ResultCache(path).runs
    assert [run.rate for run in runs] == [runs[0].rate] * 2
    assert runs[0].tried == runs[1].tried
    assert [len(run.curve) for run in runs] == [4, 4]
    assert told.count("training 0") == 2 * RECIPE.steps
    assert told.count("training 1") == RECIPE.steps
    cache = ResultCache()
    Session(reader, [small_task()], (), recipe, cache).run(rows_of("mean", controls=False), [0])
    assert (cache.runs[0].losses, len(cache.runs[0].curve)) == ((), 1)


def test_until_flat_the_weights_of_the_lowest_validation_loss_are_kept(reader):
    recipe = replace(RECIPE, until_flat=True, steps=120, rates=(1e-2,))
    fit = fitter(reader, recipe).fit(0, None, say)
    losses = [loss for _, loss in fit.flat.curve]
    assert fit.flat.loss == min(losses) <= losses[0]
    assert len(fit.losses) == fit.flat.steps <= 120
    assert fit.curve == ((fit.flat.best, fit.chosen.tried[1e-2]),)
    one = replace(recipe, steps=max(1, fit.flat.best))  # the same steps alone: the same weights
    again = fitter(reader, one).fit(0, None, say)
    weights = [dict(each.pooled.named_parameters()) for each in (fit, again)]
    if fit.flat.best:
        assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


def test_ends_of_trainings_are_told_and_kept(reader, tmp_path):
    recipe = replace(RECIPE, until_flat=True, steps=4, rates=(1e-3, 1e-2))
    runs = ResultCache(tmp_path / "runs.jsonl")
    session = Session(reader, [small_task()], (), recipe, runs)
    session.run(rows_of("attention", controls=False), [0])
    (run,) = ResultCache(tmp_path / "runs.jsonl").runs
    assert run.flat is False
    assert run.curve[0][1] == pytest.approx(run.tried[str(run.rate)], abs=1e-6)
    ((row, _, flat, _, rate),) = stops(Found(runs)).rows
    assert (row, flat) == ("attention", "0 of 1")
    assert rate.endswith("*")
