"""A report's own name and year leave the question that is asked of it alone."""

from dataclasses import replace

import pytest

import milepost
from milepost.search import Query
from milepost.search.subject import SHORTEST, shortened
from milepost.testing import fake_encoder
from milepost.types import Document

MODEL = fake_encoder()
TALK = "The clerk wrote down what was said of the water and nobody objected to it at the time. "
HEAD = f"Annual report of Tern Water Inc. for the fiscal year 2022.\n{TALK * 30}\n"
PAGES = "".join(
    f"In 2022 Tern Water met {number} owners of the land. The works at pond {number} were closed "
    f"and the pipes there were sold with all that was in them.\n{TALK * 30}\n"
    for number in range(30)
)
REPORT = f"{HEAD}{PAGES}In 2019 water rates rose by nine per cent and the sign was drawn anew.\n"


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Tern Water, FY2022: how many owners were met?", "how many owners were met?"),
        ("How many owners did Tern Water meet in fiscal 2022?", "How many owners did meet?"),
        ("What was Tern Water's share of the land?", "What was share of the land?"),
        ("tern water 2022 owners of land", "owners of land"),
        ("Which pipes were laid in 2019?", "Which pipes were laid in 2019?"),  # not all over it
        ("How much did water rates rise?", "How much did water rates rise?"),  # no name
        ("Who is Tern Water?", "Who is Tern Water?"),  # nothing would be left
    ],
)
def test_names_and_years_that_are_all_over_a_report(question: str, left: str) -> None:
    assert shortened(question, REPORT) == left


def test_other_texts_keep_their_names() -> None:
    question = "What did Tern Water sell in 2022?"
    assert shortened(question, REPORT.replace("2022", "then")) == question  # of no year
    assert shortened(question, PAGES.replace("2022", "then") + HEAD) == question  # no head
    german = REPORT.replace(TALK, "Der Rat und die Stadt sind nicht mit dem Wasser zufrieden. ")
    assert shortened(question, german) == question


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
        assert found.passages != index.search_detailed(named).passages
