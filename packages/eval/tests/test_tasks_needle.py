"""Needles: where they stand, that only they answer, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.text import split
from milepost_eval.tasks import load
from milepost_eval.tasks.needle import needles

STORY = "".join(
    f"In chapter {n} the keeper walked to gate {n * 7}. "
    f"He found it shut, and waited{' long' * (n % 5)}." + ("\n\n" if n % 4 == 0 else " ")
    for n in range(1, 60)
).strip()
LONGEST = max(end - start for start, end in split(STORY)) + 2

ways = st.lists(st.integers(200, 30_000), min_size=1, max_size=3, unique=True)
depths = st.lists(st.floats(0, 1), min_size=1, max_size=3, unique=True)


@settings(max_examples=25, deadline=None)
@given(lengths=ways, depths=depths, seed=st.integers(0, 99))
def test_a_needle_stands_where_it_was_asked_to(
    lengths: list[int], depths: list[float], seed: int
) -> None:
    """Length and depth are right within a sentence, for texts shorter and longer than the story."""
    task = needles(STORY, lengths=lengths, depths=depths, seed=seed)
    asked = [(length, depth) for length in lengths for depth in depths]
    for (length, depth), document, question in zip(
        asked, task.documents, task.questions, strict=True
    ):
        (start, end), text = question.spans[0], document.text
        assert question.document == document.name
        assert length <= len(text) < length + LONGEST + 2
        rest = len(text) - (end - start)
        assert abs(start - depth * rest) <= LONGEST
        needle = text[start:end]
        assert text.count(needle) == 1
        assert needle == needle.strip()
        assert needle.endswith(".")


@settings(max_examples=25, deadline=None)
@given(length=st.integers(500, 20_000), depth=st.floats(0, 1), seed=st.integers(0, 99))
def test_the_rest_is_the_story(length: int, depth: float, seed: int) -> None:
    """Without the needle a document is made of the story's own sentences."""
    task = needles(STORY, lengths=[length], depths=[depth], seed=seed)
    start, end = task.questions[0].spans[0]
    text = task.documents[0].text
    own = {STORY[a:b].strip() for a, b in split(STORY)}
    for part in (text[:start], text[end:]):
        assert {part[a:b].strip() for a, b in split(part)} - {""} <= own


def test_the_answer_is_nowhere_else() -> None:
    """No two needles share a name, and no name is in the story or answers another question."""
    task = needles(STORY, lengths=[300, 900, 2_000], depths=[0.0, 0.3, 0.6, 1.0])
    texts = {document.name: document.text for document in task.documents}
    names = set()
    for question in task.questions:
        start, end = question.spans[0]
        shared = {
            word
            for word in question.text.strip("?").split()[1:]
            if word[0].isupper() and word in texts[question.document][start:end]
        }
        assert len(shared) == 2
        assert not any(word.casefold() in STORY.casefold() for word in shared)
        assert not shared & names
        names |= shared
    assert len(names) == 2 * len(task.questions)


def test_the_same_call_gives_the_same_task() -> None:
    """Words and places depend on the arguments only; another seed has other needles."""
    first, again = (needles(STORY, lengths=[9_000], depths=[0.5], seed=3) for _ in range(2))
    assert first == again
    other = needles(STORY, lengths=[9_000], depths=[0.5], seed=4)
    assert first.questions[0].text != other.questions[0].text


def test_a_long_document_repeats_the_story_and_says_so() -> None:
    """What goes beyond the story is the story again, from other sentences on, and is noted."""
    task = needles(STORY, lengths=[1_000, 20_000], depths=[0.5])
    assert len(task.notes) == 1
    assert task.notes[0].startswith("documents of 20000 characters hold the text of")
    assert task.documents[1].text.count("chapter 7 ") > 1


def test_a_million_tokens(shared_data: Path) -> None:
    """Five million characters are made of a book of one, quickly enough for a test."""
    book = (shared_data / "book" / "origin-of-species.txt").read_text(encoding="utf-8")
    task = needles(book, lengths=[5_000_000], depths=[0.9])
    (start, end), text = task.questions[0].spans[0], task.documents[0].text
    assert 5_000_000 <= len(text) < 5_010_000
    assert abs(start / len(text) - 0.9) < 0.001
    assert text[start:end] not in book


def test_the_needle_task_by_name(shared_data: Path, tmp_path: Path) -> None:
    """The named task uses the shared book, each split its own needles; a file may be given."""
    dev, test = (load("needle", split, shared_data) for split in ("dev", "test"))
    assert not {q.text for q in dev.questions} & {q.text for q in test.questions}
    assert (dev.split, test.split) == ("dev", "test")
    (tmp_path / "story.txt").write_text(STORY)
    assert load(f"needle:{tmp_path / 'story.txt'}", "dev").notes


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ({"haystack": " \n"}, "the haystack has no text"),
        ({"depths": [1.5]}, "depth 1.5 is not between 0 and 1"),
        ({"lengths": [20]}, "a document of 20 characters has no room for a needle"),
        ({"lengths": []}, "no length or no depth"),
        ({"lengths": [500, 500]}, "a length or depth is given twice"),
    ],
)
def test_impossible_needles_are_told(given_: dict[str, Any], problem: str) -> None:
    """What cannot be made is an error that says why."""
    arguments = {"haystack": STORY, "lengths": [500], "depths": [0.5], **given_}
    with pytest.raises(InputError, match=problem):
        needles(arguments.pop("haystack"), **arguments)
