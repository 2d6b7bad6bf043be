"""TOML tables into dataclasses: what fits, and how each mistake is named."""

import tomllib
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.dataclasses import dataclass

from milepost_train.settings import CHECKED, Count, File, Place, WrongSettings, fill

FILE = Path("configs/run.toml")


@dataclass(frozen=True, slots=True, config=CHECKED)
class Inner:
    rank: Count = 4


@dataclass(frozen=True, slots=True, config=CHECKED)
class Outer:
    name: str
    rate: float = 0.1
    on: bool = False
    files: tuple[File, ...] = ()
    kind: Literal["warn", "stop"] = "warn"
    threads: int | None = None
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
        kind = "stop"
        threads = 2
        [inner]
        rank = 8
    """
    assert read(text) == Outer(
        name="x",
        rate=2.0,
        on=True,
        files=(Path("configs/a.jsonl"), Path("b"), Path("/c/d")),
        kind="stop",
        threads=2,
        inner=Inner(8),
    )
    assert type(read("name = 'x'\nrate = 2").rate) is float
    assert read("name = 'x'", rate=3.0) == Outer("x", 3.0)


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("name = 'x'\nnme = 'x'", "unknown key 'nme'", "'name'"),
        ("rate = 1", "missing key 'name'", "name"),
        ("name = 3", "name is 3", "string"),
        ("name = 'x'\nrate = true", "rate is true", "number"),
        ("name = 'x'\nrate = nan", "rate is NaN", "number"),
        ("name = 'x'\non = 1", "on is 1", "boolean"),
        ("name = 'x'\nthreads = 1.5", "threads is 1.5", "integer"),
        ("name = 'x'\nfiles = 'a'", 'files is "a"', "array"),
        ("name = 'x'\nkind = 'wran'", 'kind is "wran"', "'warn'"),
        ("name = 'x'\ninner = 3", "inner is 3", "object"),
        ("name = 'x'\n[inner]\nrnk = 3", "unknown key 'inner.rnk'", "'rank'"),
        ("name = 'x'\n[inner]\nrank = 0", "inner.rank is 0", "1"),
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
    assert sorted(problems) == [
        *("inner.rank is 0", "missing key 'name'", 'rate is "x"', "unknown key 'nme'")
    ]


def test_made_fields_are_not_keys() -> None:
    with pytest.raises(WrongSettings, match="unknown key 'rate'"):
        read("name = 'x'\nrate = 1", rate=2.0)


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
    assert made is None or all(isinstance(path, Path) for path in made.files)
