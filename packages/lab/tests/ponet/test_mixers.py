"""Mixers at equal parameters; what they cost; what they learn."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.ponet.mixers import MIXERS, Attention, Classifier, Fourier, count, layer  # noqa: E402
from milepost_lab.ponet.peak_memory import PeakMemory  # noqa: E402
from milepost_lab.ponet.report import cost_table, gains, learned_table  # noqa: E402
from milepost_lab.ponet.study import (  # noqa: E402
    CONTROLS,
    RANDOM,
    Cost,
    Learned,
    PonetRecipe,
    _trained,
    cost,
    growth,
    learn,
    lengths_of,
)
from milepost_lab.ponet.texts import KINDS  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("width", [16, 64])
def test_all_layers_have_as_many_parameters(width):
    wanted = count(layer("ponet", width, 2))
    for name in MIXERS:
        # One channel more or less of the feed-forward layer is 2 d + 1 parameters.
        assert abs(count(layer(name, width, 2)) - wanted) <= width + 1, name


def test_both_attentions_are_the_same_function():
    torch.manual_seed(0)
    fused, plain = Attention(8, 2), Attention(8, 2, fused=False)
    plain.load_state_dict(fused.state_dict())
    states, mask = torch.randn(2, 6, 8), torch.arange(6)[None] < torch.tensor([6, 3])[:, None]
    segments = torch.zeros(2, 6).long()
    found, wanted = (each(states, mask, segments) for each in (fused, plain))
    torch.testing.assert_close(found[mask], wanted[mask])


def test_the_fourier_mixing_is_the_transform_written_out():
    states = torch.randn(1, 5, 4)
    tokens, channels = (
        torch.exp(-2j * torch.pi * torch.arange(n)[:, None] * torch.arange(n) / n) for n in (5, 4)
    )
    wanted = (tokens @ states.to(torch.complex64) @ channels).real
    torch.testing.assert_close(Fourier()(states, None, None), wanted, rtol=1e-4, atol=1e-4)


def padded_scores(name):
    """Scores of a text alone and padded to twice its length."""
    torch.manual_seed(0)
    model = Classifier(name, 20, 3, width=16).eval()
    ids, mask = torch.randint(20, (1, 9)), torch.ones(1, 9, dtype=torch.bool)
    segments = torch.arange(9)[None] // 3
    more = (torch.nn.functional.pad(each, (0, 9)) for each in (ids, mask, segments))
    return model(ids, mask, segments), model(*more)


@pytest.mark.parametrize("name", [name for name in MIXERS if name != "fft"])
def test_padding_is_not_read(name):
    torch.testing.assert_close(*padded_scores(name))


def test_the_fourier_mixing_reads_padding_as_its_row_says():
    alone, more = padded_scores("fft")
    assert (alone - more).abs().max() > 1e-3


def test_memory_is_counted_while_tensors_live():
    with PeakMemory() as memory:
        one = torch.zeros(1000)
        two = one + 1
        view = two.view(10, 100)
        del one, two
        three = view * 2
        three += 1
    # Two of 4,000 bytes live at once; a view and a sum in place make nothing.
    assert memory.peak == 8000


def test_memory_grows_linearly_but_for_the_matrix_written_out():
    costs = [cost(name, n, width=16, runs=1) for name in MIXERS for n in (512, 1024)]
    power = {name: memory for name, (_, memory) in growth(costs).items()}
    assert power.pop("plain") > 1.7
    assert all(0.9 < value < 1.1 for value in power.values()), power


def test_growth_is_the_power_of_the_length():
    made = [Cost("a", n, n**2 / 1e3, n * 2.0) for n in (100, 400)]
    assert growth(made) == {"a": (pytest.approx(2), pytest.approx(1))}
    assert growth(made[:1]) == {}
    assert "n^2.0, n^1.0" in cost_table(made)


def test_ponet_learns_topics():
    recipe = PonetRecipe(longest=96, steps=100, batch=16, rates=(5e-3,), layers=1, held_out=128)
    learned = learn("ponet", "topics", recipe, [0])
    # One of six by chance, with a standard error of 3 points.
    assert learned.accuracies[0] > 0.3
    assert learned.padding < 1e-4
    assert "not read" in learned_table([learned])


def test_the_same_seed_learns_the_same_and_cuts_matter():
    recipe = PonetRecipe(longest=64, steps=2, batch=4, width=16, layers=1, held_out=32)
    one, same = (learn("ponet", "topics", recipe, [0, 1]) for _ in range(2))
    assert (one.accuracies, one.rate) == (same.accuracies, same.rate)
    assert len(one.accuracies) == 2
    assert learn(RANDOM, "topics", recipe, [0]).parameters == one.parameters


def test_the_rate_is_chosen_on_other_texts_and_progress_counts_every_training():
    """A rate of nothing leaves the model as drawn; one that learns has the lower loss."""
    recipe = PonetRecipe(
        longest=64, steps=60, batch=16, rates=(1e-7, 5e-3), width=32, layers=1, held_out=64
    )
    told = []
    found = learn("ponet", "topics", recipe, [0, 1], lambda *said: told.append(said[1:]))
    assert found.rate == 5e-3
    assert [at for at, _ in told] == list(range(3 * 60))
    assert {of for _, of in told} == {3 * 60}


def test_differences_are_over_trainings_and_of_the_same_texts():
    def row(mixer, kind, *accuracies):
        return Learned(mixer, kind, accuracies, 1e-3, 1, 1.0, 0.0)

    rows = [row("attention", "topics", 0.5, 0.6), row("ponet", "topics", 0.7, 0.7)]
    found = gains([*rows, row("ponet@random", "topics", 0.2, 0.2), row("fft", "listops", 1, 1)])
    assert list(found) == ["topics: ponet - attention"]
    assert found["topics: ponet - attention"].mean == pytest.approx(0.15)
    assert gains([row("attention", "topics", 0.5), row("ponet", "topics", 0.7)]) == {}


@pytest.mark.parametrize("kind", ["topics", "listops"])
def test_a_control_trains_its_map_to_classes_alone(kind):
    recipe = PonetRecipe(longest=64, steps=3, batch=4, width=16, layers=1, held_out=32)
    rows = [learn(name, kind, recipe, [0]) for name in CONTROLS]
    classes = {"topics": 6, "listops": 10}[kind]
    assert {row.parameters for row in rows} == {17 * classes}
    assert [row.mixer for row in rows] == ["ponet@random", "ponet@nonsense", "ponet@hierarchical"]


def test_a_control_as_drawn_keeps_its_encoder_and_a_pre_trained_one_does_not():
    recipe = PonetRecipe(longest=64, steps=2, batch=4, width=16, layers=1)
    tables = {
        name: _trained(name, KINDS["topics"], recipe, 5e-3, 0, lambda _: None)[0].table.weight
        for name in CONTROLS
    }
    torch.manual_seed(0)
    drawn = Classifier("ponet", 128, 6, width=16, layers=1).table.weight
    assert torch.equal(tables["ponet@random"], drawn)
    assert not torch.equal(tables["ponet@nonsense"], drawn)
    assert not torch.equal(tables["ponet@nonsense"], tables["ponet@hierarchical"])


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(InputError, match="try: 'ponet'"):
        learn("ponnet", "topics", PonetRecipe(steps=1), [0])
    with pytest.raises(InputError, match="try: 'random'"):
        learn("ponet@randon", "topics", PonetRecipe(steps=1), [0])
    with pytest.raises(InputError, match="try: 'topics'"):
        learn("ponet", "topic", PonetRecipe(), [0])
    with pytest.raises(InputError, match="is not a list of lengths"):
        lengths_of("256;1024")
