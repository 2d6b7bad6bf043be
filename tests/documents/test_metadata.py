"""Properties of documents: of files, of sidecars, in YAML."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.documents import files, plain_yaml, read, read_bytes
from milepost.documents.sidecar import described, sidecar
from milepost.properties import Value
from support.office_writer import epub, opendocument, pptx, shape, with_parts, word, xlsx
from support.pdf_writer import pdf_of

DC = "http://purl.org/dc/elements/1.1/"
CORE = (
    f'<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="{DC}" xmlns:dcterms="urn:dcterms">'
    "<dc:title>Bees &amp; wax</dc:title><dc:creator>Ann Lee; Bo Chen</dc:creator>"
    "<dcterms:created>2020-03-01T12:00:00Z</dcterms:created><dc:language>en-GB</dc:language>"
    "<cp:keywords>bees, wax;cells</cp:keywords><dc:subject>Biology</dc:subject>"
    "</cp:coreProperties>"
)
CUSTOM = (
    '<Properties xmlns:vt="urn:vt"><property name="Project Name"><vt:lpwstr>Hive</vt:lpwstr>'
    '</property><property name="Final"><vt:bool>true</vt:bool></property>'
    '<property name="Version"><vt:i4>3</vt:i4></property>'
    '<property name="MSIP_Label_7f_Name"><vt:lpwstr>Internal</vt:lpwstr></property></Properties>'
)
OFFICE = {
    "title": "Bees & wax",
    "author": ("Ann Lee", "Bo Chen"),
    "date": "2020-03-01",
    "language": "en-GB",
    "keywords": ("bees", "wax", "cells"),
    "subject": "Biology",
    "project_name": "Hive",
    "final": True,
    "version": 3.0,
}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("deck.pptx", pptx([shape("Words")])),
        ("book.xlsx", xlsx({"S": [["a", 1]]})),
        ("letter.docx", word("<w:p><w:r><w:t>Words.</w:t></w:r></w:p>")),
    ],
)
def test_office_files(name: str, data: bytes) -> None:
    held = with_parts(data, {"docProps/core.xml": CORE, "docProps/custom.xml": CUSTOM})
    assert read_bytes(held, name).properties == OFFICE
    assert read_bytes(data, name).properties == {}
    broken = with_parts(data, {"docProps/core.xml": "<x", "docProps/custom.xml": "<!ENTITY a>"})
    document = read_bytes(broken, name)
    assert (document.properties, document.notes) == ({}, ())


def test_opendocument_files() -> None:
    meta = (
        f'<office:document-meta xmlns:office="o" xmlns:meta="m" xmlns:dc="{DC}"><office:meta>'
        "<dc:title>Bees</dc:title><meta:initial-creator>Ann Lee</meta:initial-creator>"
        "<dc:creator>Bo</dc:creator><meta:creation-date>2020-03-01T10:00:00</meta:creation-date>"
        "<dc:date>2024-01-01</dc:date><meta:keyword>a</meta:keyword><meta:keyword>b</meta:keyword>"
        '<meta:user-defined meta:name="Project">Hive</meta:user-defined>'
        '<meta:user-defined meta:name="AppVersion">12.0</meta:user-defined>'
        '<meta:user-defined meta:name="Slides">9</meta:user-defined>'
        "</office:meta></office:document-meta>"
    )
    data = with_parts(opendocument("text", "<text:p>Words.</text:p>"), {"meta.xml": meta})
    assert read_bytes(data, "a.odt").properties == {
        "title": "Bees",
        "author": "Ann Lee",
        "date": "2020-03-01",
        "keywords": ("a", "b"),
        "project": "Hive",
    }


def test_rich_text() -> None:
    """Letters are in the encoding of the file, or in Unicode, which comes second."""
    body = rb"\f0 In 1850 it rained.\par}"
    data = (
        rb"{\rtf1\ansi\ansicpg1251{\fonttbl{\f0\fcharset0 Arial;}}"
        rb"{\info{\title \'cf\'f7\'b8\'eb\'fb}"
        rb"{\upr{\author ?}{\*\ud{\author Ann Lee; J\u243?zef \{B\}}}}{\subject Biology}{\doccomm }"
        rb"{\keywords bees, wax}{\creatim\yr2020\mo3\dy1\hr9}{\*\company Hive}{\nofpages1}}" + body
    )
    document = read_bytes(data, "a.rtf")
    assert document.text == "In 1850 it rained."
    assert document.properties == {
        "title": "Пчёлы",
        "author": ("Ann Lee", "Józef {B}"),
        "date": "2020-03-01",
        "keywords": ("bees", "wax"),
        "subject": "Biology",
    }
    assert read_bytes(rb"{\rtf1{\info{\creatim\yr0}}" + body, "a.rtf").properties == {}


def test_books() -> None:
    package = (
        f'<package xmlns="urn:opf" xmlns:dc="{DC}"><metadata><dc:title>Bees</dc:title>'
        "<dc:creator>Ann Lee</dc:creator><dc:creator>Bo Chen</dc:creator>"
        "<dc:date>1859-11-24</dc:date><dc:language>en</dc:language><dc:subject>a</dc:subject>"
        "</metadata><manifest><item id='c' href='one.xhtml' media-type='application/xhtml+xml'/>"
        "</manifest><spine><itemref idref='c'/></spine></package>"
    )
    assert read_bytes(epub(**{"O/book.opf": package}), "a.epub").properties == {
        "title": "Bees",
        "author": ("Ann Lee", "Bo Chen"),
        "date": "1859-11-24",
        "language": "en",
        "keywords": ("a",),
    }


def test_pages() -> None:
    page = (
        '<!doctype html><html lang="de"><head><title> Bees\n and wax </title>'
        '<meta name="Author" content="Ann Lee"><meta name="keywords" content="a, b">'
        '<meta property="article:published_time" content="2020-03-01T08:00:00+01:00">'
        '<meta name="description" content="On bees."></head>'
        "<body><svg><title>Picture</title></svg><p>Words.</p></body></html>"
    )
    assert read_bytes(page.encode(), "a.html").properties == {
        "title": "Bees and wax",
        "author": "Ann Lee",
        "date": "2020-03-01",
        "language": "de",
        "keywords": ("a", "b"),
        "description": "On bees.",
    }
    assert read_bytes(b"<html><body><p>Words.</p></body></html>", "a.html").properties == {}


@pytest.mark.parametrize(
    ("linked", "properties"),
    [
        ('{"@type": "NewsArticle", "datePublished": "2021-04-05T06:07:08Z", "author": '
         '[{"@type": "Person", "name": "Ann Lee"}, {"name": "Bo Chen"}]}',
         {"author": ("Ann Lee", "Bo Chen"), "date": "2021-04-05"}),
        ('[{"@graph": [{"@type": "WebSite", "name": "Bee News"}, '
         '{"datePublished": "2021-04-05", "author": "Ann Lee"}]}]',
         {"author": "Ann Lee", "date": "2021-04-05"}),
        ('{"datePublished": 2021, "author": {"@id": "#ann"}}', {}),
        ("{not JSON", {}),
        ("[" * 100_000, {}),
    ],
)  # fmt: skip
def test_pages_with_linked_data(linked: str, properties: dict[str, object]) -> None:
    page = f'<script type="application/ld+json">{linked}</script><p>Words.</p>'
    assert read_bytes(page.encode(), "a.html").properties == properties
    said = '<meta name="author" content="Cy Dorn"><meta name="date" content="2019-01-02">'
    both = read_bytes(f"{said}{page}".encode(), "a.html").properties
    assert both == {"author": "Cy Dorn", "date": "2019-01-02"}


def test_addresses_are_no_names() -> None:
    """The next source of a name counts."""
    page = (
        "<html><head><title>www.example.org</title><meta name=author content='http://a.org/ann'>"
        "<meta name=dc.creator content='Ann Lee'></head><body>Words.</body></html>"
    )
    assert read_bytes(page.encode(), "a.html").properties == {"author": "Ann Lee"}
    package = (
        f'<package xmlns:dc="{DC}"><metadata><dc:creator>https://a.org/ann</dc:creator>'
        "<dc:creator>Ann Lee</dc:creator><dc:publisher>www.a.org</dc:publisher></metadata>"
        "<manifest><item id='c' href='one.xhtml' media-type='application/xhtml+xml'/></manifest>"
        "<spine><itemref idref='c'/></spine></package>"
    )
    held = read_bytes(epub(**{"O/book.opf": package}), "a.epub").properties
    assert held == {"author": "Ann Lee"}
    note = b"---\nauthors: [www.a.org, Ann Lee, Bo]\n---\nWords.\n"
    assert read_bytes(note, "a.md").properties == {"author": ("Ann Lee", "Bo")}


@pytest.mark.parametrize(
    ("head", "held"),
    [
        ("title: Bees\ndate: 2020-03\ndraft: true\ntags: [a, b]\n", {
            "title": "Bees", "date": "2020-03", "draft": True, "tags": ("a", "b"),
        }),
        ("authors:\n- name: Ann\n  orcid: 1\n- Bo\nlang: en\nnested: {a: 1}\n", {
            "author": ("Ann", "Bo"), "language": "en",
        }),
        ("author: {name: Ann}\nlanguage: no\nNumber: 3\n", {
            "author": "Ann", "language": "no", "number": 3.0,
        }),
        ("just a line\n", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_front_matter(head: str, held: dict[str, Value]) -> None:
    text = f"---\n{head}---\n\n# Words\n"
    document = read_bytes(text.encode(), "a.md")
    assert (document.text, document.properties, document.notes) == (text, held, ())


def test_front_matter_that_is_no_yaml_is_reported() -> None:
    document = read_bytes(b"---\ntitle: [\n---\nWords.\n", "a.md")
    assert document.properties == {}
    assert "front matter is not YAML" in document.notes[0]


def test_notebooks() -> None:
    notebook = {
        "metadata": {
            "title": "Bees", "authors": [{"name": "Ann"}], "kernelspec": {"name": "python3"},
            "language_info": {"name": "python"},
        },
        "cells": [{"cell_type": "markdown", "source": "Words."}],
    }  # fmt: skip
    held = read_bytes(json.dumps(notebook).encode(), "a.ipynb").properties
    assert held == {"title": "Bees", "author": "Ann"}
    del notebook["metadata"]
    assert read_bytes(json.dumps(notebook).encode(), "a.ipynb").properties == {}


def test_mail() -> None:
    mail = (
        b"From: Ann Lee <ann@example.org>\nTo: bo@example.org\nSubject: =?utf-8?q?B=C3=A9es?=\n"
        b"Date: Sun, 1 Mar 2020 12:00:00 +0100\n\nWords.\n"
    )
    assert read_bytes(mail, "a.eml").properties == {
        "title": "Bées",
        "author": "Ann Lee <ann@example.org>",
        "date": "2020-03-01",
        "to": "bo@example.org",
    }


def test_pdf() -> None:
    data = pdf_of(["Words on a page."])
    assert read_bytes(data, "a.pdf").properties == {}
    info = (
        b"<< /Title (Microsoft Word - Bees) /Author (Ann Lee) /Keywords (a; b) /CreationDate "
        b"(D:20200301120000+01'00') /Subject () >>"
    )
    number = data.count(b" 0 obj") + 1
    held = data.replace(b"/Type /Catalog", b"/Type /Catalog /Lang (en-GB)", 1)
    at = held.index(b"xref")
    held = held[:at] + b"%d 0 obj\n%s\nendobj\n" % (number, info) + held[at:]
    held = held.replace(b"trailer\n<<", b"trailer\n<< /Info %d 0 R" % number, 1)
    assert read_bytes(held, "a.pdf").properties == {
        "title": "Bees",
        "author": "Ann Lee",
        "date": "2020-03-01",
        "language": "en-GB",
        "keywords": ("a", "b"),
    }


def _note(folder: Path, name: str = "note.md", text: str = "---\ntitle: Old\n---\nText.\n") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".meta.json", '{"title": "New", "year": 2020, "tags": ["a", "b"], "none": null}'),
        (".meta.yaml", "title: New\nyear: 2020\ntags: [a, b]\nnone:\n"),
        (".meta.yaml", "title: 'New'\nyear: 2020.0\ntags:\n- a\n- b\n"),
    ],
)
def test_a_sidecar_wins_over_its_file(tmp_path: Path, suffix: str, text: str) -> None:
    path = _note(tmp_path, text="---\ntitle: Old\nauthor: Lee\n---\nText.\n")
    beside = tmp_path / f"note.md{suffix}"
    beside.write_text(text, encoding="utf-8")
    assert sidecar(path) == beside
    assert described(beside) == path
    held = {"title": "New", "author": "Lee", "year": 2020.0, "tags": ("a", "b")}
    assert read(path).properties == held
    beside.unlink()
    assert read(path).properties["title"] == "Old"


def test_json_comes_first(tmp_path: Path) -> None:
    path = _note(tmp_path)
    (tmp_path / "note.md.meta.json").write_text('{"k": "json"}', encoding="utf-8")
    (tmp_path / "note.md.meta.yaml").write_text("k: yaml", encoding="utf-8")
    assert read(path).properties["k"] == "json"


def test_sidecars_are_no_documents(tmp_path: Path) -> None:
    """Nor are those whose file is gone; what only looks like one is."""
    path, beside = _note(tmp_path), tmp_path / "note.md.meta.json"
    for name in (beside.name, "a.pdf.meta.yaml", "b.txt.meta.json", "data.meta.json"):
        _note(tmp_path, name, '{"k": "v"}')
    skipped: dict[str, str] = {}
    found = files([tmp_path], on_skip=lambda path, why: skipped.update({path.name: why}))
    assert [path.name for path in found] == ["data.meta.json", "note.md"]
    assert skipped.pop(beside.name) == "the sidecar of note.md"
    assert skipped.keys() == {"a.pdf.meta.yaml", "b.txt.meta.json"}
    assert set(skipped.values()) == {"a sidecar whose file is not there"}
    assert list(files([path, beside])) == list(files([beside])) == [path]


@pytest.mark.parametrize(
    ("suffix", "text", "problem"),
    [
        (".meta.json", "{", "is not JSON: "),
        (".meta.json", "[" * 60_000, "is not JSON: nested too deeply"),
        (".meta.json", "[1]", "holds no properties"),
        (".meta.json", '{"a": {"b": 1}}', "'a' cannot be dict"),
        (".meta.json", '{"Big Key": 1}', "'Big Key' cannot be the key"),
        (".meta.json", '{"a": NaN}', "'a' is not a number, or too large"),
        (".meta.json", b'{"a": "\xff"}', "is not JSON: "),
        (".meta.yaml", "a: [1", "is not YAML: "),
        (".meta.yaml", "a: &a {x: 1}\nb: {<<: [*a, *a]}\n", "is not YAML: aliases"),
        (".meta.yaml", "\x00", "is not YAML: "),
        (".meta.yaml", "x" * 65_000, "is not YAML: "),
        (".meta.yaml", "{[a]: 1}", "is not YAML: "),
        (".meta.yaml", "a: !!python/object:os.system x\n", "is not YAML: "),
        (".meta.yaml", "[" * 60_000, "is not YAML: "),
    ],
)
def test_a_file_is_read_without_a_bad_sidecar(
    tmp_path: Path, suffix: str, text: str | bytes, problem: str
) -> None:
    path = _note(tmp_path)
    beside = tmp_path / f"note.md{suffix}"
    beside.write_bytes(text if isinstance(text, bytes) else text.encode())
    document = read(path)
    (note,) = document.notes
    assert note.startswith(f"without the sidecar's properties: {beside.name}")
    assert problem in note
    assert "\n" not in note
    assert ("Text." in document.text, document.properties) == (True, {"title": "Old"})


def test_scalars_are_what_they_look_like() -> None:
    text = "a: no\nb: on\nc: 12:30\nd: 2020-03-01\ne: true\nf: 1.5\ng: 12\nh: 0x1F\ni: ~\nj: 007\n"
    assert plain_yaml.load(text) == {
        "a": "no", "b": "on", "c": "12:30", "d": "2020-03-01", "e": True, "f": 1.5, "g": 12,
        "h": "0x1F", "i": None, "j": "007",
    }  # fmt: skip


@given(st.text() | st.text("&*!a:- \n[]{}<|>'\"#,?0.1~").map(str))
def test_anything_is_a_value_or_a_value_error(text: str) -> None:
    said = None
    try:
        plain_yaml.load(text)
    except ValueError as error:
        said = str(error)
    assert said is None or "\n" not in said
