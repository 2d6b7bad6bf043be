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


DOCS = (  # as Google Docs saves a list
    "<style>ol{list-style-type:none} ol.a.start{counter-reset:c-0 0} .a>li{counter-increment:c-0} "
    ".a>li:before{content:'' counter(c-0,decimal) '. '} ol.b.start{counter-reset:c-1 0} "
    ".b>li{counter-increment:c-1} .b>li:before{content:'(' counter(c-1,lower-latin) ') '}</style>"
)


@pytest.mark.parametrize(
    ("sheet", "body", "wanted"),
    [
        ("b::after{content:'%'} i:before{content:'-'}", "Up <b>12</b>, <i>3</i>", "Up 12%, -3"),
        ("td.x:after{content:\"\\20 (Draft; \\41)\"}",
         "<table><tr><td>a<td>b<tr><td class=x>c<td>d", "a | b c (Draft; A) | d"),
        ("b:before{content:'\\2192 '} i:after{content:'\\f101'} li:before{content:'\\2013'} "
         "u:before{content:'e'} p:before{content:'+'}",
         "<b>A</b><i> b</i><u></u><ul><li>c</ul><p>d", "A b - c d"),
        ("b:after{content:attr(title) '%'} i:after{content:'.';visibility:hidden}", "<b>A</b><i>b",
         "Ab"),
        ("b:after{content:'no'} @media print{i:after{content:'no'}} b:after{content:none}",
         "<b>A</b><i>b</i>", "Ab"),
        ("b:before{content:'New';display:block} i:after{content:'old';position:absolute}",
         "<p><b>A</b><p><i>b</i>", "New A b old"),
        ("h2{counter-increment:s} h2:before{content:'Part ' counter(s, upper-roman) ': '}",
         "<h2>A</h2><div><h2>b</h2></div>", "Part I: A Part II: b"),
        ("ol{counter-reset:i;list-style:none} li:before{counter-increment:i;content:counters(i,'.')"
         "' '}", "<ol><li>A<ol><li>b<li>c</ol><li>d</ol><ol><li>e</ol>",
         "1 A 1.1 b 1.2 c 2 d 1 e"),
        ("", f"{DOCS}<ol class='a start'><li>A</ol><ol class='b start'><li>b<li>c</ol>"
         "<ol class=a start=2><li>d</ol>", "1. A (a) b (b) c 2. d"),
    ],
)  # fmt: skip
def test_words_that_style_sheets_write(sheet: str, body: str, wanted: str) -> None:
    page = f"<!doctype html><style>{sheet}</style><body>{body}"
    assert " ".join(read_bytes(page.encode(), "a.html").text.split()) == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [(("The ", "Inter", "national ", "fox."), "The International fox."), (("A", "b"), "A b")],
)
def test_words_placed_one_by_one(words: tuple[str, ...], wanted: str) -> None:
    spans = "".join(
        f"<span style='position:absolute;top:0;left:9px'>{each}</span>" for each in words
    )
    assert read_bytes(f"<html><body><p>{spans}</p>".encode(), "a.html").text == wanted
