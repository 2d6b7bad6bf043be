"""The pairs that come along: free text, no passage inside another, made by the tool."""

import runpy
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch", reason="needs the train extra")

from milepost_eval.tasks.reading import objects  # noqa: E402
from milepost_lab.compare.sources import PACKAGED_FILE  # noqa: E402

TOOL = Path(__file__).resolve().parents[4] / "tools" / "make_lab_pairs.py"


@pytest.fixture(scope="module")
def rows():
    return list(objects(PACKAGED_FILE))


@pytest.fixture(scope="module")
def tool():
    if not TOOL.is_file():
        pytest.skip("needs the checkout")
    return runpy.run_path(str(TOOL))


def test_they_are_small_and_each_is_there_once(rows):
    assert PACKAGED_FILE.stat().st_size <= 400_000
    assert len(rows) == 1500
    assert len({row["query"] for row in rows}) == len({row["passage"] for row in rows}) == 1500
    about = defaultdict(list)
    for row in rows:
        assert 5 <= len(row["passage"].split()) <= 115
        about[row["document"]].append(row["passage"])
    for passages in about.values():
        assert len(passages) <= 9
        for one in passages:
            assert not any(one in other for other in passages if other is not one)


def test_every_source_is_named(rows):
    """By the README beside the file, with the number of its pairs, and by THIRD_PARTY.md."""
    readme = (PACKAGED_FILE.parent / "README.md").read_text(encoding="utf-8")
    papers = TOOL.parents[1] / "THIRD_PARTY.md"
    counts = defaultdict(int)
    for row in rows:
        counts["-".join(row["document"].split("-")[:2])] += 1
    for kind, count in counts.items():
        assert f"| `{kind}` | {count} |" in readme
        assert not papers.is_file() or f"\n| {count} | " in papers.read_text(encoding="utf-8")


def test_a_passage_is_evidence_and_what_surrounds_it(tool):
    """Whole sentences after and before by turns; evidence that is too long gives none."""
    text = " ".join(f"Sentence {n} has these six words." for n in range(60))
    start = text.index("Sentence 30")
    first, last = tool["passage_of"](text, [(start, start + 5)])
    passage = text[first:last].strip()
    assert len(passage.split()) == 114
    assert passage.startswith("Sentence 21 ")
    assert passage.endswith("Sentence 39 has these six words.")
    assert tool["passage_of"](text, [(0, len(text))]) is None


def test_the_tool_gives_the_same_pairs(tool, rows, shared_data):
    """Of documents whose licence is free, each checked here."""
    assert list(tool["pairs"](shared_data)) == rows
