"""Claims beside sentences that say something only together: lists, questions and answers."""

import pytest

from milepost.testing import fake_index
from milepost.verdicts import CheckResult


def assert_in_place(found: CheckResult, text: str) -> None:
    """What places and differences show stands there in the text."""
    for place in found.places:
        assert text[place.start : place.end] == place.text
        for each in place.differences:
            assert text[each.start : each.end] == each.text


RULES = """House rules

Guests may use the kitchen.

The following are not allowed in the rooms:

- smoking, also of electronic cigarettes
- candles and open fire
- dogs and cats

Members do not have to:
1. pay for parking
2. register their guests

The committee only pays for:
(a) repairs of the roof in 2024
(b) insurance
"""


@pytest.mark.parametrize(
    ("claim", "verdict", "item"),
    [
        ("Dogs and cats are not allowed in the rooms.", "supported", "- dogs and cats"),
        ("Dogs and cats are allowed in the rooms.", "contradicted", "- dogs and cats"),
        ("Members have to register their guests.", "contradicted", "2. register their guests"),
        ("The committee pays for repairs of the roof in 2019.", "contradicted", "2024"),
        ("The committee pays for candles.", "related", ""),
    ],
)
def test_items_are_read_with_what_is_in_front_of_them(claim: str, verdict: str, item: str) -> None:
    found = fake_index({"d": RULES}).check(claim, min_score=0.0)
    assert found.verdict == verdict
    assert all(place.text.rstrip().endswith(item) for place in found.places)
    assert_in_place(found, RULES)


INNER = """The following are not allowed in the rooms:

- pets:
  - dogs
  - cats with a collar
- smoking in:
  1. the halls of the guests
- parties until late

Every room has one of these:

- pets:
- birds in a cage
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Dogs as pets are not allowed in the rooms.", "supported"),
        ("Dogs as pets are allowed in the rooms.", "contradicted"),
        ("Cats with a collar are allowed in the rooms.", "contradicted"),
        ("Smoking in the halls of the guests is allowed.", "contradicted"),
        ("Parties until late are allowed in the rooms.", "contradicted"),
        ("Every room has birds in a cage.", "related"),
    ],
)
def test_items_of_inner_lists(claim: str, verdict: str) -> None:
    found = fake_index({"d": INNER}).check(claim, min_score=0.0)
    assert found.verdict == verdict
    assert_in_place(found, INNER)


def test_the_list_of_a_long_text() -> None:
    """The passage that is found may begin behind the beginning of the list."""
    items = [f"- the old grey thing of number {n}, which nobody asks for" for n in range(12)]
    filler = [f"Bee {n} flies to the next field of flowers and returns." for n in range(60)]
    listed = "\n".join(["The store does not sell:", *items, "- fresh honey of the heather"])
    text = "\n\n".join([*filler[:30], listed, *filler[30:]])
    found = fake_index({"d": text}).check("The store sells fresh honey of the heather.")
    assert found.verdict == "contradicted"
    assert found.places[0].text.startswith("The store does not sell:")


def test_a_list_without_a_sentence_in_front() -> None:
    text = "The store does not sell wine.\n\n- fresh honey of the heather\n- wax candles\n"
    found = fake_index({"d": text}).check("The store sells fresh honey of the heather.")
    assert found.verdict != "contradicted"


def test_another_item_denies_nothing() -> None:
    text = "Members of the board are:\n- Anna Berg of Oslo\n- Carl Dahl of Bergen\n"
    index = fake_index({"d": text})
    assert index.check("Carl Dahl of Bergen is a member of the board.").verdict == "supported"
    assert index.check("Eva Falk of Bergen is a member of the board.").verdict != "contradicted"


QUESTIONS = """## Are dogs allowed in the rooms?

No, only guide dogs may stay.

**Q: Can I pay in cash at the desk?**
A: No, we only take cards.

Does the hotel have a swimming pool? Unfortunately not.
Is breakfast included in the price? Yes, for all guests.

What is the fee for a boat? 50 euros.

Who built the bridge? Anna Berg of Oslo.

Does the town have a theatre? Nobody has told us.
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Dogs are allowed in the rooms.", "contradicted"),
        ("Dogs are not allowed in the rooms.", "supported"),
        ("You can pay in cash at the desk.", "contradicted"),
        ("The hotel has a swimming pool.", "contradicted"),
        ("The hotel does not have a swimming pool.", "supported"),
        ("Breakfast is included in the price.", "supported"),
        ("Breakfast is not included in the price.", "contradicted"),
        ("The fee for a boat is 50 euros.", "supported"),
        ("The fee for a boat is 60 euros.", "contradicted"),
        ("Anna Berg built the bridge.", "supported"),
        ("The town has a theatre.", "related"),
        ("The town does not have a theatre.", "related"),
    ],
)
def test_questions_are_read_with_their_answers(claim: str, verdict: str) -> None:
    found = fake_index({"d": QUESTIONS}).check(claim, min_score=0.0)
    assert found.verdict == verdict
    assert_in_place(found, QUESTIONS)
