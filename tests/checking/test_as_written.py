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
        ("At least 30 came.", "Thirty came.", "At least 30 came."),
        ("It came in 2021.", "It came on 3 March 2021.", "It came in 2021."),
        ("12 men, 12 dogs.", "Twelve men, twelve dogs.", "Twelve men, twelve dogs."),
        ("It is closed today.", "It isn't open today.", "It is not open today."),
    ],
)
def test_a_claim_with_its_numbers_as_a_text_writes_them(
    claim: str, sentence: str, written: str
) -> None:
    assert as_written(claim, ["It was long ago.", sentence]) == written
