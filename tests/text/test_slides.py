"""PowerPoint files: order, titles, notes, tables, charts, damage."""

import pytest

from milepost.errors import UnreadableFile
from milepost.text import read_bytes
from support.office_writer import pptx, shape, slide_table


def test_slides_come_in_the_order_of_the_deck_with_titles_first() -> None:
    """The list of the deck decides; a title stands first whatever the order of the shapes."""
    data = pptx(
        [
            shape("Bees fly.", "They dance.") + shape("On bees", kind="title"),
            shape("The year of the bee", kind="ctrTitle"),
        ],
        order=[1, 0],
    )
    document = read_bytes(data, "bees.pptx")
    assert document.text == "The year of the bee\n\nOn bees\n\nBees fly.\nThey dance."
    assert [(m.kind, m.value, m.level) for m in document.marks] == [
        ("slide", "1", 0),
        ("heading", "The year of the bee", 1),
        ("slide", "2", 0),
        ("heading", "On bees", 2),
    ]
    at = document.text.index("They")
    assert (document.place(at), document.heading(at), document.page(at)) == (
        "slide 2",
        "On bees",
        None,
    )


def test_notes_and_tables_are_read_and_furniture_is_not() -> None:
    slide = (
        slide_table([["Cell", "Sides"], ["Honeycomb", "six"]])
        + shape("3", kind="sldNum")
        + shape("Company confidential", kind="ftr")
    )
    notes = shape("12", kind="sldNum") + shape("Tell the joke here.", kind="body")
    document = read_bytes(pptx([slide], notes={0: notes}), "a.pptx")
    assert document.text == "Cell | Sides\nHoneycomb | six\n\nTell the joke here."
    assert document.place(document.text.index("joke")) == "slide 1"


def test_charts_diagrams_and_groups_are_read() -> None:
    """A series of a chart is a row; of alternatives only the first is read."""
    chart = (
        '<c:chart xmlns:c="urn:c" xmlns:a="urn:a"><c:title><a:p><a:r><a:t>Sales</a:t></a:r></a:p>'
        "</c:title><c:ser><c:tx><c:v>North</c:v></c:tx><c:cat><c:v>Q1</c:v><c:v>Q2</c:v></c:cat>"
        "<c:val><c:v>10</c:v><c:v>12</c:v></c:val></c:ser></c:chart>"
    )
    shapes = (
        '<p:graphicFrame><a:graphic><c:chart r:id="rIdC"/></a:graphic></p:graphicFrame>'
        f"<p:grpSp><p:grpSp>{shape('Inside a group.')}</p:grpSp></p:grpSp>"
        f'<mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice>{shape("New form.")}</mc:Choice>'
        f"<mc:Fallback>{shape('Old form.')}</mc:Fallback></mc:AlternateContent>"
    )
    data = pptx(
        [shapes],
        links={0: {"rIdC": ("chart", "../charts/chart1.xml")}},
        parts={"ppt/charts/chart1.xml": chart},
    )
    text = read_bytes(data, "a.pptx").text
    assert text == "Sales\nNorth | Q1: 10 | Q2: 12\n\nInside a group.\n\nNew form."


def test_a_damaged_slide_is_reported_and_the_others_are_read() -> None:
    data = pptx(["<p:broken", shape("Second.")])
    document = read_bytes(data, "a.pptx")
    assert document.text == "Second."
    assert document.place(0) == "slide 2"
    assert document.notes[0].startswith("slide 1: a.pptx is damaged")
    with pytest.raises(UnreadableFile, match="no slide that can be read"):
        read_bytes(pptx(["<p:broken"]), "a.pptx")


def test_a_missing_chart_is_reported() -> None:
    frame = '<p:graphicFrame><c:chart r:id="rIdC"/></p:graphicFrame>'
    data = pptx([frame + shape("Words.")], links={0: {"rIdC": ("chart", "../charts/no.xml")}})
    document = read_bytes(data, "a.pptx")
    assert document.text == "Words."
    assert any("ppt/charts/no.xml is missing" in note for note in document.notes)


def test_a_deck_without_text_says_so() -> None:
    assert read_bytes(pptx([""]), "a.pptx").notes == ("no text in it",)
