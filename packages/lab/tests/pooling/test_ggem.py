"""Power means: the numbers of the page's checks, and what the forms do with signs."""

import numpy as np
import pytest

from milepost.errors import InputError
from milepost_lab import pooling
from milepost_lab.pooling.ggem import LEAST, MOST, exponents, power_means

ONE_TWO_THREE = np.array([[1.0], [2.0], [3.0]])


def of(numbers, power, **options):
    """The power mean of one channel of one text."""
    column = np.array(numbers, np.float64)[:, None]
    return float(power_means(column, np.array([len(column)]), power, **options)[0, 0])


@pytest.mark.parametrize(
    ("power", "wanted"),
    [
        (1, 2),
        (2, 2.160246899),
        (3, 2.289428485),
        (5, 2.470344749),
        (10, 2.692505069),
        (100, 2.967222013),
        (0, 1.817120593),
        (-1, 1.636363636),
        (200, 2.983565993),
    ],
)
def test_power_means_of_one_two_three(power, wanted):
    assert of([1, 2, 3], power) == pytest.approx(wanted, abs=1e-9)


def test_they_grow_with_the_power_and_have_no_step_at_nought():
    powers = [-3, -1, -0.01, -1e-3, -1e-5, 0, 1e-5, 1e-3, 0.01, 1, 2, 20]
    found = [of([1, 2, 3], power) for power in powers]
    assert found == sorted(found)
    assert of([1, 2, 3], 1.001e-3) == pytest.approx(of([1, 2, 3], 0.999e-3), abs=1e-3)


def test_two_groups_have_two_exponents():
    rows = np.repeat(ONE_TWO_THREE, 4, axis=1)
    found = power_means(rows, np.array([3]), np.repeat([1.0, 3.0], 2))
    np.testing.assert_allclose(found, [[2, 2, 2.289428485, 2.289428485]], atol=1e-9)


def test_the_clamp_counts_what_is_negative_as_eps():
    assert of([-1, 2], 1) == pytest.approx(1.0000005, abs=1e-12)
    assert of([-1, 2], 3) == pytest.approx(1.587401052, abs=1e-9)
    for power in (1, 3, 20):
        assert of([-1, -2], power) == pytest.approx(1e-6, abs=1e-12)


def test_the_signed_form_keeps_signs():
    assert of([-1, 2], 1, form="signed") == pytest.approx(0.5, abs=1e-12)
    assert of([-1, 2], 3, form="signed") == pytest.approx(1.518294486, abs=1e-9)
    assert of([-2, 1], 3, form="signed") == pytest.approx(-1.518294486, abs=1e-9)
    assert of([-1, 1], 3, form="signed") == 0
    assert of([0, 0], 3, form="signed") == 0


def test_one_large_token_of_thousands_is_not_taken_for_cancelling():
    numbers = np.full(5000, 1e-3)
    numbers[7] = 2
    wanted = (2.0**3 / 5000) ** (1 / 3)
    for form in ("clamp", "signed"):
        assert of(numbers, 3, form=form) == pytest.approx(wanted, rel=1e-6)


def test_the_signed_form_has_no_power_of_nought():
    with pytest.raises(InputError, match="no power of 0 or less"):
        of([1, 2], 0, form="signed")


def test_softplus_is_the_power_mean_of_softplus():
    wanted = np.mean(np.log1p(np.exp([-1.0, 2.0])) ** 3) ** (1 / 3)
    assert of([-1, 2], 3, form="softplus") == pytest.approx(wanted, abs=1e-12)
    assert of([-800, -900], 3, form="softplus") == pytest.approx(1e-6)


def test_padding_that_is_counted_would_leak():
    assert of([1, 2, 3, 0, 0], 3) == pytest.approx(1.930978769, abs=1e-9)
    assert of([1, 2, 3, 0, 0], 1) == pytest.approx(1.2000004, abs=1e-9)
    found = pooling.get("gem")(np.array([[1], [2], [3], [9]], "f4"), [3, 1])
    np.testing.assert_allclose(found, [[2.289428485], [9]], rtol=1e-6)


def test_logarithms_neither_overflow_nor_underflow():
    assert of(np.full(4, 50, np.float16), 3) == pytest.approx(50)
    assert of(np.full(4, 0.001, np.float16), 3) == pytest.approx(0.001, rel=1e-3)
    assert of(np.full(4, 1e-6, np.float32), 8) == pytest.approx(1e-6, rel=1e-5)


