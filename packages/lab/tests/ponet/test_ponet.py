"""Mixers, generated texts, and the study in a tiny setting."""

from random import Random

import pytest
import torch

from milepost.errors import InputError
from milepost_lab.ponet import study
from milepost_lab.ponet.model import MIXERS, Classifier, EncoderLayer
from milepost_lab.ponet.study import (
    CLOSING,
    LEARNING,
    OPERATIONS,
    batch,
    command,
    list_of_operations,
    recut,
    text_of_a_topic,
)
from milepost_lab.training import parameters


def value(ids):
    """The value of a list, worked out by a stack."""
    stack = [[]]
    for each in ids:
        if each == CLOSING:
            operation, *values = stack.pop()
            stack[-1].append(tuple(OPERATIONS.values())[operation - 10](values))
        elif each >= 10:
            stack.append([each])
        else:
            stack[-1].append(each)
    return stack[0][0]


def test_lists_have_the_value_of_their_operations():
    random = Random(0)
    for _ in range(50):
        made = list_of_operations(random, 40)
        assert value(made.ids) == made.label
        assert sum(made.segments) == len(made.ids) <= 40
    assert OPERATIONS["MED"]([1, 2, 4, 9]) == 3
    assert OPERATIONS["SM"]([7, 6]) == 3


def test_texts_are_sentences_and_recut_as_often():
    made = text_of_a_topic(Random(1), 200)
    cut = recut(made, Random(2))
    assert sum(made.segments) == sum(cut.segments) == len(made.ids) <= 200
    assert len(cut.segments) == len(made.segments)
    assert cut.segments != made.segments


def test_layers_have_as_many_parameters():
    sizes = [parameters(EncoderLayer(name, 64, 2)) for name in MIXERS]
    assert max(sizes) - min(sizes) <= 2 * 64 + 1


def test_both_forms_of_attention_agree():
    fused, plain = EncoderLayer("attention", 8, 2), EncoderLayer("plain", 8, 2)
    plain.load_state_dict(fused.state_dict())
    states, mask = torch.randn(2, 5, 8), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    torch.testing.assert_close(fused(states, mask, mask.long()), plain(states, mask, mask.long()))


@pytest.mark.parametrize("name", [name for name in MIXERS if name != "fft"])
def test_padding_changes_no_score(name):
    model = Classifier(name, 128, 6)
    examples = [text_of_a_topic(Random(n), 64 + 30 * n) for n in range(3)]
    scores, alone = model(*batch(examples)[:3]), model(*batch(examples[:1])[:3])
    torch.testing.assert_close(scores[:1], alone, rtol=1e-4, atol=1e-5)


def test_the_study_runs(run_study, monkeypatch):
    monkeypatch.setattr(study, "HELD_OUT", 64)
    args = ("--texts", "listops", "--longest", 64, "--steps", 1, "--lengths", "32")
    assert [row["mixer"] for row in run_study(command, *args)["rows"]] == [*LEARNING]


def test_costs_alone_and_wrong_lengths(run_study):
    found = run_study(command, "--texts", "none", "--lengths", "64,32")
    assert len(found["rows"]) == 2 * len(MIXERS)
    with pytest.raises(InputError, match="not a list of lengths"):
        run_study(command, "--lengths", "a")
