"""Which rows name the columns of a table, and down to which row they do."""

import pytest

from milepost.documents import read_bytes
from support.office_writer import SHEET, relations, with_parts, xlsx

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
        (",,Count,Euro\nBolt,,2,5\n\nMetals\n,Bar,4,7", "Bar | Count: 4 | Euro: 7"),
        (f"{STOCK}Contact,see page,none", "Contact | see page | none"),
        # Names of one value each name no columns.
        ("Client,Acme\nDate,2024-01-01\nAmount,300", "Amount | 300"),
        ("Invoice,INV-77\nCustomer,Acme Ltd\nContact,Ann Lee\nTotal,300", "Total | 300"),
        ("Item,Price\nBolt,5\nNut,6\nGear,on request", "Item: Gear | Price: on request"),
        ("Test,Result\nHeat,passed\nCold,passed\nWet,95", "Test: Wet | Result: 95"),
        ("Event,Date\nBirth,1915-12-10\nPrize,1942", "Event: Prize | Date: 1942"),
        # Questions and dates may be names above other cells.
        (
            "Time,How often do you use it?\n9:00,Daily",
            "Time: 9:00 | How often do you use it?: Daily",
        ),
        ("Is it all safe now?,Yes\nIs it all legal here?,No", "Is it all legal here? | No"),
        ("No,Do you know how?\n1,Who will do it then?", "1 | Who will do it then?"),
        (
            "Region,2024-01-31,29/02/2024\nNorth,5,6",
            "Region: North | 2024-01-31: 5 | 29/02/2024: 6",
        ),
        (",Jan-24,Feb-24\nNorth,5,6", "North | Jan-24: 5 | Feb-24: 6"),
        ("Ann,2024-01-31,Rome\nBob,2024-02-29,Oslo", "Bob | 2024-02-29 | Oslo"),
        # Long words and sentences are names above amounts, or above far shorter words.
        (
            f"State,{'Share of drivers ' * 5},Age\nOhio,39,30\nIowa,41,25",
            f"State: Iowa | {'Share of drivers ' * 5}".rstrip() + ": 41 | Age: 25",
        ),
        (
            "Issue,I do not think so.,Men\nJobs,5%,6%",
            "Issue: Jobs | I do not think so.: 5% | Men: 6%",
        ),
        (
            "Team,List all of your members.\nRed,Ann\nBlue,Bob",
            "Team: Blue | List all of your members.: Bob",
        ),
        (
            "Ann,She has paid all of it.\nBob,He has not paid it yet.",
            "Bob | He has not paid it yet.",
        ),
        # Names may leave some columns without one, or stand twice in tables side by side.
        (
            "Day,Held,Found,,,,Best\nMay,5,6,7%,8%,9,\nJune,6,7,8%,9%,1,2",
            "Day: June | Held: 6 | Found: 7 | 8% | 9% | 1 | Best: 2",
        ),
        (
            "Use,Pin,No,No,Pin,Use\n-,5V,1,2,GND,-\nA,LCD,5,6,SDA,B",
            "Use: A | Pin: LCD | No: 5 | No: 6 | Pin: SDA | Use: B",
        ),
        ("yes,no,yes,no\nno,no,yes,no", "no | no | yes | no"),
        # Notes and marks of a check above the names are none.
        ("Draft,,\n,,\n,Choose any,\n,,\nRef,Size,Make\nU1,5,TI", "Ref: U1 | Size: 5 | Make: TI"),
        (",Check,,TRUE,TRUE\n,,,,\nIn N,,Unit,Y1A,Y2A\n,,,,\n,Cost,,7,8", "Cost | Y1A: 7 | Y2A: 8"),
        # Names may be alike beside two above figures; a value behind a name is none.
        ("Paid,Cur,Left,Cur\n5,EUR,6,EUR\n7,EUR,8,USD", "Paid: 7 | Cur: EUR | Left: 8 | Cur: USD"),
        ("cup,cup,cup\nwon,3,4\nlost,5,6", "lost | 5 | 6"),
        ("Bank,As of: 05.01.2026\nIBAN,7\nBIC,8", "BIC | 8"),
        # Lines about an account have cells of their own, as has the table below them.
        (
            '"At"\n"IBAN";"7"\n"BIC";"8"\n"Tax";"9"\n"Saldo";"1.234,5";"EUR"',
            "Saldo | 1.234,5 | EUR",
        ),
        ("Konto;DE1\nSaldo;1,5;EUR\nStand;05.01.2026", "Stand | 05.01.2026"),
        (
            "Konto;1\nSaldo;1,5;EUR\nVon;May\n\nAm;Art;An;Wert\n1.2.;Tee;A;-4,3\n2.2.;Lohn;B;2,1",
            "Am: 2.2. | Art: Lohn | An: B | Wert: 2,1",
        ),
        # Sentences that explain several tables stand above their names.
        (
            "Work,,Cost,\nHow long you work each day.,,What you pay once for it.,\n"
            "Task,Hours,Machine,Price\nWash,5,Mill,70\nSort,6,Press,90",
            "Task: Sort | Hours: 6 | Machine: Press | Price: 90",
        ),
        # One column may have no name, beside three that have one.
        ("On,In,Out,\nMon,5,6,low\nTue,6,9,high", "On: Tue | In: 6 | Out: 9 | high"),
        ("Ann,Rome,,baker\nBob,Oslo,34,smith", "Bob | Oslo | 34 | smith"),
        # So may the steps of a count.
        (",May '25,Jun '25,All\nNorth,5,6,11", "North | May '25: 5 | Jun '25: 6 | All: 11"),
        ("Who,Day 1,Day 7,Day 9\nAnn,in,out,in", "Who: Ann | Day 1: in | Day 7: out | Day 9: in"),
        ("City,<18,18-64,65+\nRome,5,6,7", "City: Rome | <18: 5 | 18-64: 6 | 65+: 7"),
        ("Item,5 kg,10 kg\nSalt,5,6\nRice,9,10", "Item: Rice | 5 kg: 9 | 10 kg: 10"),
        (
            "Item,2024A,,2025E,\n,Plan,Real,Plan,Real\nSalt,1,2,3,4",
            "Item: Salt | 2024A Plan: 1 | 2024A Real: 2 | 2025E Plan: 3 | 2025E Real: 4",
        ),
        ("Salt,5 kg,10 kg\nRice,9 kg,10", "Rice | 9 kg | 10"),  # steps in rows below, too
        ("Ann,3-1,2-0\nBob,4,1", "Bob | 4 | 1"),  # without order
        ("Ann,Jan 2025,May 2025\nBob,tbd,none", "Bob | tbd | none"),
        ("Size,18 cm,Weight,80 cm\nRooms,3,Age,20", "Rooms | 3 | Age | 20"),
    ],
)
def test_cells_have_the_names_of_their_own_table(rows: str, last: str) -> None:
    assert read_bytes(rows.encode(), "a.csv").text.split("\n")[-1] == last


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("<tr><th colspan=2>Acme<tr><th>Founded<td>1998 in Rome", []),
        ("<tr><th>Fact<th>Value", ["Fact | Value"]),
        ("<tr><td>Fact<td>Value", ["Fact | Value"]),
    ],
)
def test_rows_that_begin_with_a_header_in_html(head: str, names: list[str]) -> None:
    data = f"<table>{head}<tr><th>Industry<td>Tools<tr><th>Founder<td>Ann Lee</table>"
    document = read_bytes(data.encode(), "a.html")
    assert [mark.value for mark in document.marks if mark.kind == "columns"] == names