def test_ragged_texts():
    states = np.array([[3.0], [4.0], [5.0]])
    found = power_means(states, np.array([2, 1]), 2)
    np.testing.assert_allclose(found, [[3.535533906], [5]], atol=1e-9)


@pytest.mark.parametrize("form", ["clamp", "signed"])
def test_scaled_states_have_a_scaled_mean(form):
    states = np.random.default_rng(0).uniform(0.1, 3, (9, 4))
    lengths = np.array([4, 5])
    np.testing.assert_allclose(
        power_means(7 * states, lengths, 3, form=form),
        7 * power_means(states, lengths, 3, form=form),
    )


@pytest.mark.parametrize("form", ["clamp", "softplus", "signed"])
@pytest.mark.parametrize("name", ["gem", "ggem"])
def test_a_text_said_four_times_has_the_vector_of_one(name, form):
    """Length alone changes nothing; it is noise that grows with it."""
    states = np.random.default_rng(0).standard_normal((9, 8)).astype("f4")
    pool = pooling.get(name, form=form, power=5.0)
    again = pool(np.tile(states, (4, 1)), [36])
    np.testing.assert_allclose(again, pool(states, [9]), rtol=1e-5)


def test_one_group_and_equal_exponents_are_gem():
    states = np.random.default_rng(0).standard_normal((9, 8)).astype("f4")
    wanted = pooling.get("gem")(states, [4, 5])
    for groups in (1, 2, 8):
        np.testing.assert_array_equal(pooling.get("ggem", groups=groups)(states, [4, 5]), wanted)


@pytest.mark.parametrize("form", ["clamp", "signed"])
def test_two_levels_are_one_only_when_parts_are_weighed_by_length(form):
    values, parts = np.arange(1.0, 6)[:, None], np.array([2, 3])
    inner = power_means(values, parts, 3, form=form)
    direct = power_means(values, np.array([5]), 3, form=form)
    weighed = power_means(inner, np.array([2]), 3, form=form, counts=parts)
    plain = power_means(inner, np.array([2]), 3, form=form)
    np.testing.assert_allclose(direct, [[3.556893304]], atol=1e-9)
    np.testing.assert_allclose(weighed, direct, atol=1e-12)
    np.testing.assert_allclose(plain, [[3.369332052]], atol=1e-9)


def test_an_exponent_of_one_that_is_not_trained_is_the_mean_of_the_clamp():
    states = np.random.default_rng(0).standard_normal((9, 4)).astype("f4")
    control = pooling.get("gem", power=1.0, learn=False)
    np.testing.assert_allclose(
        control(states, [9]), np.maximum(states, 1e-6).mean(0, keepdims=True), rtol=1e-6
    )
    assert control.weights == {}


@pytest.mark.parametrize("shift", [-50.0, -1.0, 0.0, 0.3, 2.0, 50.0])
def test_exponents_stay_within_their_bounds(shift):
    each = exponents({"power": 3.0}, {"shift": np.array([shift])}, 4)
    assert ((each >= LEAST - 1e-9) & (each <= MOST + 1e-9)).all()


def test_exponents_begin_where_they_are_told_to():
    for power in (1.0, 3.0, 7.5, 20.0):
        np.testing.assert_allclose(exponents({"power": power}, {}, 2), power)


def test_shuffled_channels_make_groups_of_one_size_and_are_kept_with_the_weights():
    pool = pooling.get("ggem", groups=2, channels="shuffled", seed=3)
    states = np.random.default_rng(0).standard_normal((5, 8)).astype("f4")
    pool(states, [5])
    assert sorted(pool.weights["group"]) == [0] * 4 + [1] * 4
    pool.weights["shift"] = np.array([-0.4, 0.6], "f4")
    each = exponents(pool.settings, pool.weights, 8)
    assert set(each[pool.weights["group"] == 0]) == {each.min()}
    np.testing.assert_allclose(
        pool(states, [5]),
        power_means(states, np.array([5]), each),
        rtol=1e-6,
    )


def test_groups_that_do_not_divide_the_channels_are_refused():
    with pytest.raises(
        InputError, match=r"12 channels cannot be cut into 8 groups.*give groups=4 or 6"
    ):
        pooling.get("ggem", groups=8)(np.ones((2, 12), "f4"), [2])


def test_noise_grows_longer_with_its_length_above_one():
    rng = np.random.default_rng(0)
    pool = pooling.get("ggem", power=10.0)
    lengths = [8, 512]
    short, long = np.linalg.norm(
        pool(rng.standard_normal((sum(lengths), 64)).astype("f4"), lengths), axis=1
    )
    assert long > 1.1 * short
