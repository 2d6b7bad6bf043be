"""A network that is trained with the pooling: states carry gradients and are those of reading."""

import numpy as np
import pytest

from support.small_comparison import small_pairs
from support.small_models import write_checkpoint

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost_lab.compare.fitting import Fitter  # noqa: E402
from milepost_lab.compare.live import LiveStates  # noqa: E402
from milepost_lab.compare.reading import TokenReader  # noqa: E402
from milepost_lab.compare.recipe import CompareRecipe  # noqa: E402
from milepost_lab.compare.rows import CompareRow  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("model"), "bert")


@pytest.fixture(scope="module")
def reader(folder):
    return TokenReader.open(str(folder))


@pytest.fixture(scope="module")
def texts():
    """One is longer than a window."""
    pairs = small_pairs(4, sentences=3)
    return [text for _, text in pairs] + [small_pairs(1, sentences=60)[0][1]]


@pytest.mark.parametrize("reads", ["tokens", "landmarks", "layers", "index"])
def test_states_are_those_of_reading(reader, texts, reads):
    """But for float16, in which read ones are stored."""
    frozen, live = reader.states(texts), LiveStates(reader.trainable("full"), texts)
    numbers = [4, 0, 2]
    some, found = frozen.some(numbers, reads), live.some(numbers, reads)
    states = torch.cat(list(found.states)).detach().numpy()
    np.testing.assert_allclose(states, some.states, atol=4e-3)
    assert [len(each) for each in found.states] == some.lengths.tolist()
    if reads in ("tokens", "index"):
        for one, other in zip(found.padded(), some.padded(), strict=True):
            np.testing.assert_allclose(one.detach().numpy(), other.numpy(), atol=4e-3)
    np.testing.assert_allclose(
        live.asked(numbers).detach().numpy(), frozen.asked(numbers).numpy(), atol=4e-3
    )


def test_gradients_reach_the_network_and_not_the_one_it_was_copied_from(reader, texts):
    twin = reader.trainable("full")
    LiveStates(twin, texts).some([0, 4], "tokens").states[1].square().sum().backward()
    assert all(weight.grad is not None for weight in twin.model.backbone.parameters())
    assert not any(weight.requires_grad for weight in reader.model.parameters())


def test_lora_trains_matrices_alone_and_is_saved_as_an_adapter(folder, texts, tmp_path):
    pytest.importorskip("peft", reason="needs the train extra")
    reader = TokenReader.open(str(folder), transformers=True)
    twin = reader.trainable("lora")
    trained = [name for name, weight in twin.model.named_parameters() if weight.requires_grad]
    assert trained
    assert all("lora" in name for name in trained)
    with torch.no_grad():
        for name, weight in twin.model.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.05)
    twin.save(tmp_path / "adapter")
    again = TokenReader.open(str(tmp_path / "adapter"))
    one, other = (each.states(texts[:1]).tokens for each in (twin, again))
    np.testing.assert_allclose(one, other, atol=4e-3)
    assert not np.allclose(one, reader.states(texts[:1]).tokens, atol=1e-1)


def test_lora_begins_with_what_the_seed_draws(folder):
    """Not with what was drawn before: a comparison that goes on gives what a whole one gives."""
    pytest.importorskip("peft", reason="needs the train extra")
    reader, pairs = TokenReader.open(str(folder), transformers=True), small_pairs(4)
    sides = tuple(reader.states([pair[side] for pair in pairs]) for side in (0, 1))
    recipe = CompareRecipe(steps=1, batch=4, width=16, network="lora")
    fitter = Fitter(CompareRow("mean"), pairs, sides, recipe, reader)
    found = []
    for drawn, seed in ((0, 3), (1, 3), (1, 4)):
        torch.manual_seed(drawn)
        fit = fitter.fit(seed, None, lambda *_: None)
        weights = fit.reader.model.named_parameters()
        found.append({name: weight for name, weight in weights if "lora_A" in name})
    one, same, other = found
    assert one
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one)