def test_cells_may_hold_headings_only_in_a_table_that_names_its_columns() -> None:
    names = "<table><tr><th>Name<th>Type<td>Note<tr>"
    row = "<td><h4>Level</h4><p>Of access.<td>number<td><p>1<p>to<p>4"
    document = read_bytes(f"{names}{row}</table>".encode(), "a.html")
    assert document.text == "Name | Type | Note\nLevel Of access. | number | 1 to 4"
    for outer in (f"<table><tr>{row}", f"<table><tr>{row}<tr><td><p>1<p>2<p>3{names}</table>"):
        document = read_bytes(f"{outer}</table>".encode(), "a.html")
        assert document.text.startswith("Level\n\nOf access.\n\nnumber\n\n1\n\nto\n\n4")
        assert [mark.value for mark in document.marks][:1] == ["Level"]


@pytest.mark.parametrize(
    ("said", "names"),
    [("", []), (r"\trhdr", ["Kind of thing that we sell in the shops. | price 3"])],
)
def test_rows_that_a_rich_text_says_to_be_headers(said: str, names: list[str]) -> None:
    row = r"\trowd%s\cellx1000\cellx2000\intbl %s\cell %s\cell\row"
    rows = row % (said, "Kind of thing that we sell in the shops.", "price 3")
    rows += row % ("", "Sales", "big") + row % ("", "Cost", "small")
    document = read_bytes(rf"{{\rtf1 {rows}\pard\par}}".encode(), "a.rtf")
    assert [mark.value for mark in document.marks if mark.kind == "columns"] == names


@pytest.mark.parametrize(
    ("said", "last"),
    [
        ("ref='A2:B4'", "Size: Nut | 10: 6"),
        ("ref='A2:B4' headerRowCount='0'", "as of: Nut | May: 6"),
        ("ref='A4:B4'", "as of: Nut | May: 6"),  # without rows
    ],
)
def test_tables_of_a_workbook_say_what_names_columns(said: str, last: str) -> None:
    made = xlsx({"S": [["as of", "May"], ["Size", "10"], ["Bolt", "5"], ["Nut", "6"]]})
    parts = {
        "xl/tables/table1.xml": f"<table xmlns='{SHEET}' {said}/>",
        "xl/worksheets/_rels/sheet1.xml.rels": relations({"r1": ("table", "../tables/table1.xml")}),
    }
    assert read_bytes(with_parts(made, parts), "a.xlsx").text.split("\n")[-1] == last
