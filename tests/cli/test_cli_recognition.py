"""``--ocr`` of ``check``, ``annotate`` and ``mcp``: what is on a scanned page is found there."""

import json
from pathlib import Path

import pytest

from milepost.exports.marking.highlights import count_highlights
from support.pdf_writer import pdf_of
from support.scan_writer import joined, needs_ocr, scan

LINES = ["The harbour master counts every ship.", "Badgers dig deep setts under the old oak."]
LIGHT = ["--model", "landmark-light"]
PRINTED = "Gold melts at 1064 degrees and never rusts."


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.pdf"
    scanned, printed = (pdf_of(lines, size=14, step=40) for lines in (LINES, [PRINTED]))
    path.write_bytes(joined(scan(scanned, dpi=100), printed))
    return path


def test_scanned_pages_are_checked_and_marked(cli, pdf):
    needs_ocr()
    asked = "check", pdf, LINES[1], "--json", *LIGHT
    result = cli(*asked, "--min-score", 1)
    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "not found")
    result = cli(*asked, "--ocr", "auto")
    (place,) = json.loads(result.stdout)["places"]
    assert (result.exit_code, place["page"]) == (0, 1)

    result = cli(
        "annotate", pdf, "What do badgers dig?", "--min-score", 0, "-k", 1, "--ocr", "auto", *LIGHT
    )
    assert result.exit_code == 0, result.stderr
    assert "page 1 has text recognised from a picture" in result.stderr
    assert count_highlights(pdf.with_name("mixed.marked.pdf").read_bytes(), "x") == 1


def test_pages_that_were_not_recognised_are_named(cli, pdf):
    result = cli("annotate", pdf, "What never rusts?", "--min-score", 0, *LIGHT)
    assert result.exit_code == 0
    assert "page 1 has hardly any text (scanned?); --ocr auto takes about 6 s" in result.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("check", "gold never rusts", "--db", "x"),
        ("annotate", "x.pdf", "why?", "--db", "x"),
        ("mcp", "run", "--db", "x"),
        ("mcp", "install", "cursor", "--db", "x"),
    ],
)
def test_an_index_was_read_already(refusal, args):
    said = refusal(*args, "--ocr", "auto")
    assert "--ocr is for" in said
    assert "milepost index" in said
