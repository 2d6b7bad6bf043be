"""Arguments and options of an index, and how it shows itself."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selectolax.lexbor import LexborHTMLParser

import milepost
from milepost.errors import InputError
from milepost.exports.tables import read_questions, write_table
from milepost.exports.view import write_page
from milepost.index import Index
from milepost.store import open_store
from milepost.testing import fake_encoder, fake_index
from milepost.types import Document, ReadOptions
from support.files import write_files
from support.pdf_writer import PdfPage, write_pdf
from support.small_index import BEES


@pytest.fixture
def fees(tmp_path: Path) -> Path:
    """A PDF with a line that is seen under one that is not, and a text beside it."""
    page = PdfPage()
    page.operations.append("BT 3 Tr /F1 10 Tf 1 0 0 1 72 720 Tm (Badgers dig setts.) Tj ET")
    page.operations.append("BT 0 Tr /F1 10 Tf 1 0 0 1 72 700 Tm (The fee is five euros.) Tj ET")
    return write_files(tmp_path / "files", {"fees.pdf": write_pdf([page]), "bees.txt": BEES})


def text(index: Index, folder: Path) -> str:
    return index.document(folder / "fees.pdf").text


def test_another_way_of_reading_is_no_unchanged_file(index: Index, fees: Path) -> None:
    first = index.add(fees)
    assert (len(first.added), len(first.notes)) == (2, 1)
    assert "Badgers" not in text(index, fees)
    second = index.add(fees, hidden="keep")
    assert second.changed == (str(fees / "fees.pdf"),)
    assert second.unchanged == (str(fees / "bees.txt"),)
    assert "Badgers" in text(index, fees)
    assert {info.options for info in index.documents()} == {"hidden=keep"}
    third = index.add(fees, hidden="drop")
    assert third.changed == (str(fees / "fees.pdf"),)
    assert "Badgers" not in text(index, fees)


def test_without_an_option_a_file_is_read_as_before(index: Index, fees: Path) -> None:
    index.add(fees, hidden="keep")
    assert len(index.add(fees).unchanged) == 2
    os.utime(fees / "fees.pdf", ns=(1, 10**18))
    assert len(index.add(fees).unchanged) == 2
    assert "Badgers" in text(index, fees)
    (fees / "more.pdf").write_bytes((fees / "fees.pdf").read_bytes())
    index.add(fees)
    assert "Badgers" not in index.document(fees / "more.pdf").text


def test_boxes_of_a_stored_document_are_those_of_its_text(index: Index, fees: Path) -> None:
    """The file is read again in the way in which it was indexed, or every box would be off."""
    tops = []
    for hidden in ("drop", "keep"):
        index.add(fees, hidden=hidden)
        document = index.document(fees / "fees.pdf")
        at = document.text.index("five")
        (box,) = document.boxes(at, at + 4)
        tops.append(box.top)
    assert tops[0] == tops[1]


def test_a_wrong_word_is_refused_before_anything_is_read(index: Index, fees: Path) -> None:
    with pytest.raises(InputError, match="hidden is 'show'"):
        index.add(fees, hidden="show")  # type: ignore[arg-type]
    assert index.documents() == []


def test_options_are_written_and_read_back() -> None:
    assert str(ReadOptions()) == ""
    kept = ReadOptions(hidden="keep")
    assert ReadOptions.parse(str(kept)) == kept
    assert ReadOptions.parse("hidden=keep colour=blue") == kept
    assert kept.changed(hidden=None) == kept
    assert kept.changed(hidden="drop") == ReadOptions()


def one() -> Index:
    return fake_index({"bees": "Bees build cells of wax."})


@pytest.mark.parametrize("question", [[], None, 3, b"bees"])
def test_a_question_of_another_type_is_refused(question: Any) -> None:
    """``str([])`` would be looked for as the text ``[]``."""
    index = one()
    for ask in (index.search, index.search_detailed, index.check, index.model.encode_query):
        with pytest.raises(TypeError, match=rf"must be str\b.*, not {type(question).__name__}"):
            ask(question)
    with pytest.raises(TypeError, match=f"must hold str, not {type(question).__name__}"):
        index.search_many([question])
    with pytest.raises(TypeError, match="questions must be a list of str, not"):
        index.search_many("wax" if question is None else question or None)


ENCODER = fake_encoder()
REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str]] = [
    *((Index.search, ("wax",), {"k": k}, "k must be int") for k in ("3", 3.0, True, [3])),
    (Index.search, ("wax",), {"k": np.ones(1, int)}, "k must be int"),
    *((Index.search, ("wax",), {"budget": b}, "budget must be str or int") for b in (3.5, [], b"")),
    *(
        (Index.search, ("wax",), {"min_score": s}, "min_score must be a number")
        for s in ("0.2", None, [], True, np.str_("0.2"))
    ),
    *((Index.search, ("wax",), {"documents": d}, "documents must") for d in (3, b"bees", [3], {3})),
    (Index.search, ("wax",), {"where": 3}, "where must be str or Filter"),
    (Index.search, ("wax",), {"rerank": "no"}, "rerank must be bool"),
    (Index.add, (3,), {}, "sources must be str or path or Document"),
    (Index.add, (iter([3]),), {}, "sources must hold str or path"),
    (Index.add, ("x",), {"progress": 3}, "progress must be Callable"),
    (Index.remove, (3,), {}, "names must be str or path"),
    (Index.documents, (3,), {}, "names must be str or path or several of them, not int"),
    (Index.remove, ("x",), {"now": "yes"}, "now must be bool"),
    (Index.document, (None,), {}, "name must be str or path"),
    (Index.boxes, ("bees",), {}, "passage must be Passage"),
    (lambda _, **given: milepost.open(**given), (), {"place": 3}, "place must be str or path"),
    (lambda _, **given: milepost.open(**given), (), {"model": 3}, "model must be Encoder"),
    (lambda _, name: milepost.load(name), (3,), {}, "name must be str or path"),
    (lambda _, path: milepost.read(path), (3,), {}, "path must be str or path"),
    (lambda _, path: milepost.chunks(path), (3,), {}, "document must be Document or str or path"),
    (lambda _, *places: milepost.copy(*places), ("a", None), {}, "target must be str or path"),
    (lambda index, path: write_table(index, ["x"], path), (3,), {}, "path must be str or path"),
    (write_page, (3,), {}, "path must be str or path"),
    (lambda _, path: read_questions(path), (3,), {}, "path must be str or path"),
    (lambda _, text: ENCODER.encode(text), (3,), {}, "text must be str or Document"),
    (lambda _, texts: ENCODER.encode_texts(texts), ("ab",), {}, "texts must be a list of str"),
    (lambda _, texts: ENCODER.encode_queries(texts), ([3],), {}, "questions must hold str"),
    (lambda _, text: milepost.Query.parse(text, ENCODER), (None,), {}, "text must be str"),
    (lambda _, text: Document("a", text), (None,), {}, "text must be str"),
    *(
        (lambda _, of: Document("a", "b", properties=of), (of,), {}, "properties must be Mapping")
        for of in (3, None, "ab", ["a"])
    ),
]


@pytest.mark.parametrize(("call", "given", "named", "message"), REFUSED)
def test_arguments_of_another_type_name_the_right_one(
    call: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any], message: str
) -> None:
    """In one line, as a TypeError and as an error of Milepost's."""
    with pytest.raises(TypeError, match=message) as caught:
        call(one(), *given, **named)
    assert isinstance(caught.value, InputError)


