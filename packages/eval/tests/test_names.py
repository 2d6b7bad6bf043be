"""Names of systems."""

import pytest

from milepost.errors import InputError
from milepost.types import Document
from milepost_eval.names import BASES, Parsed, Workshop, parse
from milepost_eval.standard import ALL, SETS
from milepost_eval.tuned import SHIPPED, Tuned, read_tuned
from milepost_eval.tuning import families
from milepost_eval.vectors import Vectors

DOCUMENTS = [
    Document("d", "Bees build cells of wax. The queen lays eggs.\n\nShips carry grain. " * 9)
]


@pytest.fixture(scope="module")
def workshop():
    return Workshop(Vectors(None))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("landmark", ("landmark", "", "", False, "", "")),
        ("landmark@/my/model", ("landmark", "", "/my/model", False, "", "")),
        ("bm25:recursive:400-100", ("bm25", "recursive:400-100", "", False, "", "")),
        ("bm25-k0.9-b0.4:200", ("bm25-k0.9-b0.4", "200", "", False, "", "")),
        ("chunk:400@minilm+bm25/rank", ("chunk", "400", "minilm", True, "rank", "")),
        ("late-chunk:200@./a/b+bm25/0.5", ("late-chunk", "200", "./a/b", True, "0.5", "")),
        ("late-chunk-w128:200@m", ("late-chunk-w128", "200", "m", False, "", "")),
        ("bm25|rerank:/a/cross", ("bm25", "", "", False, "", "/a/cross")),
        ("chunk:4@m+bm25|rerank:c", ("chunk", "4", "m", True, "", "c")),
    ],
)
def test_the_parts_of_a_name(name, parts):
    """Base, unit, model, words, how they are joined, and what ranks again."""
    assert parse(name) == Parsed(*parts)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("landmrk", "'landmark'"),
        ("chunks:400", "'chunk'"),
        ("latechunk", "'late-chunk'"),
        ("LANDMARK", "'landmark'"),
        ("shrt", "'short'"),
        ("bm26:400", "'bm25'"),
        ("sentence-windows:3@minilm", "'sentence-window'"),
    ],
)
def test_an_unknown_system_is_answered_with_the_nearest(name, meant):
    """The message names what was asked for, the nearest name and all of them."""
    with pytest.raises(InputError, match=f"unknown system '{name}'.*{meant}") as error:
        parse(name)
    assert all(base in str(error.value) for base in BASES)


@pytest.mark.parametrize("name", ["bm25:huge", "bm25:-3", "sentence-window:few@landmark"])
def test_a_unit_that_is_none_is_named(workshop, name):
    """A wrong unit is an error before anything is read."""
    with pytest.raises(InputError, match=name.partition(":")[2].partition("@")[0]):
        workshop.make(name)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("landmark+bm25", "takes no .bm25"),  # it holds its words already
        ("bm25:400+bm25", "takes no .bm25"),
        ("document:lmk@landmark+bm25/rank", "takes no .bm25"),
        ("landmark:400", "takes no :UNIT.*without 400"),
        ("sentence:400@minilm", "takes no :UNIT"),
        ("bm25-scales:400", "takes no :UNIT"),
        ("bm25:400@minilm", "takes no @MODEL.*without minilm"),
        ("bm25-k0.9-b0.4@minilm", "takes no @MODEL"),
        ("bm25s@minilm", "takes no @MODEL"),
    ],
)
def test_a_part_that_would_say_nothing_is_refused(name, part):
    """Nobody should read a figure of minilm where only words were asked."""
    with pytest.raises(InputError, match=part):
        parse(name)


def test_a_tuned_system_is_ranked_again_under_its_own_name(tmp_path):
    """What is tuned is looked up inside of ``|rerank:``; only the folder is missing here."""
    tuned = Tuned({"bm25:tuned": "bm25:80"}, {"bm25:tuned": {"bm25:80": 1.0}}, {}, "", "", "")
    with pytest.raises(InputError, match=r"not a folder.*cross"):
        Workshop(Vectors(None), tuned=tuned).make(f"bm25:tuned|rerank:{tmp_path / 'cross'}")


def test_every_name_of_the_sets_is_a_name():
    """The sets hold no name that cannot be read, and none twice."""
    for names in SETS.values():
        assert len(set(names)) == len(names)
        for name in names:
            parse(name)


def test_what_the_sets_call_tuned_was_tuned():
    """The package's choices have every family that the sets name, and each candidate is a name."""
    tuned = read_tuned(SHIPPED)
    assert set(families()) == set(tuned.choices)
    for name in ALL:
        if "tuned" in name:
            assert "tuned" not in tuned.name(name)
    for family, grid in tuned.grids.items():
        assert grid[tuned.choices[family]] == max(grid.values())
        for name in grid:
            parse(name)


@pytest.mark.parametrize(
    "name",
    ["landmark", "landmark-only", "landmark-scales", "sentence-scales@landmark",
     "bm25", "bm25:80-30", "bm25-k0.9-b0.4:80", "bm25-scales",
     "sentence@landmark", "sentence-window:1@landmark", "chunk:80@landmark",
     "late-chunk:80@landmark", "chunk:80@landmark+bm25", "late-chunk:80@landmark+bm25/rank",
     "sentence@landmark+bm25/2", "sentence-window:1@landmark+bm25", "document:lmk@landmark"],
)  # fmt: skip
def test_systems_of_the_base_install_find_the_sentence(workshop, name):
    """Each way of the shipped model and of words opens, answers, and knows its name."""
    system = workshop.make(name)
    assert system.name == name
    assert system.fingerprint
    (ranking,) = system.open(DOCUMENTS).search(["What do bees build of wax?"])
    place = ranking.best(1)[0]
    assert place.document == "d"
    assert "wax" in DOCUMENTS[0].text[place.start : place.end]
    assert sum(p.end - p.start for p in ranking.spend(100)) >= 90  # the search cuts at a word
    assert ranking.documents(3) == ["d"]


def test_windows_of_late_chunking_are_a_rivals(workshop):
    """Milepost's own model has its windows; a name that gives others is refused."""
    with pytest.raises(InputError, match=r"landmark has its own windows.*without -w128"):
        workshop.make("late-chunk-w128:200@landmark")


def test_tuned_needs_a_file(workshop):
    """Without choices the word says what to do."""
    with pytest.raises(InputError, match="milepost eval tune"):
        workshop.make("bm25:tuned")
