"""What counts in a text is what moves its vector."""

import re
from dataclasses import replace

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.show.study import LAYERS, WIDTH, as_svg, described, example, glued, moves
from support.small_models import write_checkpoint

NAMES = list(pooling.names())


def shares(name, states, **given):
    return moves(pooling.get(name), np.array(states, np.float32), **given)


def test_of_the_mean_what_is_far_from_it_counts():
    """Without 0 the mean of 0, 3, 6 goes from 3 to 4.5, without 3 nowhere: 1/2, 0, 1/2."""
    np.testing.assert_allclose(shares("mean", [[0.0], [3.0], [6.0]]), [0.5, 0, 0.5], atol=1e-6)


def test_of_the_greatest_who_holds_it_counts():
    """Channels are held by the first (lead 4) and the last (lead 3): 4/7, 0, 3/7."""
    states = [[5.0, 0.0], [1.0, 1.0], [0.0, 4.0]]
    np.testing.assert_allclose(shares("max", states), [4 / 7, 0, 3 / 7], atol=1e-6)


def test_of_landmarks_only_they_count():
    found = shares("lmk", [[9.0], [1.0], [7.0], [3.0]], segments=[2, 2])
    # Where a landmark is taken away its neighbour closes the sentence: 1 → 9, and 3 → 7.
    np.testing.assert_allclose(found, [0, 8 / 12, 0, 4 / 12], atol=1e-6)


def test_a_sentence_that_is_left_out_whole_is_no_segment():
    found = shares("lmk", [[1.0], [3.0]], segments=[1, 1])
    np.testing.assert_allclose(found, [0.5, 0.5])


def test_a_text_of_one_token_is_all_that_token():
    assert shares("mean", [[2.0]]).tolist() == [1.0]
    assert shares("mean", [[2.0], [2.0]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_has_an_example_and_says_what_it_is(name):
    row = pooling.names()[name]
    settings = row.settings({})
    found = example(row, settings)
    assert found.states.shape[-1] == WIDTH
    assert found.states.shape[1:-1] == ((LAYERS,) if "layers" in row.needs else ())
    assert len(found.vectors) == 2
    assert np.isfinite(found.vectors).all()
    told = described(row, settings)
    assert ("equation", row.equation) in told
    assert sum(heading == "setting" for heading, _ in told) == len(row.parameters)
    assert row.paper in dict(told)["paper"]


def test_a_token_is_shown_as_it_stands_in_a_word():
    assert glued("##ing") == ("ing", True)
    assert glued("##") == ("##", False)
    assert glued("Ġhouse") == ("house", False)
    assert glued("▁") == ("▁", False)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    pytest.importorskip("torch", reason="needs the train extra")
    from milepost_lab.compare.reading import TokenReader

    return TokenReader.open(str(write_checkpoint(tmp_path_factory.mktemp("model"), "bert")))


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_is_pictured_on_a_text(name, reader):
    from milepost_lab.show.study import picture

    found = picture(pooling.get(name), reader, "The cat sat. The dog <x> sat.", "dog")
    assert len(found.parts) == len(found.shares) > 1
    assert np.isfinite(found.shares).all()
    assert found.shares.min() >= 0
    assert found.strengths.max() == pytest.approx(1.0)
    if found.reads == "tokens":
        assert found.parts[:3] == ("[CLS]", "the", "cat")
        assert found.parts[-1] == "[SEP]"
    drawn = as_svg(found, "a < b")
    assert drawn.count("<rect") > len(found.parts)
    assert "a &lt; b" in drawn
    assert drawn == as_svg(found, "a < b")
    opacities = [float(value) for value in re.findall(r'fill-opacity="([\d.]+)"', drawn)]
    assert max(opacities) == 0.75


@pytest.mark.torch
@pytest.mark.parametrize("name", ["mean", "query-softmax", "layer-mean"])
def test_a_sentence_that_the_network_reads_in_pieces_is_pictured_in_pieces(name, tmp_path):
    pytest.importorskip("torch", reason="needs the train extra")
    from milepost_lab.compare.reading import TokenReader
    from milepost_lab.show.study import picture

    folder = write_checkpoint(tmp_path / "narrow", "bert")
    short = TokenReader.open(str(folder))
    short._shape = replace(short._shape, longest=5)
    found = picture(pooling.get(name), short, "The cat sat on the dog. The dog sat.", "dog")
    assert len(found.parts) == len(found.shares)
    assert len(found.parts) == (15 if found.reads == "tokens" else 3)


@pytest.mark.torch
def test_no_text_is_an_error(reader):
    from milepost_lab.show.study import picture

    with pytest.raises(InputError, match="give some words"):
        picture(pooling.get("mean"), reader, " ", "dog")
