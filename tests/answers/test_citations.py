"""Citations in an answer, and what supports them."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import milepost
from milepost.answers import Answer, Citation, Support
from milepost.answers.citations import check_citations, cited_sentences, find_quote
from milepost.answers.support import LIKELY, with_support
from milepost.cli.ask import print_sources
from milepost.index import Index
from milepost.quotes import fold, stripped
from milepost.testing import fake_index
from milepost.types import Passage
from support.shipped_book import hive_bees

BEES = "Bees build cells of wax. The queen [12] lays the eggs, and workers feed the young."
GOLD = "Gold melts at 1064 degrees. It is heavier than lead."


def passage(name: str, text: str, start: int = 100) -> Passage:
    return Passage(text, name, f"/files/{name}.txt", start, start + len(text), 0.9, (), None, None)


PASSAGES = [passage("bees", BEES), passage("gold", GOLD, 0)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("One fact [1]. Another. A third [2][1].",
         [("One fact.", (1,)), ("Another.", ()), ("A third.", (2, 1))]),
        ("One fact. [1] Another fact. [2]", [("One fact.", (1,)), ("Another fact.", (2,))]),
        ("A fact [1, 2; 3] in the middle.", [("A fact in the middle.", (1, 2, 3))]),
        ("A fact【1】.", [("A fact.", (1,))]),
        ("A fact [2-4]. Another [1–2, 7].", [("A fact.", (2, 3, 4)), ("Another.", (1, 2, 7))]),
        ("A fact [Passage 1]. Another [passages 3-2].",
         [("A fact.", (1,)), ("Another.", (2, 3))]),
        ("A fact [1](#1). Another [Passage 2](#p-2).", [("A fact.", (1,)), ("Another.", (2,))]),
        ("A page of [850](http://a.example/b) words [1](or so).",
         [("A page of [850](http://a.example/b) words(or so).", (1,))]),
        ("The war [1914-1918] and x(a) [1] (#2).",
         [("The war [1914-1918] and x(a) (#2).", (1,))]),
        ("He wrote \"the queen [12] lays\" there [1].",
         [('He wrote "the queen [12] lays" there.', (1,))]),
        ("A fact.\n[1]\n\nAnother.", [("A fact.", (1,)), ("Another.", ())]),
        ("[1] A fact that comes after.", [("A fact that comes after.", (1,))]),
        ("An array a[i], a year [2024a], nothing [].",
         [("An array a[i], a year [2024a], nothing [].", ())]),
        ('It says "Gold melts. It is heavy." there [1]. More.',
         [('It says "Gold melts. It is heavy." there.', (1,)), ("More.", ())]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_and_what_they_cite(
    answer: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(words, numbers) for _, words, numbers in cited_sentences(answer)] == expected


@given(st.text(max_size=200))
def test_any_answer_is_read(answer: str) -> None:
    end = 0
    for (start, stop), words, numbers in cited_sentences(answer):
        assert end <= start < stop <= len(answer)
        end = stop
        assert len(words) <= stop - start
        assert len(numbers) == len(set(numbers))
    for citation in check_citations(answer, PASSAGES):
        assert citation.number not in (1, 2) or citation.verdict != "missing"


@pytest.mark.parametrize(
    ("answer", "verdicts"),
    [
        ("Bees build cells of wax [1].", ["verbatim"]),
        ('They make "cells of wax" there [1].', ["verbatim"]),
        ("They make “cells of wax,” as is known [1].", ["verbatim"]),
        ("They use wax for their cells [1].", ["unquoted"]),
        ('They make "cells of gold" [1].', ["misquoted"]),
        ('They make "cells of wax" and "gold" [1].', ["misquoted"]),
        ('Wax makes "cells of wax" [2].', ["misquoted"]),
        ('It "melts at 1064 degrees", unlike wax [1][2].', ["unquoted", "verbatim"]),
        ("It melts [3].", ["missing"]),
        ("It melts [0].", ["missing"]),
        ('It "melts at 1064 degrees" [7][2].', ["missing", "verbatim"]),
        ("It melts.", []),
    ],
)
def test_verdicts(answer: str, verdicts: list[str]) -> None:
    assert [citation.verdict for citation in check_citations(answer, PASSAGES)] == verdicts


def test_the_places_and_quotes_of_citations() -> None:
    text = "A first line.\n\n" + GOLD
    found = fake_index({"gold": text}).search("gold lead degrees", k=1)
    answer = 'Gold is "heavier than  lead" [1]. It melts at "1064 degrees" [1].'
    first, second = check_citations(answer, found)
    assert [text[slice(*place)] for place in first.spans] == ["heavier than lead"]
    assert [text[slice(*place)] for place in second.spans] == ["1064 degrees"]
    assert answer[second.start : second.end].startswith("It melts")
    assert first.quotes == ("heavier than  lead",)
    misquoted = 'They make "cells of wax" and "cells of gold" [1].'
    (citation,) = check_citations(misquoted, PASSAGES)
    assert (citation.quotes, citation.spans) == (("cells of gold",), ())


def test_the_place_of_a_quote_is_in_the_best_sentence_that_has_it() -> None:
    text = "Title: a guild of goldsmiths\n\nBees hum. The guild of goldsmiths weighs gold and lead."
    (found,) = fake_index({"guild": text}).search("who weighs gold and lead", k=1)
    whole = Passage(text, "guild", None, 0, len(text), 0.9, found.hits, None, None)
    (citation,) = check_citations('It is the "guild of goldsmiths" [1].', [whole])
    (place,) = citation.spans
    assert place[0] == text.rindex("guild")
    (citation,) = check_citations('It is a "guild" of "bees" [1].', [whole])
    assert text[slice(*citation.spans[1])] == "Bees"


EDGES = " \t\n.,;:!?…"
PASSAGE = "The fee was low. In 1998 it was raised\n  to £5.50 (from £3), and few\u00a0complained."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("it was raised to £5.50", "it was raised\n  to £5.50"),
        (" It was ", "it was"),
        ("few complained.", "few\u00a0complained"),
        ("The fee was low,", "The fee was low"),
        ("raised … few complained", "raised\n  to £5.50 (from £3), and few\u00a0complained"),
        ("few complained ... raised", None),
        ("The fee [...] In 1998", "The fee was low. In 1998"),
        ("he fee", None),
        ("comp", None),
        ("(from £3)", "(from £3)"),
        ("", None),
        (". . .", None),
    ],
)
def test_quotes_of_a_passage(quote: str, found: str | None) -> None:
    span = find_quote(quote, PASSAGE)
    assert (span and PASSAGE[slice(*span)]) == found


def test_scripts_without_spaces_have_no_whole_words() -> None:
    assert find_quote("蜂巢是", "蜜蜂的蜂巢是用蜡做的。") == (3, 6)


# Nor signs of Markdown: a quotation leaves them out.
plain = st.text(st.characters(exclude_characters=".…[]_*`\\"), max_size=60)


# Accents that stand alone belong to the letter before, beyond white space too, as those of TeX do.
letters = st.characters(
    exclude_categories=["Cs", "Lm", "Mc", "Me", "Mn", "Sk"], exclude_characters="\\"
)
apart = st.text(letters, max_size=60)


@given(plain, apart, apart)
@example("0\\", "before", "after")  # "\\ " is a space in TeX
@example("0:$\\", "", "0$")  # half of a formula
def test_any_words_of_a_text_are_found_in_it(quote: str, before: str, after: str) -> None:
    span = find_quote(quote, f"{before} {quote} {after}")
    if any(map(str.isalnum, quote)):
        assert span is not None


@given(plain, plain)
def test_what_is_found_are_the_quotes_words(quote: str, passage: str) -> None:
    span = find_quote(quote, passage)
    if span is not None:
        assert fold(passage[slice(*span)]).letters == stripped(quote.strip(EDGES)).letters


FEW = "A few slaves lived in the fourteen nests of F. sanguinea."
REVOLT = "Slave ants rise against their masters every third year."


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with milepost.open(None, model="landmark-light") as opened:
        opened.add(milepost.Document("book.txt", hive_bees()))
        opened.add(milepost.Document("note.txt", "Gold melts at 1064 degrees.\n"))
        yield opened


@pytest.fixture(scope="module")
def passages(index: Index) -> list[Passage]:
    cells = index.search("how do bees make cells", k=1)
    nests = index.check(FEW, ["book.txt"], k=20).passages  # as a citation is checked
    return [*cells, *nests[:1]]


def judged(index: Index, passages: Sequence[Passage], answer: str) -> list[Citation]:
    return list(with_support(check_citations(answer, passages), passages, index.check))


def test_a_passage_that_says_it_supports_it(index: Index, passages: list[Passage]) -> None:
    (citation,) = judged(index, passages, FEW[:-1] + " [2].")
    assert citation.verdict == "supported"
    support = citation.support
    assert (support.number, support.document) == (2, "book.txt")
    assert LIKELY <= (support.score or 0.0) == pytest.approx(passages[1].score, abs=0.02)
    assert citation.spans == ((support.start, support.end),)
    text = index.document("book.txt").text[support.start : support.end]
    assert "nests" in text
    assert text in passages[1].text


def test_another_passage_than_the_cited_one(index: Index, passages: list[Passage]) -> None:
    (citation,) = judged(index, passages, FEW[:-1] + " [1].")
    assert (citation.verdict, citation.spans) == ("unsupported", ())
    assert citation.support.number == 2
    (alone,) = judged(index, passages[:1], FEW[:-1] + " [1].")
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
    ((start, end),) = near.spans
    assert passages[1].start <= start < end <= passages[1].end
    assert elsewhere.verdict == "unsupported"
    assert elsewhere.support == Support(2, "note.txt", 0, len(other), None, None)


def test_a_sentence_is_checked_once(index: Index, passages: list[Passage]) -> None:
    asked: list[tuple[str, list[str]]] = []

    def check(text: str, documents: Sequence[str], **options: Any) -> milepost.CheckResult:
        asked.append((text, list(documents)))
        return index.check(text, documents, **options)

    words = " ".join(passages[0].text.split()[:6])
    answer = f'{FEW[:-1]} [1][2]. It is "{words}" [1].'
    found = list(with_support(check_citations(answer, passages), passages, check))
    assert [each.verdict for each in found] == ["unsupported", "supported", "verbatim"]
    assert asked == [(FEW, ["book.txt"])]


def test_sources_and_records_show_it(
    index: Index, passages: list[Passage], capsys: pytest.CaptureFixture[str]
) -> None:
    answer = f"{FEW[:-1]} [2]. {FEW[:-1]} [1]."
    citations = tuple(judged(index, passages, answer))
    print_sources(passages, Answer(answer, citations, ()), "never")
    first, sentence, second = capsys.readouterr().out.splitlines()
    score = f"{citations[0].support.score:.0%}"
    assert first.startswith("[1] book.txt · ")
    assert first.endswith("· not supported")
    assert sentence.strip() == f"“{FEW}”, but by [2]: {score}"
    assert second.endswith(" · probably supported")
    assert not Answer(answer, citations, ()).grounded


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ('Gold "melts at 1064 degrees" [1].', "verbatim"),
        ('According to the note, it is "1064 degrees" at which gold melts [1].', "verbatim"),
        ('It is "Gold" [1].', "verbatim"),
        ('It is not "Gold" that melts at 1064 degrees [1].', "contradicted"),
        ('"Gold" never melts at 1064 degrees [1].', "contradicted"),
        ('"Gold" melts at 9 degrees [1].', "contradicted"),
        ("Gold melts at 9 degrees [1].", "contradicted"),
        ('Napoleon lost the battle for "1064 degrees" of longitude [1].', "unsupported"),
        ('The sum of it all is "Gold melts at 1064 degrees" [1].', "verbatim"),
    ],
)
def test_what_a_sentence_says_beside_its_quote_counts(
    index: Index, answer: str, verdict: str
) -> None:
    text = index.document("note.txt").text
    note = Passage(text, "note.txt", None, 0, len(text), 0.9, (), None, None)
    (citation,) = judged(index, [note], answer)
    assert citation.verdict == verdict
    assert bool(citation.quotes) == (verdict == "verbatim")
