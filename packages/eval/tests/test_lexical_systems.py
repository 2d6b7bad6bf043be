"""BM25 as a system: by hand, beside the library bm25s, and over one document or many."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.language.terms import question_terms, terms
from milepost.search.fusion import standard
from milepost.types import Document, Span
from milepost_eval.systems.lexical import Bm25, Bm25s
from milepost_eval.systems.splitters import splitter
from milepost_eval.types import Opened, System

DOCUMENTS = (
    Document(name="one", text="whale whale ship"),
    Document(name="two", text="ship sails"),
    Document(name="three", text="whale ship harbour storm sea"),
)
WORDS = ("whale", "ship", "storm", "harbour", "sea", "sail", "mast", "the")
LINES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=1)


def lines(text: str) -> list[Span]:
    spans: list[Span] = []
    for line in text.splitlines(keepends=True):
        start = spans[-1][1] if spans else 0
        spans.append((start, start + len(line)))
    return spans


def whole(text: str) -> list[Span]:
    return [(0, len(text))]


@pytest.fixture(params=[Bm25, Bm25s])
def system(request: pytest.FixtureRequest) -> Callable[..., System]:
    if request.param is Bm25s:
        pytest.importorskip("bm25s", reason="needs the extra eval")
    return request.param


def test_three_documents_by_hand() -> None:
    found = Bm25("bm25", whole).open(DOCUMENTS).scores(["The whale in a storm?"])[0]
    # Three units, 10/3 terms each on average; whale stands in two of them, storm in one.
    whale, storm = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    first, third = 1.2 * (0.25 + 0.75 * 3 / (10 / 3)), 1.2 * (0.25 + 0.75 * 5 / (10 / 3))
    wanted = [whale * 2 * 2.2 / (2 + first), 0.0, (whale + storm) * 2.2 / (1 + third)]
    assert found == pytest.approx(wanted, rel=1e-5)


@settings(max_examples=40, deadline=None)
@given(LINES, st.sampled_from([(1.2, 0.75), (1.5, 0.75), (0.9, 0.4)]))
def test_scores_are_those_of_bm25s_times_a_constant(
    text: list[str], k: tuple[float, float]
) -> None:
    library = pytest.importorskip("bm25s", reason="needs the extra eval")
    k1, b = k
    question = "whales, harbours and the sailing storm"
    opened = Bm25("bm25", lines, k1=k1, b=b).open([Document(name="d", text="\n".join(text))])
    other = library.BM25(method="lucene", k1=k1, b=b)
    other.index([terms(line) for line in text], show_progress=False)
    foreign = other.get_scores(question_terms(question))
    assert opened.scores([question])[0] == pytest.approx((k1 + 1) * foreign, rel=1e-4, abs=1e-6)


def test_scales_are_standardised_and_summed() -> None:
    text = "whale\nmast sea\nship\nstorm\nwhale ship"
    documents = [Document(name="d", text=text)]
    near = Bm25("near", lines, scales=(1,)).open(documents).scores(["ship whale"])[0]
    single = Bm25("single", lines).open(documents).scores(["ship whale"])[0]
    both = Bm25("both", lines, scales=(0, 1)).open(documents).scores(["ship whale"])[0]
    assert single[1] == 0.0 < near[1]
    # Lines 0-2 together: whale and ship once each in four terms, beside a usual 3 * 7 / 5.
    idf = math.log(1 + 3.5 / 2.5)
    assert near[1] == pytest.approx(2 * idf * 2.2 / (1 + 1.2 * (0.25 + 3 / 4.2)), rel=1e-5)
    assert both == pytest.approx(standard(single) + standard(near), abs=1e-6)


def test_statistics_are_those_of_the_documents_opened(system: Callable[..., System]) -> None:
    """A term that all units of a document hold is rare again among other documents."""
    text = "ship whale\nship mast\nship storm"
    others = [Document(name=str(n), text="sea harbour\nsea mast whale") for n in range(9)]
    own = Document(name="own", text=text)
    alone = system("s", lines).open([own])
    among = system("s", lines).open([own, *others])
    for opened, expected in ((alone, "ship whale"), (among, "ship")):
        ranking = next(iter(opened.search(["ship whale"])))
        best = ranking.best(3)
        assert text[best[0].start : best[0].end].startswith(expected)
    shares = []
    for opened in (alone, among):
        ship = next(iter(opened.search(["ship"]))).best(1)[0].score
        whale = next(iter(opened.search(["whale"]))).best(1)[0].score
        shares.append(ship / whale)
    assert shares[0] < 1.0 < shares[1]


def test_places_name_their_document(system: Callable[..., System]) -> None:
    opened = system("s", splitter("sentence")).open(
        [
            Document(name="a", text="A ship sails. Nothing else happens."),
            Document(name="b", text="Nobody is here.  The whale sleeps. The end."),
            Document(name="empty", text=""),
        ]
    )
    assert opened.tokens == 0
    ship, whale = opened.search(["Which ships?", "Do whales sleep?"])
    assert [(p.document, p.start, p.end) for p in ship.best(1)] == [("a", 0, 14)]
    assert [(p.document, p.start, p.end) for p in whale.best(1)] == [("b", 17, 35)]
    assert whale.spend(10**6)[0].document == "b"
    assert len(whale.best(99)) == 5


def ranked(opened: Opened, question: str) -> list[tuple[int, float]]:
    (ranking,) = opened.search([question])
    return [(place.start, place.score) for place in ranking.best(99)]


def test_questions_that_stand_nowhere_and_documents_without_text(
    system: Callable[..., System],
) -> None:
    opened = system("s", lines).open([Document(name="d", text="whale\nship\nsea")])
    for question in ("zebra", "", "?", "the of and"):
        assert ranked(opened, question) == [(0, 0.0), (6, 0.0), (11, 0.0)], question
    for texts in ([], [""], ["  \n\n", ""]):
        documents = [Document(name=str(n), text=text) for n, text in enumerate(texts)]
        assert ranked(system("s", lines).open(documents), "whale") == []


def test_fingerprints_tell_what_the_scores_depend_on() -> None:
    """Settings and versions are in the fingerprint, so that two records are not taken for one."""
    library = pytest.importorskip("bm25s", reason="needs the extra eval")
    made = [
        Bm25("s", lines),
        Bm25("s", lines, scales=(0, 1)),
        Bm25("s", lines, k1=0.9),
        Bm25("s", lines, b=0.4),
        Bm25s("s", lines),
    ]
    assert len({each.fingerprint for each in made}) == len(made)
    assert library.__version__ in made[-1].fingerprint
