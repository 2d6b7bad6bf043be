"""Which rows name the columns of a table, and down to which row they do."""

import pytest

from milepost.documents import read_bytes

STAFF = "Name,Unit\nAnn,Sales\nBob,IT\n\n"
STOCK = "Item,Count,Euro\nBolt,2,5\nNut,1,6\n\n"


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        # Another table below an empty row has no names of the one above; what goes on has.
        (f"{STAFF}Country,Capital\nChad,N'Djamena", "Chad | N'Djamena"),
        (f"{STAFF}Rates\nInflation,2%", "Inflation | 2%"),
        (f"{STAFF}Owner,Role,Phone\nAnn,Author,none", "Ann | Author | none"),
        (f"{STAFF}Cat,HR\nDan,Sales", "Name: Dan | Unit: Sales"),  # a word that recurs
        (f"{STAFF}Name,Unit\nCat,HR", "Name: Cat | Unit: HR"),
        (f"{STOCK}Total,,11", "Item: Total | Euro: 11"),
        (f"{STOCK}Metals\nBar,4,n/a", "Item: Bar | Count: 4 | Euro: n/a"),
        (f"{STOCK}Contact,see page,none", "Contact | see page | none"),
    ],
)
def test_cells_have_the_names_of_their_own_table(rows: str, last: str) -> None:
    assert read_bytes(rows.encode(), "a.csv").text.split("\n")[-1] == last
