"""A report's own name and year leave the question that is asked of it alone."""

from dataclasses import replace

import pytest

import milepost
from milepost.search import Query
from milepost.search.subject import SHORTEST, shortened
from milepost.testing import fake_encoder
from milepost.types import Document
from support.annual_reports import HEAD, PAGES, REPORT, REPORTS, TALK

MODEL = fake_encoder()


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


def test_other_texts_keep_their_names() -> None:
    question = "What did Tern Water sell in 2022?"
    of_no_year = REPORT.replace("2022", "then")
    without_head = PAGES.replace("2022", "then") + HEAD
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
