"""TOML tables into dataclasses: what fits, and how each mistake is named."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost_train.settings import Count, Place, Settings, WrongSettings, fill

FILE = Path("configs/run.toml")


@dataclass(frozen=True, slots=True)
class Inner(Settings):
    rank: Count = 4


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    rate: float = 0.1
    on: bool = False
    files: tuple[Path, ...] = ()
    pair: tuple[int, int] = (1, 2)
    kind: Literal["warn", "stop"] = "warn"
    threads: int | None = None
    sizes: tuple[int | Literal["sentences"], ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    inner: Inner | None = None


def read(text: str, **made: Any) -> Outer:
    place = Place(FILE)
    outer = fill(Outer, tomllib.loads(text), place, **made)
    place.check()
    assert outer is not None
    return outer


def test_every_type_of_field() -> None:
    """Lists become tuples, whole numbers fit where any number does, paths start from the file."""
    text = """
        name = "x"
        rate = 2
        on = true
        files = ["a.jsonl", "../b", "/c/d"]
        pair = [3, 4]
        kind = "stop"
        threads = 2
        sizes = [32, "sentences"]
        weights = {one = 1, two = 2.5}
        [inner]
        rank = 8
    """
    assert read(text) == Outer(
        name="x",
        rate=2.0,
        on=True,
        files=(Path("configs/a.jsonl"), Path("b"), Path("/c/d")),
        pair=(3, 4),
        kind="stop",
        threads=2,
        sizes=(32, "sentences"),
        weights={"one": 1.0, "two": 2.5},
        inner=Inner(8),
    )
    assert type(read("name = 'x'\nrate = 2").rate) is float
    assert read("", name="made") == Outer("made")


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("name = 'x'\nnme = 'x'", "unknown key 'nme'", "'name'"),
        ("rate = 1", "missing key 'name'", "a string"),
        ("name = 3", "name is 3", "a string"),
        ("name = 'x'\nrate = true", "rate is true", "a number"),
        ("name = 'x'\nrate = nan", "rate is NaN", "a number"),
        ("name = 'x'\non = 1", "on is 1", "true or false"),
        ("name = 'x'\nthreads = 1.5", "threads is 1.5", "a whole number"),
        ("name = 'x'\nfiles = ['']", 'files is [""]', "a list, each a path in quotes"),
        ("name = 'x'\npair = [1]", "pair is [1]", "a list, each a whole number"),
        ("name = 'x'\nkind = 'wran'", 'kind is "wran"', 'one of "warn", "stop"'),
        (
            "name = 'x'\nsizes = ['sentence']",
            'sizes is ["sentence"]',
            'a list, each a whole number or "sentences"',
        ),
        ("name = 'x'\nweights = {a = 'b'}", "weights is", "a table, each a number"),
        ("name = 'x'\ninner = 3", "inner is 3", "a table"),
        ("name = 'x'\n[inner]\nrnk = 3", "run.toml: [inner]: unknown key 'rnk'", "'rank'"),
        ("name = 'x'\n[inner]\nrank = 0", "run.toml: [inner]: rank is 0", "1 or more"),
        ("name = 1979-05-27", 'name is "1979-05-27"', "a string"),
    ],
)
def test_faults_are_named(text: str, problem: str, hint: str) -> None:
    with pytest.raises(WrongSettings) as caught:
        read(text)
    (fault,) = caught.value.faults
    assert fault.problem.startswith("configs/run.toml")
    assert problem in fault.problem
    assert hint in fault.hint


def test_all_faults_are_collected() -> None:
    with pytest.raises(WrongSettings) as caught:
        read("nme = 1\nrate = 'x'\n[inner]\nrank = 0")
    problems = [fault.problem.rpartition("run.toml: ")[2] for fault in caught.value.faults]
    assert problems == [
        *("unknown key 'nme'", "missing key 'name'", 'rate is "x"', "[inner]: rank is 0")
    ]


def test_made_fields_are_not_keys() -> None:
    with pytest.raises(WrongSettings, match="unknown key 'name'"):
        read("name = 'x'", name="y")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(list(Outer.__dataclass_fields__)) | st.text(), values))
def test_any_table_is_read_or_refused(table: dict[str, Any]) -> None:
    place = Place(FILE)
    made = fill(Outer, table, place)
    assert (made is None) == bool(place.faults)
    if made is None:
        return
    assert type(made.name) is str
    assert type(made.rate) is float
    assert made.threads is None or type(made.threads) is int
    assert all(isinstance(path, Path) for path in made.files)
