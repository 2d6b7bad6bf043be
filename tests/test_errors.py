"""Errors: one line, what is wrong and what to do."""

import inspect
import pickle

import pytest

from milepost import errors
from milepost.errors import MilepostError, nearest

CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, MilepostError)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_message(kind: type[MilepostError]) -> None:
    error = kind("notes.txt is empty", "write something")
    assert str(error) == "notes.txt is empty; try: write something"
    assert (error.problem, error.hint) == ("notes.txt is empty", "write something")
    assert str(kind("notes.txt is empty")) == "notes.txt is empty"


@pytest.mark.parametrize("kind", CLASSES)
def test_survives_another_process(kind: type[MilepostError]) -> None:
    error = pickle.loads(pickle.dumps(kind("it broke", "mend it")))
    assert type(error) is kind
    assert (str(error), error.problem, error.hint) == (
        "it broke; try: mend it",
        "it broke",
        "mend it",
    )


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("serch", ["index", "search"], "'search', or "),
        ("BEIR", ("beir", "mldr"), "'beir', or "),
        ("quite-another", {"beir": 1, "mldr": 2}, ""),
        ("serch", [], ""),
        ("", ["search"], ""),
        ("name 7", [f"name {number}" for number in range(30_000)], ""),
    ],
)
def test_the_nearest_name_begins_the_hint(name, known, meant) -> None:
    assert nearest(name, known) == meant
