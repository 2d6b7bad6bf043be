"""Citations that quote nothing: judged by a check of their sentence, and shown with the result."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import milepost
from milepost.answers import Answer, Citation, Support
from milepost.answers.citations import check_citations
from milepost.answers.support import LIKELY, with_support
from milepost.cli.citations import print_sources
from milepost.console.records import citation_record
from milepost.index import Index
from milepost.types import Passage

BOOK = Path(__file__).parents[2] / "examples" / "origin-of-species.txt"
RAID = "Some ants steal pupae from other nests and rear them as slaves."
REVOLT = "Slave ants rise against their masters every third year."


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    text = BOOK.read_text(encoding="utf-8")
    start = text.index("CELL-MAKING INSTINCT")
    with milepost.open(None, model="landmark-light") as opened:
        opened.add(milepost.Document("book.txt", text[start - 20_000 : start + 30_000]))
        opened.add(milepost.Document("note.txt", "Gold melts at 1064 degrees.\n"))
        yield opened


@pytest.fixture(scope="module")
def passages(index: Index) -> list[Passage]:
    cells = index.search("how do bees make cells", k=1)
    raids = index.check(RAID, ["book.txt"], k=20).passages  # as a citation is checked
    return [*cells, *raids[:1]]


def judged(index: Index, passages: Sequence[Passage], answer: str) -> list[Citation]:
    return list(with_support(check_citations(answer, passages), passages, index.check))


def test_a_passage_that_says_it_supports_it(index: Index, passages: list[Passage]) -> None:
    (citation,) = judged(index, passages, RAID[:-1] + " [2].")
    assert citation.verdict == "related"
    support = citation.support
    assert support is not None
    assert (support.number, support.document) == (2, "book.txt")
    assert LIKELY <= (support.score or 0.0) == pytest.approx(passages[1].score, abs=0.02)
    assert citation.places == ((support.start, support.end),)
    text = index.document("book.txt").text[support.start : support.end]
    assert "nests" in text
    assert text in passages[1].text


def test_another_passage_than_the_cited_one(index: Index, passages: list[Passage]) -> None:
    (citation,) = judged(index, passages, RAID[:-1] + " [1].")
    assert (citation.verdict, citation.places) == ("unsupported", ())
    assert citation.support is not None
    assert citation.support.number == 2
    (alone,) = judged(index, passages[:1], RAID[:-1] + " [1].")
    assert alone.support is not None
    assert (alone.support.number, alone.support.start) == (None, citation.support.start)


def test_what_nothing_supports(index: Index, passages: list[Passage]) -> None:
    revolt, signs = judged(index, passages, f"{REVOLT[:-1]} [2].\n\n… ! [1]")
    assert (revolt.verdict, revolt.support) == ("unsupported", None)
    assert signs.verdict == "unquoted"


def test_words_that_are_nearly_or_elsewhere_there(index: Index, passages: list[Passage]) -> None:
    document = index.document("book.txt").text
    sentence = passages[1].hits[0]
    said = document[sentence.start : sentence.end].strip().replace("nests", "houses")
    other = index.document("note.txt").text.strip()
    gold = [Passage(other, "note.txt", None, 0, len(other), 0.9, (), None, None)]
    near, elsewhere = judged(index, passages[1:] + gold, f"{said} [1]\n\n{other} [1]")
    assert (near.verdict, near.support) == ("near", None)
    ((start, end),) = near.places
    assert passages[1].start <= start < end <= passages[1].end
    assert elsewhere.verdict == "unsupported"
    assert elsewhere.support == Support(2, "note.txt", 0, len(other), None, None)


def test_a_sentence_is_checked_once(index: Index, passages: list[Passage]) -> None:
    asked: list[tuple[str, list[str]]] = []

    def check(text: str, documents: Sequence[str], **options: Any) -> milepost.CheckResult:
        asked.append((text, list(documents)))
        return index.check(text, documents, **options)

    words = " ".join(passages[0].text.split()[:6])
    answer = f'{RAID[:-1]} [1][2]. It is "{words}" [1].'
    found = list(with_support(check_citations(answer, passages), passages, check))
    assert [each.verdict for each in found] == ["unsupported", "related", "verbatim"]
    assert asked == [(RAID, ["book.txt"])]


def test_sources_and_records_show_it(
    index: Index, passages: list[Passage], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = f"{RAID[:-1]} [2]. {RAID[:-1]} [1]."
    citations = tuple(judged(index, passages, answer))
    print_sources(passages, Answer(answer, citations, ()), "never")
    first, sentence, second = capsys.readouterr().out.splitlines()
    assert citations[0].support is not None
    score = f"{citations[0].support.score:.0%}"
    assert first.startswith("[1] book.txt · ")
    assert first.endswith("· not supported")
    assert sentence.strip() == f"“{RAID}”, but by [2]: {score}"
    assert second.endswith(" · about this: read it")
    assert not Answer(answer, citations, ()).grounded
    record = citation_record(citations[0])
    assert record["support"] == {
        "number": 2,
        "document": "book.txt",
        "start": citations[0].support.start,
        "end": citations[0].support.end,
        "page": None,
        "score": citations[0].support.score,
    }
    assert citation_record(judged(index, passages, f"{REVOLT[:-1]} [2].")[0])["support"] is None
