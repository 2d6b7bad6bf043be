"""How indexes, passages and encoders look in a prompt and in a notebook."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

import milepost
from milepost.testing import fake_encoder, fake_index

NASTY = 'The <script>alert("x")</script> & co. build cells.\nThe queen lays the eggs.'


def tags(html: str) -> set[str]:
    open_tags: list[str] = []
    seen: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            seen.add(tag)
            if tag != "br":
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Reader().feed(html)
    assert not open_tags
    return seen


def test_a_passage_shows_its_answer() -> None:
    passage = fake_index({"<b>notes</b>": NASTY}).search("the queen lays", k=1, budget=200)[0]
    line = repr(passage)
    assert "The queen lays the eggs." in line
    assert f"{passage.score:.0%}" in line
    assert f"{passage.start}:{passage.end}" in line
    html = passage._repr_html_()
    assert tags(html) <= {"div", "b", "br"}
    assert ">The queen lays the eggs.</b>" in html
    assert "&lt;script&gt;" in html
    assert not re.search(r"color|background|https?:|url\(", html)  # the page's own, in any mode


def test_passages_compare_by_all_fields() -> None:
    """As before they had a line of their own."""
    first = fake_index({"a": NASTY}).search("queen", k=1)[0]
    again = fake_index({"a": NASTY}).search("queen", k=1)[0]
    assert first == again
    assert hash(first.text) == hash(again.text)
    assert first != replace(first, place="page 3")


def test_an_index_says_what_it_holds(tmp_path: Path) -> None:
    """Place, model and counts, without loading the model; closed ones too."""
    texts = {f"<{n}>": "One sentence. Two." for n in range(12)}
    with milepost.open(tmp_path / "db", model=fake_encoder()) as index:
        index.add([milepost.Document(*each) for each in texts.items()])
        line, html = repr(index), index._repr_html_()
        assert str(tmp_path / "db") in line
        assert "12 documents, 24 sentences" in line
        assert tags(html) <= {"div", "table", "tr", "td", "th"}
        assert "&lt;0&gt;" in html
        assert "and 2 more" in html
    assert "closed" in repr(index)
    assert tags(index._repr_html_()) == {"div"}
    lazy = milepost.open(model="landmark-light")
    assert "in memory, landmark-light: 0 documents" in repr(lazy)
    assert "model" not in vars(lazy)


def test_the_line_of_an_address_keeps_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown in notebooks that are shared."""
    from milepost.index import opening
    from milepost.store import open_store

    def memory(_: object, model: milepost.Encoder, **__: object) -> object:
        manifest = model.manifest
        made = open_store(None, fingerprint=manifest.fingerprint, dimensions=manifest.dimensions)
        return made, model

    monkeypatch.setattr(opening, "opened_store", memory)
    place = "postgresql://anna:secret@db.example.com/notes"
    line = repr(milepost.open(place, model=fake_encoder()))
    assert "postgresql://db.example.com/notes" in line
    assert "secret" not in line


def test_an_encoder_says_which_model_it_is() -> None:
    encoder = fake_encoder()
    line = repr(encoder)
    for part in (encoder.manifest.name, "32 dimensions", encoder.fingerprint):
        assert part in line
