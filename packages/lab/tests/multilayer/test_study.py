"""The five designs of pooling and attention, on topics that stand where they were planted."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("peft", reason="needs the train extra")

from milepost_eval.statistics import smallest_p  # noqa: E402
from milepost_lab.model.pooling import module  # noqa: E402
from milepost_lab.multilayer import study as lab  # noqa: E402
from milepost_lab.multilayer.controls import as_control  # noqa: E402
from milepost_lab.multilayer.planted import PLACES, Planted, Texts  # noqa: E402
from milepost_train.losses import info_nce  # noqa: E402

pytestmark = pytest.mark.torch
FROZEN = lab.Training(rank=0, steps=30)


def texts(place="nowhere", count=6):
    first, _ = Planted(place, seed=2).pairs(count, torch.Generator().manual_seed(1))
    return first


def states(place, asked, **settings):
    with torch.no_grad():
        return Planted(place, seed=2, **settings).states(asked)


@pytest.mark.parametrize(("place", "layer"), [("early", 1), ("last", 3)])
def test_a_topic_stands_in_its_layer_and_nowhere_else(place, layer):
    asked = texts()
    with_topic, without = states(place, asked), states("nowhere", asked)
    apart = (with_topic - without).abs().amax((0, 1, 3))
    assert apart[layer] > 0.5
    apart[layer] = 0
    assert apart.max() < 1e-4


def test_in_the_early_layer_it_is_the_same_at_all_tokens_and_tells_topics_apart():
    asked = texts()
    written = (states("early", asked) - states("nowhere", asked))[:, :, 1]
    torch.testing.assert_close(written, written[:, :1].expand_as(written), atol=1e-4, rtol=0)
    found = torch.nn.functional.normalize(written[:, 0], dim=1)
    torch.testing.assert_close(found @ found.T, asked.topics @ asked.topics.T, atol=1e-4, rtol=0)


def test_words_tell_the_topic_where_it_is_spread_alone():
    """Texts of one topic share more words than texts of two, and nowhere else do they."""
    shared = {}
    for place in ("spread", "nowhere"):
        first, second = Planted(place, seed=2).pairs(200, torch.Generator().manual_seed(3))
        same = (first.ids[:, :, None] == second.ids[:, None]).float().mean()
        other = (first.ids[:, :, None] == second.ids.roll(1, 0)[:, None]).float().mean()
        shared[place] = float(same / other)
    assert shared["spread"] > 2
    assert 0.8 < shared["nowhere"] < 1.25


@pytest.mark.parametrize("both", [False, True])
def test_padding_and_company_change_no_text(both):
    asked = texts("early")
    whole = states("early", asked, bidirectional=both)
    length = int(asked.lengths[0])
    alone = Texts(asked.ids[:1, :length], asked.lengths[:1], asked.topics[:1])
    found = states("early", alone, bidirectional=both)
    torch.testing.assert_close(whole[:1, :length], found, atol=1e-4, rtol=1e-4)


def test_a_causal_token_does_not_see_what_follows_and_the_other_does():
    asked = texts()
    changed = Texts(asked.ids.clone(), asked.lengths, asked.topics)
    changed.ids[:, 5] = (changed.ids[:, 5] + 1) % 200
    for both in (False, True):
        apart = (
            states("nowhere", asked, bidirectional=both)[:, 0]
            - states("nowhere", changed, bidirectional=both)[:, 0]
        )
        assert bool(apart.abs().amax() > 1e-3) == both


def test_every_layer_beats_the_last_where_the_topic_is_early():
    """Chance for the last layer, with LoRA: nothing of the topic goes on to where it is read."""
    training = lab.Training(steps=30)
    last = lab.trial(lab.M4, "early", training, seed=0).score
    every = lab.trial(lab.M5, "early", training, seed=0)
    assert every.score > 0.5
    assert last < 2.5 * lab.CHANCE
    lora = 4 * 4 * (4 * (32 + 32) + 3 * (32 + 64))
    pooler = module("multilayer", 32, layers=4)
    assert every.parameters == lora + sum(weight.numel() for weight in pooler.parameters())


def test_a_reader_of_nothing_is_at_chance():
    """Whoever is better than chance has a leak: 64 questions, 0.074 on average."""
    scores = [lab.trial(lab.M5, "nowhere", FROZEN, seed=n).score for n in range(3)]
    assert sum(scores) / 3 < 2 * lab.CHANCE


def test_what_is_not_trained_has_no_parameters():
    design = lab.Design("mean", "mean", bidirectional=True)
    found = lab.trial(design, "last", FROZEN, seed=0)
    assert found.parameters == 0
    assert found.score > 3 * lab.CHANCE
    again = lab.trial(design, "last", FROZEN, seed=0)
    assert (again.score, again.cosine) == (found.score, found.cosine)


def weights_of(kind, seed=0):
    planted = Planted("early", 3, 16, bidirectional=True, seed=seed)
    as_control(planted, kind, seed=seed, steps=2)
    return planted.encoder


def test_a_control_is_pre_trained_on_its_own_text():
    drawn = Planted("early", 3, 16, bidirectional=True, seed=0).encoder
    networks = {kind: weights_of(kind) for kind in ("random", "nonsense", "hierarchical")}
    flat = {
        kind: torch.cat([weight.flatten() for weight in network.parameters()])
        for kind, network in (*networks.items(), ("drawn", drawn))
    }
    assert torch.equal(flat["random"], flat["drawn"])
    assert not torch.equal(flat["nonsense"], flat["random"])
    assert not torch.equal(flat["nonsense"], flat["hierarchical"])


@pytest.mark.parametrize("place", ["early", "nowhere"])
def test_a_control_finds_what_is_written_and_nothing_else(place):
    """What M5 reads out of a network that learnt nothing of topics is the pooling's own."""
    (design,) = [one for one in lab.CONTROLS if one.name == "M5@hierarchical"]
    found = lab.trial(design, place, lab.Training(steps=30), seed=0)
    pooler = module("multilayer", 32, layers=4)
    assert found.parameters == sum(weight.numel() for weight in pooler.parameters())
    assert (found.score > 0.5) == (place == "early")
    assert found.score > 0.5 or found.score < 2.5 * lab.CHANCE


