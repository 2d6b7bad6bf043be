"""Web pages: notes, numbers of lists, what a browser sets apart or strikes out."""

import pytest

from milepost.text import read_bytes
from support.office_writer import zipped


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<ol start=3><li>Boil<li>Pour</ol>", "3. Boil\n4. Pour"),
        ("<ol type=a reversed><li>one<li>two</ol>", "b. one\na. two"),
        ("<ol><li>x<ul><li>y</ul><li value=7>z</ol>", "1. x\n- y\n7. z"),
        ("<p>It costs <del>9</del> <ins>8</ins> euros.", "It costs 8 euros."),
        ("<p>It is <span style='text-decoration: line-through'>so</span> here.", "It is here."),
        ("<p>He said <q>we <q>go</q></q>.", "He said “we ‘go’”."),
        ("<span style='display:block'>a</span><span style='display:block'>b</span>", "a\n\nb"),
        ("<x-row>First</x-row><x-row>Second</x-row>", "First\n\nSecond"),
        ("<a href=1>Home</a><a href=2>Shop</a>", "Home Shop"),
        ("<p><math><msup><mi>x</mi><mn>2</mn></msup></math> and x", "x^2 and x"),
    ],
)
def test_inline_and_lists(body: str, wanted: str) -> None:
    assert read_bytes(f"<html><body>{body}</body></html>".encode(), "a.html").text == wanted


def test_notes_inside_the_main_part() -> None:
    """Footnotes, boxes and sources of quotations are kept; menus and forms are not."""
    page = (
        "<html><body><main><p>A long text about wells, their depth and their water.</p>"
        "<aside class=note><p>Forty metres.</p></aside>"
        "<blockquote>Water is life.<footer>A saying</footer></blockquote>"
        "<aside><a href=1>Other pages</a></aside><aside><form>Subscribe</form></aside></main>"
        "<footer>Imprint</footer></body></html>"
    )
    text = read_bytes(page.encode(), "a.html").text
    assert "Forty metres." in text
    assert "A saying" in text
    assert not any(words in text for words in ("Other pages", "Subscribe", "Imprint"))


def test_notes_of_what_is_not_read() -> None:
    """A page without text says so; a book has one note for what all its chapters strike out."""
    assert read_bytes(b"<html><body></body></html>", "a.html").notes == ("no text in it",)
    chapters = {f"{n}.xhtml": f"<html><p>Part {n} <del>old</del></p></html>" for n in (1, 2)}
    items = "".join(f"<item id='{n}' href='{n}' media-type='text/html'/>" for n in chapters)
    order = "".join(f"<itemref idref='{n}'/>" for n in chapters)
    book = f"<package><manifest>{items}</manifest><spine>{order}</spine></package>"
    document = read_bytes(zipped({"b.opf": book, **chapters}), "a.epub")
    assert document.notes == ("struck-out text in 2 places was left out",)
