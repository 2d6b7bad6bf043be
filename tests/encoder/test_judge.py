"""The judge in its package: claims and questions about a text that nothing was tuned on."""

from collections.abc import Iterator

import pytest

import milepost
from milepost.encoder.engine.folder import JUDGE, packaged
from milepost.encoder.reranker import judge_of, preload_judge
from milepost.testing import fake_encoder
from milepost.types import Document
from support.languages import PAGES

if packaged(JUDGE) is None:
    pytest.skip("needs packages/judge", allow_module_level=True)

CLINIC = (
    "The clinic is closed on Mondays. From April the fee for a first visit will be forty euros, "
    "which patients pay in cash at the desk. Children under six are seen without charge if a "
    "parent comes with them. Dr. Stern left the practice in 2021, and Dr. Okafor took over her "
    "patients."
)


@pytest.fixture(scope="module", params=["landmark-minilm", "landmark-light"])
def index(request: pytest.FixtureRequest) -> Iterator[milepost.Index]:
    with milepost.open(model=request.param) as made:
        made.add([Document("clinic", CLINIC)])
        yield made


@pytest.mark.parametrize(
    "claim",
    [
        "Children pay nothing even if they come alone.",
        "The first visit has always cost forty euros.",
    ],
)
def test_a_claim_that_shares_most_words_is_contradicted(index: milepost.Index, claim: str) -> None:
    """With every model: the light one has no reranker."""
    assert index.check(claim).verdict == "contradicted"


HARBOUR = (
    "The harbour froze in the winter of 1963. Boats lay in the ice for nine weeks, and fishermen "
    "walked to the islands. When the thaw came, two trawlers sank at their moorings. The mayor had "
    "the crews housed in the school until May."
)
BAND = (
    "Nobody in the band could read music. They learned every song by ear from records that a "
    "cousin sent from Detroit. Their first album sold four hundred copies. It was recorded in a "
    "garage in one afternoon."
)


def test_what_the_search_doubts_may_be_about_the_claim() -> None:
    claim = "Hardly anybody bought what they first released."
    with milepost.open(model="landmark-minilm") as index:
        index.add([Document("notes", f"{CLINIC} {HARBOUR} {BAND}")])
        doubted = index.check(claim, min_score=0.75)
        assert doubted.best_score < 0.75
        assert doubted.verdict == "related"
        assert "four hundred copies" in doubted.passages[0].text
        assert index.check(claim, min_score=0.9).verdict == "not found"


def test_what_nearly_answers_is_told_from_what_answers() -> None:
    with milepost.open() as index:
        index.add([Document("clinic", CLINIC)])
        for answered, near in (
            ("How much is a first visit?", "How much is a second visit?"),
            ("When is the clinic closed?", "When does the clinic open in the morning?"),
        ):
            found, other = (index.search_detailed(asked) for asked in (answered, near))
            assert found.answerable is not None
            assert other.answerable is not None
            assert found.answerable > max(0.5, other.answerable + 0.2)
        assert index.search("How much is a second visit?", min_score=0.5) == []


def test_one_passage_is_the_first_of_several() -> None:
    asked = "How much does a first visit cost?"
    with milepost.open(model="landmark-minilm") as index:
        index.add([Document("notes", f"{CLINIC} {HARBOUR} {BAND}")])
        one, several = (index.search_detailed(asked, k=k) for k in (1, 3))
        assert [each.best.text for each in one.passages] == [several.passages[0].best.text]
        assert one.answerable == several.answerable


def test_what_is_not_english_is_left_to_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    with milepost.open(model="landmark-minilm") as index:
        index.add([Document("bienen", next(t for (name, _), t in PAGES.items() if name == "de"))])
        asked = "Wie viele Eier legt die Königin am Tag?"
        judged = index.search_detailed(asked).answerable
        monkeypatch.setattr("milepost.index.facade.preload_judge", lambda _: None)
        assert index.search_detailed(asked).answerable == judged


def test_it_is_loaded_once_and_only_for_models_of_folders() -> None:
    model = milepost.load("landmark-minilm")
    assert judge_of(model) is judge_of(milepost.load("landmark-light"))
    assert preload_judge(milepost.load("landmark-light")) is None  # it says of no question
    assert preload_judge(fake_encoder()) is None
