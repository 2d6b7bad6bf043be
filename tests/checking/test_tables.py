"""Claims about the rows of a table."""

from pathlib import Path

import pytest

from milepost.checking.claims import judge
from milepost.testing import fake_index
from milepost.types import Hit, Passage, Table, TableRow


def table(columns: str, *lines: str) -> Passage:
    """A passage of whole rows, whose cells are between bars, the first of them its best."""
    text = "\n".join(lines)
    spans = [(text.index(line), text.index(line) + len(line)) for line in lines]
    rows = [TableRow(*span, tuple(map(str.strip, text[slice(*span)].split("|")))) for span in spans]
    names = tuple(map(str.strip, columns.split("|"))) if columns else ()
    hits = [Hit(start, end, 0.5, 0.0, {}, text[start:end]) for start, end in spans]
    held = Table(None, names, tuple(rows))
    return Passage(text, "d", None, 0, len(text), 0.5, tuple(hits), None, None, None, held)


VANS = table(
    "Vehicle | 2024 litres | 2025 litres | Weight (kg)",
    "Bus | 3,000 | 2,900 | 11,000",
    "Van | 1,200 | 1,100 | 2,100",
)
ACCOUNTS = table("Account | Movement | Closing", "Bank | (250.00) | 750", "Loan | $(40) | 900")
ACCESS = table("User | Payroll | Archive", "Ann | x | ", "Bob | no | yes", "Eve | yes | ")
SHIFTS = table("Day | Kitchen | Garden", "Monday | Kim | Max", "Tuesday | Max | Lee")
CODES = table("Region | p95 | p99", "EU | 40 | 95", "US | 31 | 70")
SALES = table("In millions | 2022 | 2021", "Net sales | $ 14,189 | $ 14,082", "Costs | 96 | 85")
YEN = table(" | Thousands of yen 2022 | Thousands of U.S. dollars 2022", "Sales | 9,100 | 70")
COSTS = table(
    " | Note | 2022 £’000 | 2021 £’000",
    "Purchases | 4 | (460) | (537)",
    "Rent | | -20 | -22",
    "Profit | | (12) | (15)",
)
STEPS = table("Step | Colour", "-5 | red", "5 | blue")
ORDERS = table("Order | Paid", "000124 | 50", "000125 | 60")
BUDGETS = table(
    "Function | Forecast 2018/19 | Budget year 2019/20 | Budget year 2020/21",
    "Halls | 15,500 | 5,500 | 6,000",
    "Parks | 2,200 | 2,600 | 2,900",
)


@pytest.mark.parametrize(
    ("passage", "claim", "verdict"),
    [
        (VANS, "In 2025 the van had 1,100 litres.", "supported"),
        (VANS, "In 2025 the van had 2,900 litres.", "contradicted"),
        (VANS, "In 2024 the van had 1,100 litres.", "contradicted"),
        (VANS, "The weight of the bus is 11,000 kg.", "supported"),
        (VANS, "The weight of the van is 11,000 kg.", "contradicted"),
        (VANS, "The weight of the bus is 11 tonnes.", "supported"),
        (ACCOUNTS, "The bank movement was -250.", "supported"),
        (ACCOUNTS, "The bank movement was 250.", "contradicted"),
        (ACCOUNTS, "The loan movement was -$40.", "supported"),
        (ACCOUNTS, "The bank closing was 900.", "contradicted"),
        (ACCESS, "Ann has payroll.", "supported"),
        (ACCESS, "Ann has archive.", "related"),
        (ACCESS, "Bob has payroll.", "related"),
        (SHIFTS, "On Monday the garden had Max.", "supported"),
        (SHIFTS, "Max was in the garden on Tuesday.", "related"),
        (SHIFTS, "Lee was in the garden on Monday.", "contradicted"),
        (CODES, "The p95 of the EU is 40.", "supported"),
        (CODES, "The p99 of the US is 95.", "contradicted"),
        (SALES, "Net sales in 2022 were $14,189 million.", "supported"),
        (SALES, "Net sales in 2022 were $14.2 billion.", "supported"),
        (SALES, "Net sales in 2022 were 14,189.", "related"),
        (SALES, "Net sales in 2022 were $14,082 million.", "contradicted"),
        (SALES, "Costs in 2021 were $85 million.", "supported"),
        (SALES, "Costs in 2021 were $85 thousand.", "contradicted"),
        (SALES, "Costs were $97 million.", "related"),
        (YEN, "Sales were 9.1 million yen in 2022.", "supported"),
        (YEN, "Sales were 7.1 million yen in 2022.", "contradicted"),
        (COSTS, "Purchases were £0.46 million in 2022.", "supported"),
        (COSTS, "Purchases were £537,000 in 2022.", "contradicted"),
        (COSTS, "Rent was £20,000 in 2022.", "supported"),
        (COSTS, "Profit was £12,000 in 2022.", "contradicted"),
        (BUDGETS, "Parks have a budget of 2,600 for 2019/20.", "supported"),
        (BUDGETS, "Parks have a budget of 2,900 for 2019/20.", "related"),
        (BUDGETS, "Parks have 2,600 in the budget year 2020-21.", "contradicted"),
        (BUDGETS, "Halls have a forecast of 15,500 for 2018/19.", "supported"),
        (BUDGETS, "Halls have a forecast of 5,500 for 2018/19.", "contradicted"),
        (STEPS, "Step -5 has the colour red.", "supported"),
        (STEPS, "Step 5 has the colour red.", "related"),
        (ORDERS, "Order 000125 paid 60.", "supported"),
        (ORDERS, "Order 000124 paid 60.", "contradicted"),
        (ORDERS, "Order 000124 was not paid 50.", "contradicted"),
        (ORDERS, "Paid: order 000124, 1,000.", "contradicted"),
    ],
)
def test_a_number_belongs_to_its_row_and_column(passage, claim, verdict):
    assert judge(claim, [passage]).verdict == verdict


def test_what_differs_is_shown_in_the_row():
    given, found = "the van had 2,900 litres in 2025", "Van | 1,200 | 1,100 | 2,100"
    judged = judge(given, [VANS])
    assert judged.sentence.text == found
    [one] = judged.sentence.differences
    assert (one.given, one.text, one.kind) == ("2,900 litres", "1,100", "number")
    assert VANS.text[one.start : one.end] == "1,100"


def test_the_row_that_decides_is_named(tmp_path: Path):
    path = tmp_path / "vans.csv"
    path.write_text("Vehicle,Litres,Drivers\nBus,3000,7\nVan,1200,2\n", encoding="utf-8")
    index = fake_index({})
    index.add(path)
    denied = index.check("The van had 2 drivers and 3000 litres.")
    [place] = denied.places
    assert (denied.verdict, place.place) == ("contradicted", "row 3")