def test_vectors_that_are_all_the_same_share_their_places():
    one = torch.ones(64, 4) / 2
    assert lab._reciprocal_rank(one, one) == pytest.approx(1 / 32.5)
    assert lab._reciprocal_rank(torch.eye(64), torch.eye(64)) == 1
    assert pytest.approx(0.0741, abs=1e-4) == lab.CHANCE


def test_the_loss_by_hand():
    """Scale 20 is a temperature of 0.05."""
    scores = torch.tensor([[0.9, 0.2, 0.5, 0.1], [0.3, 0.8, 0.4, 0.7]], dtype=torch.float64)
    assert info_nce(torch.eye(2).double(), scores.T, 0.05).item() == pytest.approx(0.063799884)
    row = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    first = torch.ones(1, 1, dtype=torch.float64)
    assert info_nce(first, row, 0.5).item() == pytest.approx(0.126928011)
    assert info_nce(first, row, 0.05).item() == pytest.approx(2.061153e-9, rel=1e-5)


def test_how_many_datasets_can_decide():
    """Sixteen comparisons need 0.003125 first: eight datasets never give it, ten may."""
    pytest.importorskip("scipy", reason="needs the eval extra")
    assert smallest_p(8) == 0.0078125
    assert smallest_p(10) == 0.001953125
    assert smallest_p(15) == pytest.approx(6.104e-5, rel=1e-3)
    for datasets, decided in ((8, False), (10, True)):
        trials = [
            lab.Trial(design, "early", n, (design == "b") * (1 + n / 100), 0.0, 1, 1.0)
            for n in range(datasets)
            for design in "ab"
        ]
        (found,) = lab.compare(trials, [("b", "a")])
        assert found.p == pytest.approx(smallest_p(datasets))
        assert (16 * found.p < 0.05) == decided


def test_p_values_are_corrected_over_all_places():
    pytest.importorskip("scipy", reason="needs the eval extra")
    trials = [
        lab.Trial(design, place, n, number * (n + 1.0), 0.0, 1, 1.0)
        for place in PLACES
        for number, design in enumerate("abc")
        for n in range(6)
    ]
    found = lab.compare(trials, [("b", "a"), ("c", "a")])
    assert len(found) == 8
    assert {one.p for one in found} == {0.03125}
    assert {one.adjusted for one in found} == {8 * 0.03125}
    assert found[1].mean == pytest.approx(7.0)


@pytest.mark.parametrize("study", lab.STUDIES)
def test_every_study_names_designs_that_can_be_made(study):
    designs = {design.name: design for design in lab.STUDIES[study]}
    assert len(designs) == len(lab.STUDIES[study])
    for name, against in lab.pairs_of(study):
        assert name in designs
        assert against in designs
    for design in designs.values():
        layers = 4 if design.every_layer else 1
        made = module(design.pooling, 32, layers=layers, **design.settings)
        shape = (2, 3, layers, 32) if "layers" in made.operator.needs else (2, 3, 32)
        assert made(torch.ones(shape), torch.tensor([3, 1])).shape == (2, 32)
