"""T5's layers, and the byte encoder with its decoder."""

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from milepost.errors import InputError  # noqa: E402
from milepost_lab.model.bytes.encoder import (  # noqa: E402
    BYT5_SMALL,
    TINY,
    ByteModel,
    made,
    padded_ids,
)
from milepost_lab.model.bytes.stack import (  # noqa: E402
    Attention,
    Gated,
    Stack,
    StackShape,
    parameters,
    relative_buckets,
)
from milepost_lab.model.bytes.tokenizer import PAD, encode  # noqa: E402

pytestmark = pytest.mark.torch


def test_the_published_size_has_the_published_parameters():
    """Check 2: 299,637,760, of which the parts have theirs."""
    with torch.device("meta"):
        model = ByteModel(BYT5_SMALL)
        assert parameters(Attention(BYT5_SMALL.stack)) == 2_260_992
        assert parameters(Gated(BYT5_SMALL.stack)) == 15_826_944
    layers = [parameters(stack.layers) for stack in (model.encoder, model.decoder)]
    assert layers == [217_090_560, 81_413_376]
    assert parameters(model.encoder.relative) + parameters(model.decoder.relative) == 384
    assert parameters(model.encoder.norm) + parameters(model.decoder.norm) == 2_944
    assert parameters(model.embedding) == parameters(model.head) == 565_248
    assert parameters(model) == 299_637_760


def test_relative_positions_fall_into_t5_s_buckets():
    """Check 5."""
    there = torch.tensor([0, -1, 1, -8, 8, -16, 64, 127, -1000])
    assert relative_buckets(there, both_ways=True).tolist() == [0, 1, 17, 8, 24, 10, 30, 31, 15]
    before = torch.tensor([-15, -16, -32, -64, -127, 5])
    assert relative_buckets(before, both_ways=False).tolist() == [15, 16, 21, 26, 31, 0]


def test_padding_changes_no_state_and_no_loss():
    model = made(TINY, 0)
    alone = padded_ids([encode("short")])
    beside = padded_ids([encode("short"), encode("a much longer row of bytes")])
    with torch.no_grad():
        torch.testing.assert_close(model.states(beside)[0, :6], model.states(alone)[0])
        targets = padded_ids([encode("abc")])
        wider = torch.nn.functional.pad(targets, (0, 4), value=PAD)
        torch.testing.assert_close(model.loss(alone, wider), model.loss(alone, targets))


def test_a_target_is_told_by_those_before_it_only():
    model = made(TINY, 1)
    inputs = padded_ids([encode("gaps here")])
    targets = padded_ids([encode("abcdef")])
    other = targets.clone()
    other[0, 3] = 99
    with torch.no_grad():
        one, two = model(inputs, targets)[0], model(inputs, other)[0]
    torch.testing.assert_close(one[:4], two[:4])
    assert not torch.allclose(one[4], two[4])


def test_every_weight_learns():
    model = made(TINY, 0)
    model.loss(padded_ids([encode("ab"), encode("c")]), padded_ids([encode("d")] * 2)).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert torch.isfinite(weight.grad).all(), name
        assert weight.grad.abs().max() > 0, name


def test_the_same_seed_gives_the_same_model_and_leaves_other_draws_alone():
    torch.manual_seed(3)
    wanted = torch.rand(1)
    torch.manual_seed(3)
    one, two, other = made(TINY, 5), made(TINY, 5), made(TINY, 6)
    assert torch.equal(torch.rand(1), wanted)
    assert torch.equal(one.head.weight, two.head.weight)
    assert not torch.equal(one.head.weight, other.head.weight)


def test_a_causal_stack_does_not_look_ahead():
    stack = Stack(StackShape(8, 16, 2, 4), 2, causal=True)
    states = torch.randn(1, 6, 8, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(1, 6, dtype=torch.bool)
    changed = states.clone()
    changed[0, 4] += 1
    with torch.no_grad():
        before, behind = stack(states, mask), stack(changed, mask)
    torch.testing.assert_close(before[0, :4], behind[0, :4])
    assert not torch.allclose(before[0, 5], behind[0, 5])


def test_a_source_without_a_mask_is_read_whole():
    stack = Stack(StackShape(8, 16, 2, 4), 2, causal=True, crossed=True)
    states, source = torch.randn(2, 1, 6, 8, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(1, 6, dtype=torch.bool)
    with torch.no_grad():
        wanted = stack(states, mask, source, mask)
        torch.testing.assert_close(stack(states, mask, source), wanted)


def test_sizes_that_make_no_stack_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        StackShape(0, 1, 1, 1)
