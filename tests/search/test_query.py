"""Questions: words, phrases, operators, scope, their language, and names of the report asked."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import milepost
from milepost.errors import InputError
from milepost.language.detection import SupportedLanguages
from milepost.language.terms import question_terms, words_of
from milepost.search import Limits, Query
from milepost.search import scope as room
from milepost.search.notes import language_notes
from milepost.search.query import DEFAULT_K, Budget, parse_length
from milepost.search.subject import SHORTEST, shortened
from milepost.testing import fake_encoder
from milepost.types import Document
from support.annual_reports import HEAD, REPORT, REPORTS, TALK
from support.annual_reports import PAGES as OF_THE_REPORT
from support.languages import PAGES
from support.search_stores import filled, gathered, put, searched, unit
from support.store_reads import reads

MODEL = fake_encoder()


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (None, None),
        (1600, Budget(1600, "c")),
        ("1600", Budget(1600, "c")),
        ("1600c", Budget(1600, "c")),
        (" 400 t ", Budget(400, "t")),
    ],
)
def test_budgets(written: str | int | None, wanted: Budget | None) -> None:
    assert Limits.parse(budget=written).budget == wanted


@pytest.mark.parametrize("written", ["", "0", 0, -5, "ten", "12x", "1.5c", "c", "400tt", "0t"])
def test_bad_budgets(written: str | int) -> None:
    with pytest.raises(InputError, match=r"is not a length.*1600c or 400t") as caught:
        parse_length(written, "budget")
    assert repr(written) in str(caught.value)
    with pytest.raises(InputError, match="1600c or 400t"):
        Limits.parse(budget=written)
    with pytest.raises(InputError, match="1600c or 400t"):
        Query.parse("Who?", MODEL, budget=written)


@pytest.mark.parametrize(
    ("k", "budget", "wanted"),
    [(None, None, DEFAULT_K), (None, "400t", None), (None, 1, None), (3, None, 3), (3, "400t", 3)],
)
def test_something_limits_every_result(k: int | None, budget: str | None, wanted: int) -> None:
    limits = Limits.parse(k, budget)
    assert limits.k == wanted
    assert limits.k is not None or limits.budget is not None
    assert Query.parse("Who?", MODEL, k=k, budget=budget).limits == limits
    assert Limits() == Limits.parse()


@pytest.mark.parametrize(
    "limit",
    [*({"k": k} for k in (0, -1)), *({"min_score": p} for p in (-0.01, 1.01, 20, float("nan")))],
)
def test_limits_that_cannot_be_are_refused(limit: dict[str, float]) -> None:
    said = "1 or more" if "k" in limit else "is not a probability"
    for parse in (Limits.parse, partial(Query.parse, "Who?", MODEL)):
        with pytest.raises(InputError, match=said):
            parse(**limit)


def test_a_query_holds_everything_that_is_asked() -> None:
    text = "What do the bees, the BEES, build?"
    query = Query.parse(
        text, MODEL, k=2, budget="90t", documents=iter("ab"), min_score=0.25, rerank=False
    )
    assert query.text == text
    np.testing.assert_array_equal(query.vector, MODEL.encode_query(text))
    assert query.terms == ("bee", "build")
    assert query.vocab_coverage == MODEL.vocab_coverage(text)
    assert query.limits == Limits(2, Budget(90, "t"), 0.25)
    assert (query.documents, query.rerank) == (frozenset("ab"), False)
    plain = Query.parse(text, MODEL)
    assert (plain.limits, plain.documents, plain.rerank) == (Limits(), None, True)


def test_everything_small_is_looked_at() -> None:
    store = filled(3, 5)
    scope = gathered(store, ["p1x2", "common", "nowhere"])
    assert [info.name for info in scope.documents] == ["d0", "d1", "d2"]
    assert scope.document_offsets.tolist() == [0, 5, 10, 15]
    assert scope.similarity.shape == scope.vocab_coverage.shape == (15,)
    vectors = reads(store).vectors("d0", "d1", "d2")
    np.testing.assert_allclose(scope.similarity, vectors @ unit(1), atol=1e-6)
    assert int(scope.lexical[0].argmax()) == 7
    assert scope.idf["p1x2"] > scope.idf["common"] > scope.idf["nowhere"] == 0.0
    assert [scope.owner(n) for n in (0, 4, 5, 14)] == [0, 0, 1, 2]
    assert np.flatnonzero(scope.paragraph_starts).tolist() == [0, 5, 10]


@pytest.mark.parametrize("limit", [1, 12, 30])
def test_candidates_find_what_everything_finds(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    store = filled(6, 12)
    for number, place in ((4, 3), (0, 0), (5, 11)):
        words = question_terms(f"p{number}x{place}")
        vector = reads(store).vectors(f"d{number}")[place]
        wanted = searched(store, words, vector=vector, k=1).passages[0]
        with monkeypatch.context() as patch:
            patch.setattr(room, "EVERYTHING", limit)
            scope = gathered(store, words, vector=vector)
            got = searched(store, words, vector=vector, k=1).passages[0]
        assert len(scope.spans) < limit + 12
        assert (got.document, got.hits[0].start) == (wanted.document, wanted.hits[0].start)


def test_a_document_over_the_limit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "EVERYTHING", 20)
    store = filled(1, 5)
    put(store, "large", [f"Large text at number n{n}. " for n in range(50)])
    scope = gathered(store, ["n30"], vector=reads(store).vectors("d0")[0])
    assert [info.name for info in scope.documents] == ["d0", "large"]
    assert int(scope.lexical[0].argmax()) == 5 + 30


SCRIPTS = frozenset(script for _, script in PAGES if script != "other")
ENGLISH = SupportedLanguages(
    "landmark-e", frozenset(), SCRIPTS, "`pip install it` adds a model that reads it"
)
PROSE = "The fee was raised to five pounds, and those who could not pay it were sent away."


def noted(
    question: str, *passages: str, reads: SupportedLanguages | None = ENGLISH, known: float = 1.0
) -> str:
    notes = language_notes(question, passages, reads, known, 0.4)
    assert len(notes) <= 1
    return "".join(notes)


def test_most_passages_decide() -> None:
    german = PAGES["de", "Latin"]
    assert noted("fees", german, german, PROSE)
    assert noted("fees", german, PROSE)
    assert not noted("fees", german, PROSE, PROSE)


def test_short_passages_are_judged_together() -> None:
    assert noted(
        "eggs", "Eier und Honig.", "Die Drohnen.", "Zellen aus Wachs.", "Das Volk der Bienen."
    )


def test_vocabulary_decides_where_the_language_does_not() -> None:
    for note in (
        noted("C8H10N4O2", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", known=0.3),
        noted("Wer?", PAGES["de", "Latin"], reads=None, known=0.3),
    ):
        assert note == (
            "the model hardly knows this language or notation (vocabulary coverage 30%): "
            "landmarks weigh 40%"
        )
    assert not noted("Wer?", PAGES["de", "Latin"], reads=None, known=0.6)
    assert "hardly knows" not in noted("Wer?", PAGES["de", "Latin"], known=0.3)
    assert language_notes("eggs", ["CN1C=NC2"], None, 0.3, 1.0) == ()


def test_no_note_of_a_language_that_the_model_reads() -> None:
    reads = SupportedLanguages("landmark-m", SCRIPTS, frozenset(), "")
    assert not noted("蜂怎么造巢?", PAGES["zh", "Han"], reads=reads, known=0.3)
    assert noted("C8H10N4O2", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", reads=reads, known=0.3)


def test_characters_that_are_no_words_are_not_said_to_be_missing() -> None:
    assert words_of("蜂怎么造巢 hive") == {"hive": "hive"}


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Tern Water, FY2022: how many owners were met?", "how many owners were met?"),
        ("How many owners did Tern Water meet in fiscal 2022?", "How many owners did meet?"),
        ("What was Tern Water's share of the land?", "What was share of the land?"),
        ("tern water 2022 owners of land", "owners of land"),
        ("How many owners were met in 2022?", "How many owners were met in 2022?"),
        ("How much did water rates rise?", "How much did water rates rise?"),  # no name
        ("Who is Tern Water?", "Who is Tern Water?"),  # nothing would be left
    ],
)
def test_names_and_years_that_are_all_over_a_report(question: str, left: str) -> None:
    assert shortened(question, REPORT) == left


def test_numbers_and_titles_are_no_names() -> None:
    text = REPORT.replace("Annual report", "Report to 12 Directors of the Group")
    text = text.replace("the land", "the land and 12 Directors of the Group")
    asked = "Which 12 ponds did the Group and directors{} see?"
    assert shortened(asked.format(" of Tern Water"), text) == asked.format("")


def test_other_texts_keep_their_names() -> None:
    question = "What did Tern Water sell in 2022?"
    of_no_year = REPORT.replace("2022", "then")
    without_head = OF_THE_REPORT.replace("2022", "then") + HEAD
    german = REPORT.replace(TALK, "Der Rat und die Stadt sind nicht mit dem Wasser zufrieden. ")
    for text in (of_no_year, without_head, german):
        assert shortened(question, text) == question


def test_a_search_of_one_report_does_without_them() -> None:
    assert len(REPORT) > SHORTEST
    named, plain = "How many owners did Tern Water meet in 2022?", "How many owners did meet?"
    with milepost.open(model=MODEL) as index:
        index.add([Document("report", REPORT), Document("other", "Bees build cells of wax.")])
        found = index.search_detailed(named, documents="report")
        assert {"tern", "2022"} <= found.terms.keys()  # still looked up
        query = replace(
            Query.parse(named, MODEL), text=plain, vector=Query.parse(plain, MODEL).vector
        )
        assert found.passages == index.search_detailed(query, documents="report").passages


def test_a_collection_is_asked_of_the_report_that_is_named() -> None:
    """Of those that all say the same, that of the company and year comes first."""
    question = "How many owners of the land did Tern Water meet in 2021?"
    with milepost.open(model=MODEL) as index:
        index.add([Document(name, text) for name, text in REPORTS.items()])
        for options in ({"k": 20}, {"budget": "2000c"}):
            found = index.search_detailed(question, **options)
            assert found.passages[0].document == "tern 2021"
            assert found.best_score == found.passages[0].score
            assert [p.score for p in found.passages] == sorted(
                (p.score for p in found.passages), reverse=True
            )
            inside = index.search(question, documents="tern 2021", **options)
            kept = [p for p in found.passages if p.document == "tern 2021"]
            assert kept == inside[: len(kept)]
        assert sum(len(p.text) for p in found.passages) <= 2000
        assert len({p.document for p in index.search(question, 100)}) > 1
