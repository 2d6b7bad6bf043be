"""What holds for every operator of the table."""

import numpy as np
import pytest
from hypothesis import given as draw
from hypothesis import settings
from hypothesis import strategies as st

from milepost.errors import InputError, ModelError
from milepost_lab import pooling
from support.every_operator import NAMES, WIDTH, cut, inputs, one, same, warm

LENGTHS = [4, 1, 7, 2]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_a_text_has_the_same_vector_alone_and_beside_others(name):
    pool = warm(name)
    states, given = inputs(name, np.random.default_rng(1), LENGTHS)
    together = pool(states, LENGTHS, **given)
    for number, length in enumerate(LENGTHS):
        part, alone = one(name, states, given, LENGTHS, number)
        same(pool(part, [length], **alone)[0], together[number], rtol=2e-5, atol=2e-6)


def test_the_order_of_texts_changes_nothing_but_the_order(name):
    pool = warm(name)
    states, given = inputs(name, np.random.default_rng(2), LENGTHS)
    parts = [one(name, states, given, LENGTHS, n) for n in range(len(LENGTHS))]
    turned = {key: np.concatenate([alone[key] for _, alone in parts[::-1]]) for key in given}
    back = pool(np.concatenate([part for part, _ in parts[::-1]]), LENGTHS[::-1], **turned)
    np.testing.assert_allclose(back[::-1], pool(states, LENGTHS, **given), rtol=2e-5, atol=2e-6)


def test_the_order_of_tokens_counts_as_the_table_says(name):
    pool = warm(name)
    row = pooling.names()[name]
    states, given = inputs(name, np.random.default_rng(3), [6])
    vectors = pool(states, [6], **given)[0], pool(states[[3, 0, 5, 1, 4, 2]], [6], **given)[0]
    if row.late == "many":  # a set of vectors
        vectors = tuple(each[np.lexsort(each.T)] for each in vectors)
    alike = np.allclose(*vectors, atol=1e-5)
    assert alike == (row.order == "free")


def test_one_token_is_its_own_vector_where_the_table_says_so(name):
    row = pooling.names()[name]
    if row.single != "same":
        pytest.skip("this operator changes single tokens")
    states, given = inputs(name, np.random.default_rng(4), [1])
    vector = warm(name)(states, [1], **given).reshape(1, -1)
    np.testing.assert_allclose(vector, states.reshape(1, -1)[:, -WIDTH:], rtol=1e-5, atol=1e-6)


def test_states_in_half_precision_give_nearly_the_same(name):
    pool = warm(name)
    states, given = inputs(name, np.random.default_rng(6), LENGTHS)
    full, half = (pool(states.astype(kind), LENGTHS, **given) for kind in ("f4", "f2"))
    scale = np.abs(full).max() + 1e-3
    assert np.abs(full - half).max() / scale < 0.02


def test_many_large_halves_do_not_overflow(name):
    states, given = inputs(name, np.random.default_rng(6), [4096])
    vector = pooling.get(name)(np.full(states.shape, 16, np.float16), [4096], **given)
    assert np.isfinite(vector).all()


def test_saved_and_loaded_it_computes_the_same(name, tmp_path):
    pool = warm(name)
    states, given = inputs(name, np.random.default_rng(7), LENGTHS)
    pool.save(tmp_path / "pooling.npz")
    again = pooling.load(tmp_path / "pooling.npz")
    assert again.settings == pool.settings
    np.testing.assert_array_equal(pool(states, LENGTHS, **given), again(states, LENGTHS, **given))


def test_a_pool_saved_before_its_first_call_keeps_its_seed(name, tmp_path):
    states, given = inputs(name, np.random.default_rng(7), LENGTHS)
    pool = pooling.get(name, seed=3)
    pool.save(tmp_path / "pooling.npz")
    again = pooling.load(tmp_path / "pooling.npz")
    np.testing.assert_array_equal(pool(states, LENGTHS, **given), again(states, LENGTHS, **given))


def test_the_caller_s_arrays_are_left_alone(name):
    states, given = inputs(name, np.random.default_rng(8), LENGTHS)
    before = states.copy()
    warm(name)(states, LENGTHS, **given)
    np.testing.assert_array_equal(states, before)


