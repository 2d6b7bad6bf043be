"""What the network reads of training pairs."""

from __future__ import annotations

import gzip
import json
from array import array
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

from milepost_lab.data.long_documents import Words  # noqa: E402
from milepost_lab.lmk.pairs import SETS, Drawing, Pair, read_pairs, same_answers  # noqa: E402
from support.small_models import write_tokenizer  # noqa: E402


def pairs(sizes: list[int]) -> list[Pair]:
    """Passages of one token each."""
    return [
        Pair(array("i", [n]), array("i", [n] * size), f"query {n // 2}", "x")
        for n, size in enumerate(sizes, 1)
    ]


def test_a_short_passage_stands_anywhere_among_others() -> None:
    """It is whole, each place is about as likely, and no pair of the batch is around it."""
    drawing = Drawing(pairs([5, 5, 40, 40]), (20, 20), seed=1)
    places = []
    for _ in range(400):
        text, other = drawing.passages([0, 1])
        assert len(text) == len(other) == 20
        assert sum(token == 1 for token in text) == 5
        assert set(text) <= {1, 3, 4}
        places.append(list(text).index(1))
    assert set(places) == set(range(16))
    assert 6.5 < sum(places) / len(places) < 8.5


def test_of_a_long_passage_any_part_is_read() -> None:
    long = Pair(array("i", [9]), array("i", range(100, 150)), "q", "x")
    drawing = Drawing([long], (10, 20), seed=1)
    starts = set()
    for _ in range(300):
        (text,) = drawing.passages([0])
        assert 10 <= len(text) <= 20
        assert list(text) == list(range(text[0], text[0] + len(text)))
        starts.add(text[0])
    assert len(starts) > 30


def test_one_seed_draws_the_same() -> None:
    """What is read depends on the seed, and on nothing that a pooling does."""
    some = pairs([5, 7, 40, 9])
    first, again, other = (
        [Drawing(some, (8, 30), seed).passages([0, 2]) for _ in range(3)] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_pairs_with_one_query_answer_each_other() -> None:
    same = same_answers(pairs([5, 5, 5]))
    assert same == {"query 0": {0}, "query 1": {1, 2}}


def test_sets_are_read_once(tmp_path: Path) -> None:
    """Questions come before plain headings; short passages and empty queries are left out."""
    write_tokenizer(tmp_path / "tokenizer.json")
    words = Words(tmp_path / "tokenizer.json")
    rows = {name: [("cat dog", f"the {name} cat sat on the mat . " * 12)] for name in SETS}
    rows["heading-questions"].append(("what is a tree ?", "the river " * 40))
    rows["corpus-headings"] += [("tree", "the river " * 40), ("cat", "the cat sat .")]
    for name, some in rows.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"query": q, "passage": p}) + "\n" for q, p in some)
    found = read_pairs(tmp_path, words, 60, None)
    assert len(found) == len(SETS) + 1
    assert all(len(each.passage) <= 60 for each in found)
    (tree,) = (each for each in found if "tree" in each.words)
    assert (tree.words, tree.source) == ("what is a tree ?", "heading-questions")
    assert read_pairs(tmp_path, words, 60, 3) == found[:3]
