"""What style sheets hide from the eye of a reader, and what they write, in web pages."""

import pytest

from milepost.documents import read_bytes

CLIPPED = "<style>.x:not(:focus){position:absolute;%s}</style>"
SMALL = "width:1px;height:1px;overflow:hidden"


@pytest.mark.parametrize(
    ("body", "wanted", "places"),
    [
        (CLIPPED % "clip:rect(0, 0, 0, 0)" + "Price <b class=x>was </b>$5<b class=x> (a link)</b> "
         "now", "Price $5 now", 2),
        (CLIPPED % "clip-path:inset(50%)" + "<a class=x>Skip to content</a><p>A", "A", 1),
        (CLIPPED % SMALL + "<script src=a.js></script><h2 class=x>no</h2>A", "A", 1),
        (CLIPPED % SMALL + "A <b class=x><math><mi>b</mi></math></b> c", "A b c", 0),
        (CLIPPED % SMALL + "<table><tr><td>A<td><u class=i></u><b class=x>Yes</b><tr><td>b<td>c"
         "</table>", "A | Yes b | c", 0),
        (CLIPPED % "clip:rect(0, 90px, 20px, 0)" + "<b class=x>A</b>", "A", 0),
        ("<p style='position:absolute;left:-9999px'>no<p>A", "A", 1),
        ("<style>.x{position:absolute;left:-999em}</style><script src=a.js></script><p class=x>A",
         "A", 0),
        ("<h1 style='text-indent:-9999px'>no</h1>A<p style='text-indent:-20px'>b", "A b", 1),
        ("The fee is <b style='opacity:0'>not </b>due.", "The fee is due.", 1),
        ("The fee is <b style='opacity:0;transition:opacity 1s'>not </b>due.",
         "The fee is not due.", 0),
        ("<div style='opacity:0'>A</div><p style='max-height:0;overflow:hidden'>b", "A b", 0),
        ("A<b style='display:inline-block;max-height:0;overflow:hidden'>no</b> b", "A b", 1),
        ("<p style='font-size:0'>no<b>no</b></p>A<p style='font-size:0'><u style='font-size:9px'>"
         "b", "A b", 1),
    ],
)  # fmt: skip
def test_words_that_nobody_sees(body: str, wanted: str, places: int) -> None:
    document = read_bytes(f"<!doctype html><body>{body}".encode(), "a.html")
    assert " ".join(document.text.split()) == wanted
    assert [note.split(" in ")[1][0] for note in document.notes] == [str(places)] * (places > 0)
