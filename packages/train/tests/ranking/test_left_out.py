"""A task that teaches nothing, measured with what the others taught."""

import json

import pytest

import milepost
from milepost.errors import InputError
from milepost_train.ranking.fit import fit
from milepost_train.ranking.left_out import measure_left_out, others
from milepost_train.ranking.questions import Minimum, Sizes, roles
from support.ranking_cases import add_absent, book_task

FEW = Minimum(1, 1)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Three tasks of 2 or 3 pieces of the book; one has absent questions."""
    folder = tmp_path_factory.mktemp("tasks")
    for name, first, documents in (("one", 0, 2), ("two", 10, 3), ("three", 20, 3)):
        book_task(folder / f"{name}.jsonl", first, documents, 2, size=900)
    add_absent(folder / "two.jsonl", 10, 1, 1, size=900)
    return {name: str(folder / f"{name}.jsonl") for name in ("one", "two", "three")}


@pytest.fixture(scope="module")
def asked(paths):
    return roles(list(paths.values()), None, {}, enough=FEW)


@pytest.fixture(scope="module")
def encoder():
    """It has a reranker."""
    return milepost.load("landmark-minilm")


def tasks(samples):
    return [sample.task for sample in samples]


def test_train_and_dev_questions_of_a_task_are_both_left_out(tmp_path):
    """The train questions teach, the dev questions calibrate; neither of the task does."""
    names = []
    for number, name in enumerate(("one", "two")):
        for split in ("train", "dev"):
            path, first = tmp_path / split / f"{name}.jsonl", 10 * number + 5 * (split == "dev")
            names.append(str(book_task(path, first, 3, 4, split)))
    rest = others(roles(names, None, {}, enough=FEW), ["one"], FEW)["one"]
    assert tasks(rest.learn) == tasks(rest.choose) == ["two"]
    assert not rest.shared


def test_each_leaves_every_task_out_once(asked):
    rest = others(asked, ["each"], FEW)
    assert {task: tasks(of.learn) for task, of in rest.items()} == {
        "one": ["two", "three"],
        "two": ["one", "three"],
        "three": ["one", "two"],
    }
    assert {task: tasks(of.absent) for task, of in rest.items()} == {
        "one": ["two"],
        "two": [],
        "three": ["two"],
    }
    assert all(of.shared for of in rest.values())
    assert others(asked, [], FEW) == {}


def test_too_few_others_are_refused(asked):
    with pytest.raises(InputError, match="left without two: 10 questions about 5 documents"):
        others(asked, ["two"])


def test_a_row_is_what_the_others_taught(encoder, asked, paths):
    """Learned from the others' questions only: as of a fit that never saw the task."""
    sizes = Sizes(reranked=1)
    whole = fit(encoder, asked, sizes=sizes).report
    before = json.dumps(whole)
    rest = others(asked, ["two"], FEW)
    (row,) = measure_left_out(encoder, asked, rest, whole, sizes=sizes)
    assert json.dumps(whole) == before
    assert row["learned from"] == {"questions": 10, "documents": 5}
    assert row["learned from tasks"] == ["one", "three"]
    assert row["questions"] == {"questions": 6, "documents": 3}
    for ranking in ("learned ranking", "with reranker"):
        assert row[ranking]["left out"] != row[ranking]["all tasks"]
        for figures in row[ranking].values():
            assert set(figures["evidence"]) == {"document", "collection"}
            for found in figures["evidence"].values():
                assert 0 < found[0] <= found[1] <= found[2] <= 100
            assert 0 <= figures["calibration error"] <= 1
    own = whole["evidence"]["learned ranking"]["document"]["two"]
    assert row["learned ranking"]["all tasks"]["evidence"]["document"] == own
    other = roles([paths["one"], paths["three"]], None, {}, enough=FEW)
    assert rest["two"] == other