def test_what_counts_as_a_number_or_a_name() -> None:
    index = one()
    assert index.search("wax", k=np.int64(1), min_score=np.float32(0.0), rerank=np.bool_(True))
    assert index.search("wax", documents=(name for name in ["bees"]))
    assert index.search("wax", documents=Path("bees"))
    assert index.documents(Path("bees")) == index.documents(iter(["bees", "gone"])) != []
    named = Document("p", "x", properties={"year": np.int64(2020), "tags": np.array(["a"])})
    assert named.properties == {"year": 2020.0, "tags": ("a",)}
    assert len(ENCODER.encode_queries(text for text in ["wax"])) == 1
    with pytest.raises(InputError, match="is not a length") as caught:
        index.search("wax", budget="9" * 5000)
    assert len(str(caught.value)) < 100
    assert index.search("wax", budget=10**5000)
    with pytest.raises(TypeError, match="unexpected keyword"):
        index.search("wax", top=3)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="a path is empty"):  # Python would read this folder
        index.add("")
    for spans in ([(0, 5), (3, 9)], [(0, 10)]):
        with pytest.raises(InputError, match="spans"):
            ENCODER.encode("One. Two.", spans=spans)


def test_results_are_compared_and_collected() -> None:
    index = one()
    found, again = (index.search_detailed("wax cells") for _ in range(2))
    assert found == again
    assert {*found.passages, *again.passages} == set(found.passages)
    assert milepost.Query.parse("wax", ENCODER) == milepost.Query.parse("wax", ENCODER)
    text = ENCODER.encode("Wax.")
    assert text in [ENCODER.encode("Wax."), text]


