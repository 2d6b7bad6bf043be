"""A claim in the words of the text that it is judged by."""

import pytest

from milepost.checking.claims import as_written


@pytest.mark.parametrize(
    ("claim", "sentence", "written"),
    [
        ("It held 1,200,000 litres.", "It held 1.2 million litres.", "It held 1.2 million litres."),
        ("It is 2,500 metres long.", "The road has 2.5 km.", "It is 2.5 km long."),
        ("On March 3, 2021 it rained.", "Rain fell on 3 March 2021.", "On 3 March 2021 it rained."),
        ("Half of it was sold.", "They sold 50 % of it.", "50 % of it was sold."),
        ("It held 1,300,000 litres.", "It held 1.2 million litres.", "It held 1,300,000 litres."),
        ("At least 30 came.", "Thirty came.", "Thirty came."),
        ("Over 30 came.", "Of these 35 came.", "35 came."),
        ("About 1.2 million came.", "Of these 1,187,345 came.", "1,187,345 came."),
        ("Over 30 came.", "Of 40 invited, 12 came.", "Over 30 came."),
        ("Over 30 came.", "More than 35 came.", "Over 30 came."),
        ("It is smaller than 2 MB.", "It has 870 kB.", "It is 870 kB."),
        ("It shut prior to 1990.", "It shut in May 1985.", "It shut in May 1985."),
        ("It shut before 1990.", "Built in 1995, it shut in 1985.", "It shut before 1990."),
        ("It came in 2021.", "It came on 3 March 2021.", "It came in 2021."),
        ("12 men, 12 dogs.", "Twelve men, twelve dogs.", "Twelve men, twelve dogs."),
        ("It is closed today.", "It isn't open today.", "It is not open today."),
    ],
)
def test_a_claim_with_its_numbers_as_a_text_writes_them(
    claim: str, sentence: str, written: str
) -> None:
    assert as_written(claim, ["It was long ago.", sentence]) == written
