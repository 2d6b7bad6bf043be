"""``docs/pooling.md`` lists what there is, and the page of results says what its figures say."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from milepost_lab import pooling
from milepost_lab.command import STUDIES

DOCS = Path(__file__).resolve().parents[4] / "docs"
TOOLS = DOCS.parent / "tools"
if not (TOOLS / "make_pooling.py").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)
PAGE = (DOCS / "pooling.md").read_text(encoding="utf-8")
PAGES = sorted((DOCS / "pooling").glob("*.md"))


def test_the_tables_are_up_to_date():
    """The page equals what tools/make_pooling.py writes."""
    filled = runpy.run_path(str(TOOLS / "make_pooling.py"))["filled"]
    assert filled(PAGE) == PAGE, "run: python tools/make_pooling.py"


def test_everything_is_listed():
    table = PAGE.split("<!-- operators -->")[1].split("<!-- end of operators -->")[0]
    for name, row in pooling.names().items():
        assert re.search(rf"^\| \[?{re.escape(name)}[\] ]", table, re.MULTILINE), name
        assert row.paper in table
    for name in STUDIES:
        assert f"| `milepost lab {name}` |" in PAGE
    for page in PAGES:
        assert f"(pooling/{page.name})" in PAGE


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_says_what_it_must(page):
    """A picture, the equation, when and how, where we depart, what was measured, what is open."""
    text = page.read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    for wanted in (
        "Equations",
        "Traps avoided, and where we depart",
        "When to use it",
        "How to call it",
        "Limits",
    ):
        assert wanted in sections, f"{page.name}: no section {wanted!r}"
    measured = "\n".join(part for name, part in sections.items() if "measured" in name)
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", measured), "figures have a date"
    assert re.search(r"milepost lab \w+|tests/\w+|`compare`", measured), "and a command"
    (picture,) = re.findall(r"^!\[.+\]\((.+)\)$", text, re.MULTILINE)
    assert (page.parent / picture).is_file()


@pytest.mark.torch
@pytest.mark.parametrize("page", [DOCS / "pooling.md", *PAGES], ids=lambda page: page.stem)
def test_python_of_the_pages_runs(page, capsys):
    """Each block runs as it stands, and prints what stands behind its prints, in that order."""
    pytest.importorskip("torch", reason="needs the train extra")
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if "milepost_lab.compare.digits" in block:
            continue  # half a minute of training; tests/lab trains a smaller one
        exec(compile(block, page.name, "exec"), {})
        printed = iter(capsys.readouterr().out.splitlines())
        for said in re.findall(r"^print\(.*\)\s+# (.*)$", block, re.MULTILINE):
            assert any(said == line or said.startswith(f"{line}, ") for line in printed), said


def test_numbers_of_poolings_and_experiments_told_elsewhere():
    """README and changelog count what there is."""
    for name in ("README.md", "CHANGELOG.md"):
        text = (DOCS.parent / name).read_text(encoding="utf-8")
        assert re.findall(r"(\d+)\s+ways\s+to\s+make", text) == [str(len(pooling.names()))]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    pytest.importorskip("torch", reason="needs the train extra")
    pytest.importorskip("matplotlib", reason="needs the eval extra")
    from milepost_lab.compare.cache import ResultCache
    from support.small_comparison import made_cache, made_run

    folder = tmp_path_factory.mktemp("docs")
    book = ResultCache(folder / "pooling.jsonl.xz")
    made = made_cache()
    for asked in made.asked.values():
        book.ask(asked)
    for run in [*made.runs, made_run("mean", "sentences", 0, [0.25] * 30, trained=False)]:
        book.add(run)
    patch = pytest.MonkeyPatch()
    script = TOOLS / "make_results_pooling.py"
    patch.setattr(sys, "argv", [str(script), str(book.path), "--docs", str(folder)])
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        patch.undo()
    return folder


@pytest.mark.torch
def test_the_page_of_results(results):
    """Head, ranking, plots, lengths, what is lost, and what was not trained."""
    page = (results / "results-pooling.md").read_text(encoding="utf-8")
    assert "some day." in page
    assert "seeds 0, 1" in page
    assert "- documents-8k: 30 queries about 30 documents, among 30 texts of 50 tokens" in page
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert headings == [
        "Ranking",
        "Against lmk",
        "By length",
        "Each seed alone",
        "Cost",
        "Without training",
    ]
    assert "- mean, documents-512: +10.0" in page
    assert "| 1 | mean | tokens | 25.0" in page
    for name in re.findall(r"\]\((results/[\w-]+\.svg)\)", page):
        assert "<svg" in (results / name).read_text(encoding="utf-8")
    assert page.count(".svg)") == 2