def test_a_property_too_large_for_a_number_is_refused() -> None:
    """An integer of 400 digits is no float."""
    with pytest.raises(InputError, match="the property 'a' is not a number, or too large"):
        fake_index({}).add(Document("p", "x y.", properties={"a": 10**400}))


NASTY = 'The <script>alert("x")</script> & co. build cells.\nThe queen lays the eggs.'


def tags(html: str) -> set[str]:
    body = LexborHTMLParser(html).body
    assert body
    return {node.tag for node in body.traverse()} - {"body", "tbody"}


def test_a_passage_shows_its_answer() -> None:
    index = fake_index({"<b>notes</b>\x1b\udcff": NASTY})
    passage = index.search("the queen lays", k=1, budget=200)[0]
    line = repr(passage)
    assert "The queen lays the eggs." in line
    assert f"{passage.score:.0%}" in line
    assert f"{passage.start}:{passage.end}" in line
    html = passage._repr_html_()
    assert b"\x1b" not in (line + html).encode()  # a terminal would obey it
    assert tags(html) <= {"div", "b", "br"}
    assert ">The queen lays the eggs.</b>" in html
    assert "&lt;script&gt;" in html
    assert not re.search(r"color|background|https?:|url\(", html)  # the page's own, in any mode


def test_an_index_says_what_it_holds(tmp_path: Path) -> None:
    texts = {f"<{n}>\udcff": "One sentence. Two." for n in range(12)}
    with milepost.open(tmp_path / "db", model=fake_encoder()) as index:
        index.add([milepost.Document(*each) for each in texts.items()])
        line, html = repr(index), index._repr_html_()
        assert str(tmp_path / "db") in line
        assert "12 documents, 24 sentences" in line
        assert tags(html) <= {"div", "table", "tr", "td", "th"}
        assert "&lt;0&gt;" in html
        assert b"and 2 more" in html.encode()
    assert "closed" in repr(index)
    assert tags(index._repr_html_()) == {"div"}
    lazy = milepost.open(model="landmark-light")
    assert "in memory, landmark-light: 0 documents" in repr(lazy)
    assert "model" not in vars(lazy)


def test_the_line_of_an_address_keeps_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown in notebooks that are shared."""
    about = ENCODER.manifest
    store = open_store(None, fingerprint=about.fingerprint, dimensions=about.dimensions)
    monkeypatch.setattr("milepost.index.opening.opened_store", lambda *_, **__: (store, ENCODER))
    line = repr(milepost.open("postgresql://anna:secret@db.example.com/notes", model=ENCODER))
    assert "postgresql://db.example.com/notes" in line
    assert "secret" not in line
