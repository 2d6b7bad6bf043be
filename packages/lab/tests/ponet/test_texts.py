"""Generated texts: the classes are right, the segments natural."""

from collections import Counter
from random import Random

import pytest

from milepost.errors import InputError
from milepost_lab.ponet.texts import (
    CLOSING,
    KINDS,
    OPERATIONS,
    list_of_operations,
    numbered,
    recut,
    text_of_a_topic,
)


def value(ids):
    """What a list of operations is worth, by a stack."""
    stack = []
    for token in ids:
        if token != CLOSING:
            stack.append(token)
            continue
        values = []
        while stack[-1] < 10 or isinstance(stack[-1], float):
            values.append(int(stack.pop()))
        operation = list(OPERATIONS.values())[stack.pop() - 10]
        stack.append(float(operation(values)))  # a float marks a value that was worked out
    return int(stack[0])


def test_operations_are_those_of_listops():
    found = {name: operation([4, 9, 3, 8]) for name, operation in OPERATIONS.items()}
    assert found == {"MIN": 3, "MAX": 9, "MED": 6, "SM": 4}


@pytest.mark.parametrize("longest", [8, 40, 300])
def test_a_list_is_worth_its_label_and_no_longer_than_allowed(longest):
    random = Random(0)
    for _ in range(100):
        example = list_of_operations(random, longest)
        assert len(example.ids) <= longest
        assert value(example.ids) == example.label


def test_segments_of_a_list_are_its_arguments():
    example = next(
        each
        for each in (list_of_operations(Random(n), 60) for n in range(99))
        if len(each.ids) > 30
    )
    assert sum(example.segments) == len(example.ids)
    at = 1
    for length in example.segments[1:-1]:
        part = example.ids[at : at + length]
        assert part[0] < 10 if length == 1 else part[-1] == CLOSING
        assert sum(token >= 10 and token != CLOSING for token in part) == part.count(CLOSING)
        at += length


def test_most_sentences_of_a_text_are_of_its_topic_and_segments_are_sentences():
    example = text_of_a_topic(Random(1), 400)
    assert len(example.ids) <= 400
    at = 0
    for length in example.segments:
        sentence = bytes(example.ids[at : at + length]).decode()
        assert sentence[0].isupper()
        assert sentence.endswith(". ")
        assert sentence.count(".") == 1
        at += length
    assert at == len(example.ids)


def test_every_class_is_there_and_none_is_most():
    for kind in KINDS.values():
        labels = Counter(kind.make(Random(n), 96).label for n in range(600))
        assert len(labels) == kind.classes
        assert max(labels.values()) < 600 / 4


def test_random_cuts_are_as_many():
    example = text_of_a_topic(Random(2), 300)
    other = recut(example, Random(0))
    assert len(other.segments) == len(example.segments)
    assert sum(other.segments) == len(example.ids)
    assert min(other.segments) >= 1
    assert other.segments != example.segments
    assert other.ids == example.ids
    assert numbered((2, 1, 3)) == [0, 0, 1, 2, 2, 2]


def test_too_short_is_named():
    with pytest.raises(InputError, match="lists of 7 tokens"):
        list_of_operations(Random(0), 7)
    with pytest.raises(InputError, match="texts of 20 bytes"):
        text_of_a_topic(Random(0), 20)