# The first example imports what every family needs, on a machine that may be busy.
@settings(max_examples=25, deadline=None)
@draw(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_any_lengths_give_one_finite_vector_a_text(lengths, seed):
    for name in NAMES:
        states, given = inputs(name, np.random.default_rng(seed), lengths)
        vectors = pooling.get(name)(states, lengths, **given)
        assert vectors.shape[0] == len(lengths)
        assert vectors.dtype == np.float32


def test_no_texts_give_no_vectors_as_wide_as_those_of_texts(name):
    pool = warm(name)
    states, given = inputs(name, np.random.default_rng(5), [3])
    none = pool(states[:0], np.zeros(0, int), **{key: value[:0] for key, value in given.items()})
    some = pool(states, [3], **given)
    assert (len(none), none.ndim, none.shape[-1]) == (0, some.ndim, some.shape[-1])


def refused(name, match, states, lengths, **given):
    with pytest.raises(InputError, match=match):
        pooling.get(name)(states, lengths, **given)


def test_what_cannot_be_pooled_is_named(name):
    states, given = inputs(name, np.random.default_rng(9), LENGTHS)
    without = {key: value for key, value in given.items() if key != "segments"}
    refused(name, "add up to 15, but there are 14", states, [4, 1, 7, 3], **without)
    refused(name, "text 1 has 0 tokens", states, [4, 0, 10], **without)
    refused(name, "one row of whole numbers", states, [4.0, 10.0], **without)
    refused(name, "not floating-point", states.astype(int), LENGTHS, **given)
    if "segments" in given:
        refused(name, "segment 1 has 0 tokens", states, LENGTHS, **{**given, "segments": [14, 0]})
    hurt = states.copy()
    hurt[5] = np.nan
    refused(name, "token 5 holds NaN", hurt, LENGTHS, **given)
    with pytest.raises(InputError, match=f"{name} has no parameter 'gruops'"):
        pooling.get(name, gruops=3)


def test_a_segment_must_end_with_its_text():
    refused("lmk", "crosses the end of text 0", np.ones((5, 2), "f4"), [2, 3], segments=[3, 2])


@pytest.mark.parametrize(
    "name", [n for n, row in pooling.names().items() if "segments" in row.needs]
)
def test_segments_are_asked_for_where_they_count(name):
    """Without them ``lmk`` would be the mean of all tokens, and nobody would notice."""
    states, given = inputs(name, np.random.default_rng(1), LENGTHS)
    with pytest.raises(InputError, match=f"{name} needs segments=") as error:
        pooling.get(name)(states, LENGTHS)
    assert "numpy.ones(len(states), int)" in error.value.hint
    assert pooling.get(name)(states, LENGTHS, **given).shape[0] == len(LENGTHS)


def test_a_padded_batch_needs_its_mask(name):
    """Without one, lengths would be read as those of concatenated texts."""
    states, given = inputs(name, np.random.default_rng(1), [3, 3])
    padded = states.reshape(2, 3, *states.shape[1:])
    with pytest.raises(InputError, match="have the shape") as error:
        pooling.get(name)(padded, [3, 3], **given)
    assert error.value.hint == "mask= in place of lengths for a padded batch"
    np.testing.assert_array_equal(
        pooling.get(name)(padded, mask=np.ones((2, 3), bool), **given),
        pooling.get(name)(states, [3, 3], **given),
    )


@draw(lengths=st.lists(st.integers(1, 6), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_without_its_padding_a_batch_is_the_texts_it_was_made_of(lengths, seed):
    """Padding on either side, whatever it holds; with layers or without."""
    rng = np.random.default_rng(seed)
    for axes in ((4,), (2, 4)):
        texts = [rng.standard_normal((n, *axes)).astype(rng.choice(["f2", "f4"])) for n in lengths]
        states = np.full((len(texts), max(lengths), *axes), np.nan, texts[0].dtype)
        mask = np.zeros(states.shape[:2], rng.choice([bool, int]))
        for row, text in enumerate(texts):
            begin = int(rng.choice([0, max(lengths) - len(text)]))
            states[row, begin : begin + len(text)] = text
            mask[row, begin : begin + len(text)] = 1
        found, sizes = pooling.from_padded(states, mask)
        np.testing.assert_array_equal(found, np.concatenate(texts).astype(states.dtype))
        assert sizes.tolist() == lengths
        assert (found.dtype, sizes.dtype) == (states.dtype, np.int64)


@pytest.mark.parametrize(
    ("match", "shape", "mask"),
    [
        ("do not fit a mask", (2, 3, 4), np.ones((2, 4))),
        ("do not fit a mask", (6, 4), np.ones((6, 4))),
        ("other numbers than 0 and 1", (1, 2, 4), [[1, 2]]),
        ("text 1 has 0 tokens", (2, 2, 4), [[1, 0], [0, 0]]),
    ],
)
def test_a_mask_that_does_not_fit_is_refused(match, shape, mask):
    with pytest.raises(InputError, match=match):
        pooling.from_padded(np.ones(shape, "f4"), mask)


def test_queries_are_asked_for_and_counted():
    refused("mean", "reads no queries", np.ones((5, 2), "f4"), [2, 3], queries=np.ones((2, 2)))


def test_an_unknown_operator_is_answered_with_the_nearest():
    with pytest.raises(InputError, match="try: 'mean'"):
        pooling.get("maen")


def test_a_setting_out_of_bounds_says_its_bounds():
    with pytest.raises(InputError, match=r"temperature is 0\.0; try: give at least 0\.001"):
        pooling.get("attention", temperature=0)
    with pytest.raises(InputError, match=r"not float; try: its default, 1\.0"):
        pooling.get("attention", temperature="hot")


def test_weights_of_another_width_are_refused():
    pool = warm("attention")
    with pytest.raises(InputError, match="states of width 3 need"):
        pooling.get("attention", weights=pool.weights)(np.ones((2, 3), "f4"), [2])


def test_a_file_that_holds_no_pooling_is_named(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"PK not really")
    with pytest.raises(ModelError, match="is not a pooling"):
        pooling.load(tmp_path / "x.npz")
    with pytest.raises(ModelError, match="is not a pooling"):
        pooling.load(tmp_path / "none.npz")
    for head in ("[1]", '{"settings": {}}', '{"operator": "mean", "settings": 3}'):
        np.savez(tmp_path / "x.npz", head=np.array(head), trained=False)
        with pytest.raises(ModelError, match="is not a pooling"):
            pooling.load(tmp_path / "x.npz")


def test_a_poolings_row_tells_paper_and_equation(name):
    row = pooling.names()[name]
    assert row.name == name
    assert row.title
    assert "=" in row.equation
    assert all(parameter.help.endswith(".") for parameter in row.parameters.values())


def test_segments_are_cut_as_the_helper_says():
    assert cut(7) == [1, 2, 3, 1]
