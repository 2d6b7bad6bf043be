"""Late interaction in the comparison: one training, and the scores of the reference functions."""

import numpy as np
import pytest

from support.small_comparison import small_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.windows.document_vector import unit  # noqa: E402
from milepost_lab.compare import scores as scoring  # noqa: E402
from milepost_lab.compare.images import fits  # noqa: E402
from milepost_lab.compare.pooled import Pooled, similar  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.recipe import CompareRecipe, train  # noqa: E402
from milepost_lab.compare.rows import CompareRow, read_row  # noqa: E402
from milepost_lab.compare.scores import scores  # noqa: E402
from milepost_lab.pooling.fixed_encoding import FixedEncoding  # noqa: E402
from milepost_lab.pooling.maxsim import maxsim  # noqa: E402
from milepost_lab.pooling.token_pooling import pool_tokens  # noqa: E402

RECIPE = CompareRecipe(steps=4, batch=12, rate=3e-3, width=16)
ROWS = ("tokens", "token-pool:factor=3", "fixed-encoding:planes=2:repetitions=5")


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    reader = TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), "bert")))
    pairs = small_pairs(24)
    return tuple(reader.states([pair[side] for pair in pairs]) for side in (0, 1))


@pytest.fixture(scope="module")
def trained(sides):
    found = {}
    for name in ROWS:
        pooled = Pooled(read_row(name), sides[1], 3, RECIPE.width)
        found[name] = pooled, train(pooled, *sides, RECIPE, 3)
    return found


def test_rows_are_trained_alike(trained):
    """What differs between them is what they keep, and nothing else."""
    (first, losses), *others = trained.values()
    assert len(losses) == RECIPE.steps
    for pooled, own in others:
        assert own == losses
        assert torch.equal(pooled.text.weight, first.text.weight)
        assert pooled.parameters_of_pooling == 0


@pytest.mark.parametrize("head", [True, False])
def test_scores_are_those_of_the_functions(sides, trained, head):
    """On the head's vectors at unit length; without training on those of the states."""
    for name in ROWS:
        pooled = trained[name][0] if head else Pooled(read_row(name), sides[1], 3, None)
        tokens = [np.asarray(side.tokens, "f4") for side in sides]
        if head:
            tokens = [side @ pooled.text.weight.detach().numpy().T for side in tokens]
        asked, read = map(unit, tokens)
        (parts, lengths), pool = (side.lengths for side in sides), pooled.pool.reference()
        if name == "tokens":
            wanted = maxsim(asked, parts, read, lengths)
        elif name.startswith("token-pool"):
            wanted = maxsim(asked, parts, *pool_tokens(read, lengths, 3))
        else:
            encoding = FixedEncoding(pool.weights["planes"], pool.weights["signs"])
            wanted = encoding.queries(asked, parts) @ encoding.documents(read, lengths).T
        found = scores(pooled, *sides)
        np.testing.assert_allclose(found, wanted / parts[:, None], rtol=1e-3, atol=1e-4)


def test_texts_in_parts_have_the_same_scores(sides, trained, monkeypatch):
    told = []
    whole = [scores(pooled, *sides) for pooled, _ in trained.values()]
    monkeypatch.setattr(scoring, "_STATES", 40)
    for one, (pooled, _) in zip(whole, trained.values(), strict=True):
        np.testing.assert_allclose(scores(pooled, *sides, told.append), one, atol=1e-5)
        assert told[-1] == 24
        assert len(told) > 2


def test_widths_are_those_of_the_head_and_of_the_encoding(trained):
    assert [pooled.out for pooled, _ in trained.values()] == [16, 16, 5 * 4 * 8]
    assert all(pooled.several for pooled, _ in trained.values())


def test_rows_of_zeros_are_no_vectors():
    """The text has (-1, 0) alone, and the query two vectors: the mean of -1 and -0.5, not of 0."""
    asked = torch.tensor([[[1.0, 0.0], [0.5, 0.0], [0.0, 0.0]]])
    found = torch.tensor([[[-1.0, 0.0], [0.0, 0.0]]])
    assert similar(asked, found).item() == pytest.approx(-0.75)
    nothing = torch.zeros(1, 2, 2)
    assert similar(asked, nothing).item() == 0
    assert similar(nothing, found).item() == 0


def test_images_have_no_late_interaction():
    assert not any(fits(CompareRow(name)) for name in ("tokens", "token-pool", "fixed-encoding"))
