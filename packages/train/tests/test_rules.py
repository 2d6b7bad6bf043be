"""Questions made by rule: what they ask, which characters answer, what is passed over."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from milepost.errors import InputError
from milepost.types import Document, Mark
from milepost_eval.tasks import load
from milepost_train.generated import Source, checked_kinds, sources, task_rows
from milepost_train.rules import RULES, questions_of
from support.files import write_files, write_lines

HIVES = """Keeping bees

Introduction

Bees are kept in wooden boxes nearly everywhere in the world, and have been for two centuries.

What do bees eat in winter?

What do bees eat in winter? They eat the honey that they stored in the upper combs during summer. \
A strong colony needs about fifteen or twenty kilograms of it until the willows flower. \
Weak ones die.

Queen excluders and their use

A queen excluder is a grid with openings so narrow that only workers slip through. It keeps eggs \
out of the honey. With a queen excluder above it, the brood stays below. Take the queen excluder \
away before winter.

Tools

- Smoker
- Hive tool

Key terms

swarm: a part of the colony that leaves with the old queen to found another
- brood: eggs, larvae and pupae taken together
nonsense
"""


def by_kind(text, **options):
    found = questions_of(text, "Keeping bees", **options)
    made = {}
    for each in found.made:
        made.setdefault(each.kind, {})[each.question] = [text[a:b] for a, b in each.spans]
    return made


def test_marked_headings_are_the_headings():
    """Markdown writes them with signs, and what only looks like a heading is none."""
    text = "# Hives\n\n## What do bees eat in winter?\nThey eat honey, then more of it.\n\nA box\n"
    marks = [Mark(2, "heading", "Hives", 1), Mark(12, "heading", "What do bees eat in winter?", 2)]
    assert questions_of(text).made == []
    found = questions_of(text, marks=marks)
    assert [text[a:b] for a, b in found.headings] == text.splitlines()[0:3:2]
    (made,) = found.made
    assert made.question == "What do bees eat in winter?"
    assert text[made.spans[0][0] :].startswith("They eat honey")


def test_each_rule_on_a_small_text():
    made = by_kind(HIVES)
    assert set(made) == set(RULES)
    ((question, (answer,)),) = made["question"].items()
    assert question == "What do bees eat in winter?"
    assert answer.startswith("They eat the honey")
    assert answer.endswith("willows flower.")
    assert list(made["heading"]) == ["Queen excluders and their use, Keeping bees"]
    assert made["definition"] == {
        "What is a queen excluder?": [
            "A queen excluder is a grid with openings so narrow that only workers slip through."
        ]
    }
    assert list(made["term"]) == ["What is meant by swarm?", "What is meant by brood?"]
    assert made["term"]["What is meant by brood?"] == [
        "brood: eggs, larvae and pupae taken together"
    ]


def test_the_rest_of_a_section_may_answer_too():
    found = questions_of(HIVES, "Keeping bees")
    asked = next(each for each in found.made if each.kind == "question")
    beside = [HIVES[a:b] for a, b in asked.beside]
    assert beside == ["What do bees eat in winter?", "Weak ones die."]


def test_the_same_words_under_many_headings_answer_none():
    """An answer said of several things tells none of them apart: all are dropped."""
    text = "".join(
        f"What are the symptoms of {name} fever?\n\nThe following list tells the signs and "
        f"symptoms that are known of {name} fever in people.\n\n"
        for name in ("yellow", "scarlet")
    )
    found = questions_of(text)
    assert not found.made
    assert found.dropped["question: the same answer to several questions"] == 2


def test_a_text_in_which_people_speak_gives_nothing():
    """In novels and meetings a short line is what somebody says; no rule holds there."""
    talk = "What do you mean?\n\nI think that I know what I want, and I say it now.\n\n" * 60
    found = questions_of(talk)
    assert (found.made, found.headings) == ([], [])
    assert found.dropped == {"text in which people speak": 1}


TREATISE = "I have collected shells, and I think that I can tell how they were made. " * 40


@pytest.mark.parametrize(
    "speech",
    ["Do you mean it?", "Art thou he?", "“I know thee,” said she.", "'Give me your hand.'"],
)
def test_who_says_i_speaks_only_if_somebody_is_spoken_to(speech):
    """The author of a treatise says "I" all the time; speech addresses somebody."""
    text = f"Shells\n\nHow shells are made\n\n{TREATISE}"
    assert [each.question for each in questions_of(text).made] == ["How shells are made"]
    spoken = questions_of(f"{text}\n\n{speech}\n")
    assert spoken.dropped == {"text in which people speak": 1}


@pytest.mark.parametrize(
    "heading", ["Oslo, 12 March 1931", "March 2024", "2024-03-01", "Monday, May 4th, 1931"]
)
def test_a_dateline_is_no_question(heading):
    text = f"Hives\n\n{heading}\n\nThe colony forms a tight ball around the queen in the cold."
    assert questions_of(text).made == []


def test_files_are_named_from_the_folder_that_holds_them(tmp_path):
    """Nothing of this machine gets into a task, and two folders may hold the same name."""
    text = "The queen lays the eggs."
    write_files(tmp_path, {"a/bees.txt": text, "b/bees.txt": text})
    found = list(sources([tmp_path / "a", tmp_path / "b" / "bees.txt"], Counter(), []))
    assert [each.document.name for each in found] == ["a/bees.txt", "b/bees.txt"]
    assert [each.title for each in found] == ["", ""]


def test_the_shipped_book_gives_questions():
    """A treatise in the first person: each answer is prose of its chapter, not its list."""
    book = Path(__file__).parents[3] / "examples" / "origin-of-species.txt"
    if not book.is_file():
        pytest.skip("needs the checkout")
    text = book.read_text(encoding="utf-8")
    found = questions_of(text, "origin-of-species")
    made = {each.question: text[slice(*each.spans[0])] for each in found.made}
    assert len(made) == 10
    assert made["VARIATION UNDER NATURE"].startswith("Before applying the principles")
    assert not any("origin-of-species" in question for question in made)
    assert not any(answer.count(" – ") > 2 or "....." in answer for answer in made.values())


@pytest.mark.parametrize(
    "sentence",
    [
        "It is a grid that keeps bees apart from honey, and it is a grid.",
        "The first step is a grid of wire. The first step matters. So the first step it is.",
        "Honey is a very old food. Honey keeps. Nobody dislikes honey, or so they say of honey.",
        "A skep is a basket of straw in which bees lived.",
    ],
)
def test_no_definition(sentence):
    """Pronouns, ordinals, opinions, and what is spoken of only once define nothing."""
    assert "definition" not in by_kind(f"Bees\n\n{sentence}\n")


words = st.lists(
    st.sampled_from(
        ["Hives", "What is a hive?", "A hive is a box for bees.", "- wood", "Key terms",
         "\n", "\n\n", "hive: a box in which bees live", "I say.", "é̈", "The hive.",
         "Why bees fly far away",
         "They fly because flowers stand far away from the place where the hive was put.", " "]
    ),
    max_size=30,
)  # fmt: skip


@settings(max_examples=80)
@example(pieces=["What is a hive?", "A hive is a box for bees.", "Hives"], gap=" ")
@given(pieces=words, gap=st.sampled_from(["\n\n", "\n", " "]))
def test_spans_are_exact_on_any_text(pieces, gap):
    text = gap.join(pieces)
    found = questions_of(text, "Bees")
    assert found == questions_of(text, "Bees")
    for each in found.made:
        for start, end in each.spans:
            assert text[start:end] == text[start:end].strip() != ""
            assert not any(a < end and start < b for a, b in found.headings)
            assert not any(a < end and start < b for a, b in each.beside)


def corpus_line(**fields):
    return json.dumps({"id": "bees", "text": HIVES, "split": "train", **fields}) + "\n"


def test_a_corpus_is_read_by_split_and_licence(tmp_path):
    """Lines of other splits and licences with nc are left out and counted; facts are kept."""
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write(corpus_line(title="Bees", licence="CC-BY-4.0"))
        file.write(corpus_line(id="dev", split="dev"))
        file.write(corpus_line(id="nc", licence="CC-BY-NC-4.0"))
        file.write(corpus_line(id="meta", meta={"licence": "cc by nc"}))
    dropped, bad = Counter(), []
    found = list(sources([tmp_path / "a.jsonl.gz"], dropped, bad))
    assert [(s.document.name, s.title, s.facts["licence"]) for s in found] == [
        ("bees", "Bees", "CC-BY-4.0")
    ]
    assert dropped == {
        "document of another split": 1, "document with a non-commercial licence": 2,
    }  # fmt: skip
    assert not bad


def test_wrong_lines_are_named_and_the_others_are_read(tmp_path):
    path = tmp_path / "docs.jsonl"
    path.write_text(
        corpus_line(id="one") + corpus_line(id="one") + corpus_line(id="two", text=" ")
        + corpus_line(id="three", ignore=[[1]]) + corpus_line(id="four", beside=[])
        + corpus_line(id="five", split="trian") + corpus_line(id="six")
    )  # fmt: skip
    bad = []
    found = [source.document.name for source in sources([path], Counter(), bad)]
    assert found == ["one", "six"]
    said = [str(error) for error in bad]
    assert [f"docs.jsonl, line {n}:" in words for n, words in zip(range(2, 7), said, strict=True)]
    assert "'train'" in said[-1]


def test_the_task_file_is_read_by_evaluation(tmp_path):
    found = questions_of(HIVES, "Keeping bees")
    source = Source(Document("bees", HIVES), facts={"licence": "CC0"})
    rows = task_rows(source, found.made, found.headings, "train")
    path = write_lines(tmp_path / "made.jsonl", rows)
    task = load(str(path), "train")
    assert [(q.text, q.spans, q.kind) for q in task.questions] == [
        (each.question, each.spans, each.kind) for each in found.made
    ]
    assert task.facts["bees"]["licence"] == "CC0"
    (again,) = sources([path], Counter(), [])
    assert again.ignore == tuple(found.headings)
    beside = [each.beside for each in found.made if each.beside]
    assert list(again.beside.values()) == beside
    assert not list(task_rows(source, [], found.headings, "train"))


def test_no_kind_at_all():
    with pytest.raises(InputError, match="no kind"):
        checked_kinds([], RULES)
