"""What may be tuned on, and smaller tasks."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.tasks import for_tuning, take
from milepost_eval.types import Question, Task


def task_of(counts: dict[str, int]) -> Task:
    """A task with so many questions of each document."""
    return Task(
        name="t",
        split="dev",
        documents=tuple(Document(name, f"Text of {name}.") for name in counts),
        questions=tuple(
            Question(f"{name} {number}", "What?", name, ((0, 4),), {name: 1})
            for name, count in counts.items()
            for number in range(count)
        ),
        facts={name: {"title": name} for name in counts},
    )


counts_of = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4), st.integers(0, 6), min_size=1, max_size=12
).filter(lambda counts: sum(counts.values()) > 0)
numbers = st.none() | st.integers(1, 20)


def test_a_test_task_cannot_be_tuned_on() -> None:
    task = task_of({"a": 1})
    assert for_tuning(task) is task
    with pytest.raises(InputError, match="task t is of the test split"):
        for_tuning(replace(task, split="test"))


@settings(max_examples=60, deadline=None)
@given(counts=counts_of, questions=numbers, documents=numbers, seed=st.integers(0, 9))
def test_the_order_of_files_does_not_matter(
    counts: dict[str, int], questions: int | None, documents: int | None, seed: int
) -> None:
    task = task_of(counts)
    chance = random.Random(seed)
    mixed = replace(
        task,
        documents=tuple(chance.sample(task.documents, len(task.documents))),
        questions=tuple(chance.sample(task.questions, len(task.questions))),
    )
    assert take(mixed, questions, documents) == take(task, questions, documents)


@settings(max_examples=60, deadline=None)
@given(counts=counts_of, questions=numbers, documents=numbers)
def test_questions_are_dealt_evenly(
    counts: dict[str, int], questions: int | None, documents: int | None
) -> None:
    task = task_of(counts)
    small = take(task, questions, documents)
    per = {name: 0 for name, count in counts.items() if count}
    for question in small.questions:
        per[question.document] += 1
    asked = {name: count for name, count in per.items() if count}
    assert len(asked) <= (documents or len(counts))
    reach = sum(counts[name] for name in asked)
    assert len(small.questions) == min(questions or reach, reach)
    most = max(asked.values())
    assert all(count >= min(most - 1, counts[name]) for name, count in asked.items())
    assert all(question in task.questions for question in small.questions)
    assert len({question.name for question in small.questions}) == len(small.questions)
    kept = {document.name for document in small.documents}
    assert kept == (set(counts) if documents is None else set(asked))
    assert set(small.facts) == kept


def test_the_collection_holds_every_relevant_document() -> None:
    task = task_of({"a": 1, "b": 0, "c": 0})
    question = replace(task.questions[0], spans=(), relevant={"a": 2, "c": 1})
    small = take(replace(task, questions=(question,)), documents=1)
    assert {document.name for document in small.documents} == {"a", "c"}
