"""``milepost annotate``: a marked copy from the command line."""

import json
from pathlib import Path

import pytest

from milepost.exports.marking.highlights import count_highlights
from support.pdf_writer import pdf_of

QUESTION = "Who lays the eggs?"


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    first = ["Bees build cells of wax.", "", "The queen lays the eggs."]
    second = ["A ship needs deep water.", "", "Tugs pull ships to the quay."]
    path = tmp_path / "bees.pdf"
    path.write_bytes(pdf_of(first, second))
    return path


@pytest.fixture
def any_chance(model: list[str]) -> list[str]:
    """The model, and passages however improbable: the light one is sure of little."""
    return [*model, "--min-score", "0"]


def test_a_copy_is_written(cli, refusal, any_chance, pdf, tmp_path):
    result = cli("annotate", pdf, QUESTION, "Who pulls ships?", "-k", 1, *any_chance)
    made = tmp_path / "bees.marked.pdf"
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"{made}: 2 highlights"
    assert lines[1].startswith(f"  {QUESTION}: page 1 (")
    assert lines[2].startswith("  Who pulls ships?: page 2 (")
    assert made.read_bytes().startswith(pdf.read_bytes())
    assert count_highlights(made.read_bytes(), "x") == 2
    assert "another name, or --overwrite" in refusal("annotate", pdf, QUESTION, *any_chance)
    for other in ("marked.docx", "marked"):
        assert "must end in .pdf" in refusal("annotate", pdf, QUESTION, "-o", tmp_path / other)
    out = tmp_path / "deep" / "out.pdf"
    result = cli("annotate", pdf, QUESTION, "-o", out, "-k", 1, "--json", *any_chance)
    record = json.loads(result.stdout)
    assert (record["path"], record["highlights"]) == (str(out), 1)
    (asked,) = record["questions"]
    assert asked["question"] == QUESTION
    assert "queen" in asked["passages"][0]["text"]
    assert out.is_file()
    assert cli("annotate", pdf, QUESTION, "-o", out, "--overwrite", "-q", *any_chance).stdout == ""


def test_an_index_may_be_used(cli, refusal, model, any_chance, pdf, tmp_path):
    assert cli("index", pdf, "--db", tmp_path / "db", *model).exit_code == 0
    assert cli("annotate", pdf, QUESTION, "--db", tmp_path / "db", *any_chance).exit_code == 0
    other = pdf.with_name("other.pdf")
    other.write_bytes(pdf.read_bytes())
    said = refusal("annotate", other, QUESTION, "--db", tmp_path / "db", *any_chance)
    assert "is not in the index" in said


def test_nothing_found_and_errors(cli, refusal, model, pdf, notes):
    result = cli("annotate", pdf, QUESTION, "--min-score", 1, *model)
    assert result.exit_code == 1
    said, nothing = result.stderr.splitlines()
    assert said.startswith(f"milepost: {QUESTION}: nothing found at 100% or more; ")
    assert "nothing to highlight, so no file was written" in nothing
    assert not pdf.with_name("bees.marked.pdf").exists()
    for name, said in (("gold.txt", "is not a PDF file"), ("none.pdf", "none.pdf does not exist")):
        assert said in refusal("annotate", notes / name, QUESTION, *model)
    assert str(notes) in refusal("annotate", notes, QUESTION, *model)


def test_search_gives_boxes(cli, model, pdf, notes, tmp_path):
    asked = "search", QUESTION, pdf, notes, "--json", "-k", 9, *model
    record = json.loads(cli(*asked).stdout)
    kinds = {Path(passage["document"]).suffix for passage in record["passages"]}
    assert kinds > {".pdf"}
    for passage in record["passages"]:
        assert ("boxes" in passage) == passage["document"].endswith(".pdf")
        for box in passage.get("boxes", ()):
            assert set(box) == {
                "page", "left", "top", "right", "bottom", "page_width", "page_height"
            }  # fmt: skip
            assert (box["page_width"], box["page_height"]) == (612, 792)
            assert 72 <= box["left"] + 1 < box["right"] < 612
            assert 72 < box["top"] < box["bottom"] < 140
    assert cli("index", pdf, "--db", tmp_path / "db", *model).exit_code == 0
    pdf.write_bytes(b"%PDF-1.4 broken")
    result = cli("search", QUESTION, "--db", tmp_path / "db", "--json", *model)
    assert result.exit_code == 0
    changed = f"{pdf} has changed since it was read"
    assert result.stderr == f"milepost: {changed}\n"
    assert changed in json.loads(result.stdout)["notes"]
    assert not any("boxes" in passage for passage in json.loads(result.stdout)["passages"])
    pdf.unlink()
    result = cli("search", QUESTION, "--db", tmp_path / "db", "--json", *model)
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
