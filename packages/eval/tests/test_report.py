"""What a run says, for people: table, page, Markdown and plots of planted figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from milepost.errors import InputError
from milepost_eval.metrics import AT_BUDGET, AT_RANK, OF_DOCUMENTS
from milepost_eval.records import PerQuestion, Record
from milepost_eval.report import as_text, page, rows, tables, write_page, write_plots

for needed in ("matplotlib", "jinja2", "scipy"):
    pytest.importorskip(needed, reason="the report needs the extra eval")

DOCUMENTS, EACH = 12, 5
COMMAND = "milepost eval run --report <out>.html"
NASTY = '<script>alert("1")</script>&$x$_|*\x07'


def record(
    system: str,
    task: str,
    level: float,
    *,
    setting: str = "document",
    noise: Sequence[float] = (0.0,),
    kinds: Sequence[str] = ("",),
    budgets: Mapping[int, float] | None = None,
) -> Record:
    """Figures around a level; ``noise`` is added to one document after the other."""
    count = DOCUMENTS * EACH
    documents = tuple(f"{task}-{number // EACH}" for number in range(count))
    figures = {
        f"recall@{budget}": tuple(
            level + more + noise[number // EACH % len(noise)] for number in range(count)
        )
        for budget, more in (budgets or {800: -0.1, 1600: 0.0, 3200: 0.1}).items()
    }
    return Record(
        system=system,
        fingerprint=f"print-{system}",
        task=task,
        setting=setting,
        split="dev",
        documents=DOCUMENTS,
        questions=count,
        left_out=0,
        metrics={name: fmean(values) for name, values in figures.items()},
        intervals={name: (fmean(v) - 0.02, fmean(v) + 0.03) for name, v in figures.items()},
        open_seconds=1.5,
        search_seconds=0.6,
        tokens=1234,
        cached=False,
        date="2026-11-20",
        version="1.2.3",
        commit="abc1234",
        machine="a processor, 2 cores, Linux",
        per_question=PerQuestion(
            names=tuple(f"q{number}" for number in range(count)),
            documents=documents,
            kinds=tuple(kinds[number % len(kinds)] for number in range(count)),
            positions=tuple((number % 20) / 20 for number in range(count)),
            lengths=tuple(3000 + 1000 * (number // EACH) for number in range(count)),
            figures=figures,
        ),
    )


APART = (0.04, -0.04)  # as much to the one side as to the other: nobody knows
PLANTED = [
    record("ours", "won", 0.70, kinds=("plain", "why")),
    record("rival", "won", 0.60, noise=(0.01, -0.01), kinds=("plain", "why")),
    record("ours", "lost", 0.50),
    record("rival", "lost", 0.55, noise=(0.01, -0.01)),
    record("ours", "open", 0.40),
    record("rival", "open", 0.40, noise=APART),
    record("slow", "won", 0.2),
    record("slow", "lost", 0.2),
    record("slow", "open", 0.2),
]


@pytest.fixture(scope="module")
def made() -> HTMLParser:
    """The page of the planted records."""
    return HTMLParser(page(PLANTED, ours="ours", command=COMMAND))


def cells(tree: HTMLParser, metric: str) -> dict[str, list[str]]:
    """The rows of a metric's table in the page: system → cells."""
    for table in tree.css("table"):
        caption = table.css_first("caption")
        if caption and caption.text().startswith(f"{metric}, setting"):
            return {
                row.css_first("th").text(): [cell.text() for cell in row.css("td")]
                for row in table.css("tbody tr")
            }
    raise AssertionError(f"no table of {metric}")


def test_rows_are_best_first_with_intervals() -> None:
    """A table has one row a system, best mean first, each figure with its interval."""
    table = rows(PLANTED, "recall@1600", "document")
    assert table.headers == ("system", "won", "lost", "open", "mean over tasks")
    assert [row[0] for row in table.rows] == ["ours", "rival", "slow"]
    assert table.rows[0][1] == "70.0 [68.0, 73.0]"
    assert table.rows[0][4] == "53.3 [53.3, 53.3]"
    assert table.narrow[0][1:4] == ("70.0", "50.0", "40.0")
    assert table.narrow[0][4] == table.rows[0][4]
    assert table.notes == ()


def test_a_missing_figure_is_named() -> None:
    """A system that was not measured on a task has a dash, no mean, the last row and a note."""
    table = rows(PLANTED[1:], "recall@1600", "document")
    assert [row[0] for row in table.rows] == ["rival", "slow", "ours"]
    assert table.rows[2] == ("ours", "–", "50.0 [48.0, 53.0]", "40.0 [38.0, 43.0]", "–")
    assert any("ours was not measured on won" in note for note in table.notes)


def test_notes_name_what_limits_a_table() -> None:
    """Questions left out, other questions and few documents are said below the table."""
    first = replace(PLANTED[0], left_out=40)
    per = first.per_question
    other = replace(
        PLANTED[1], per_question=replace(per, names=tuple(f"other-{name}" for name in per.names))
    )
    few = replace(PLANTED[2], per_question=replace(per, documents=("only",) * len(per.documents)))
    notes = " ".join(rows([first, other, few], "recall@1600", "document").notes)
    assert "40 questions of won were not asked" in notes
    assert "same questions of won" in notes
    assert "questions of lost are about 1 document:" in notes


@pytest.mark.parametrize("width", [None, 200, 80, 60, 20])
def test_figures_are_never_folded(width: int | None) -> None:
    """However narrow the terminal is, each figure stands whole on its line."""
    long = [replace(one, system=f"{one.system}-{'name' * 12}") for one in PLANTED]
    table = rows(long, "recall@1600", "document")
    text = as_text(table, width)
    assert "53.3 [53.3, 53.3]" in text
    assert (width in (None, 200)) == ("70.0 [68.0, 73.0]" in text)
    assert "\x1b" not in text
    if width == 80:
        assert max(map(len, text.splitlines())) <= width


def test_unknown_names_are_told_with_the_nearest() -> None:
    """A metric, setting or system without a record is an error that names a near one."""
    with pytest.raises(InputError, match=r"'recal@1600'.*'recall@1600'"):
        rows(PLANTED, "recal@1600", "document")
    with pytest.raises(InputError, match=r"'collection';.*one of document"):
        rows(PLANTED, "recall@1600", "collection")
    with pytest.raises(InputError, match=r"'rivals';.*'rival'"):
        page(PLANTED, ours="rivals", command="")
    with pytest.raises(InputError, match="no records"):
        tables([], ours="ours")


def test_records_that_do_not_go_together() -> None:
    """The same figure twice, or records of two splits, make no report."""
    with pytest.raises(InputError, match=r"two records of ours on won \(document\)"):
        rows([*PLANTED, PLANTED[0]], "recall@1600", "document")
    with pytest.raises(InputError, match="several splits: dev, test"):
        rows([replace(PLANTED[0], split="test"), PLANTED[1]], "recall@1600", "document")


def test_the_page_has_every_figure(made: HTMLParser) -> None:
    """Every system, task and budget stands in the page with its interval."""
    for budget, more in ((800, -10), (1600, 0), (3200, 10)):
        found = cells(made, f"recall@{budget}")
        assert found["ours"][0] == f"{70 + more:.1f} [{68 + more:.1f}, {73 + more:.1f}]"
        assert found["rival"][1].startswith(f"{55 + more:.1f} [")
        assert list(found) == ["ours", "rival", "slow"]


def test_the_page_says_what_was_measured(made: HTMLParser) -> None:
    """The head names date, version, commit, machine, split, sizes and the command."""
    head = made.css_first("header").text()
    for part in ("2026-11-20", "1.2.3", "abc1234", "a processor, 2 cores", "dev", COMMAND):
        assert part in head
    assert "180 in all: won 60, lost 60, open 60" in head
    assert "print-rival" in made.body.text()
    glossary = made.css("dl")[-1].text()
    for meaning in [*AT_BUDGET.values(), *AT_RANK.values(), *OF_DOCUMENTS.values()]:
        assert meaning in glossary


def test_the_page_loads_nothing(made: HTMLParser) -> None:
    """No address of the network is loaded or linked; every fragment is there, every id once."""
    for node in made.css("*"):
        for name, value in node.attributes.items():
            if name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
                assert (value or "").startswith("#")
    assert not made.css("script, link, iframe, object, embed, img, base")
    assert not re.search(r"@import|url\((?!#)", made.html)
    ids = [node.attributes["id"] for node in made.css("[id]")]
    assert len(ids) == len(set(ids))
    aims = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', made.html)
    assert {one or other for one, other in aims} <= set(ids)


def test_tables_can_be_heard(made: HTMLParser) -> None:
    """Every table has a caption, heads of columns and rows; every drawing a text or none to say."""
    for table in made.css("table"):
        assert table.css_first("caption").text()
        assert all(node.attributes["scope"] == "col" for node in table.css("thead th"))
        assert all(row.css_first("th[scope=row]") for row in table.css("tbody tr"))
    for drawing in made.css("svg"):
        assert drawing.attributes.get("aria-label") or drawing.attributes.get("aria-hidden")


def test_differences_have_verdicts(made: HTMLParser) -> None:
    """The table of differences calls planted gains, losses and ties by their names."""
    table = made.css("table.differences")[0]
    found = {
        row.css_first("th").text(): [cell.text() for cell in row.css("td")]
        for row in table.css("tbody tr")
    }
    assert found["won"][1] == "better"
    assert found["won"][0].startswith("+10.0 [+9.")
    assert found["lost"][1] == "worse"
    assert found["lost"][0].startswith("−5.0 [−")
    assert found["open"][1] == "unknown"
    assert found["open"][4] == "60 / 12"
    assert "mean over tasks" in found


def test_the_words_are_true(made: HTMLParser) -> None:
    """The plain words put each task where its interval lies, against each rival."""
    opening, against, slow = [node.text() for node in made.css("p.words")]
    assert "ours reaches 53.3 [53.3, 53.3] % as the mean over 3 tasks" in opening
    assert "the highest of 3 systems" in opening
    # Ahead on one task and behind on another: the mean's interval is narrow, its p is not small.
    told = "Against rival, as the mean over 3 tasks, it is unknown which is better: +1.7 ["
    assert against.startswith(told)
    assert "Better on: won +10.0 [" in against
    assert "Worse on: lost −5.0 [" in against
    assert "corrected for 3 tasks is 0.05 or more) on: open +0.0 [" in against
    assert slow.startswith("Against slow, as the mean over 3 tasks, ours is better: +33.3 [")
    assert "Worse" not in slow


def test_few_documents_decide_nothing() -> None:
    """Ours ahead in all of five documents: the interval leaves out zero, p does not allow it."""
    per = PLANTED[0].per_question
    five = tuple(f"d{number % 5}" for number in range(len(per.names)))
    two = [replace(p, per_question=replace(p.per_question, documents=five)) for p in PLANTED[:2]]
    words = HTMLParser(page(two, ours="ours", command="")).css("p.words")[1].text()
    assert "it is unknown which is better: +10.0 [+10.0, +10.0]" in words
    assert "(p 0.062)" in words
    assert "Better" not in words


def test_a_loser_is_shown_losing() -> None:
    """Where ours is behind, the words give its place and who is ahead, with intervals."""
    words = tables(PLANTED, ours="slow")
    assert "place 3 of 3. Higher: ours 53.3 [53.3, 53.3], rival 51.7 [" in words
    assert "| **slow** | 20.0 [18.0, 23.0] |" in words
    assert "slow is worse: −33.3 [" in words


def test_a_system_without_records_in_a_setting() -> None:
    """Ours may be missing from a setting: the page says so and still has the others' table."""
    more = [*PLANTED[:2], record("rival", "won", 0.3, setting="collection")]
    tree = HTMLParser(page(more, ours="ours", command=""))
    assert "ours was not measured in this setting" in tree.body.text()
    assert "setting collection" in tree.body.text()


def test_metrics_of_documents_alone() -> None:
    """A task without spans has a page as well: tables and differences, and no plot of places."""
    alone = [
        replace(
            one,
            setting="collection",
            metrics={"ndcg@10": one.metrics["recall@1600"]},
            intervals={"ndcg@10": one.intervals["recall@1600"]},
            per_question=replace(
                one.per_question,
                figures={"ndcg@10": one.per_question.figures["recall@1600"]},
            ),
        )
        for one in PLANTED[:2]
    ]
    tree = HTMLParser(page(alone, ours="ours", command=""))
    assert cells(tree, "ndcg@10")["ours"][0] == "70.0 [68.0, 73.0]"
    titles = " ".join(node.text() for node in tree.css("figcaption"))
    assert "Differences" in titles
    assert "position" not in titles


@pytest.fixture(scope="module")
def plotted(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The plots of two planted records."""
    return write_plots(PLANTED[:2], tmp_path_factory.mktemp("plots"), "ours")


def test_the_same_records_give_the_same_bytes(plotted: list[Path], tmp_path: Path) -> None:
    """Page and plots depend on the records and nothing else; a folder that is not there is made."""
    first = page(PLANTED[:2], ours="ours", command="x")
    assert first.startswith("<!doctype html>")
    write_page(tmp_path / "new" / "page.html", PLANTED[:2], ours="ours", command="x")
    assert (tmp_path / "new" / "page.html").read_text(encoding="utf-8") == first
    again = write_plots(PLANTED[:2], tmp_path / "plots", "ours")
    assert [path.name for path in again] == [path.name for path in plotted]
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in plotted]


def test_plots_are_files_of_xml(plotted: list[Path]) -> None:
    """Each plot is a well-formed drawing that shows the systems' names as text."""
    assert [path.name for path in plotted] == [
        f"document-{key}.svg" for key in ("budget", "position", "length", "differences", "kinds")
    ]
    for path in plotted:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        text = path.read_text(encoding="utf-8")
        assert "rival" in text
        assert "<dc:date>" not in text
    assert "won: why (30)" in plotted[-1].read_text(encoding="utf-8")


def test_names_are_shown_and_never_obeyed(tmp_path: Path) -> None:
    """Markup, formulas and control characters in names stay text, in page, plots and Markdown."""
    named = [
        replace(
            one,
            system=one.system.replace("rival", NASTY),
            task=one.task.replace("won", NASTY + "\ud800测试"),
            setting=NASTY,
            machine=NASTY,
        )
        for one in PLANTED[:2]
    ]
    html = page(named, ours=NASTY, command=NASTY)
    tree = HTMLParser(html)
    assert not tree.css("script")
    shown = NASTY.replace("\x07", "\ufffd")
    assert shown in [node.text() for node in tree.css("th[scope=row]")]
    drawings = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(drawings) > 5
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert "<script" not in re.sub(r"\\<", "", tables(named, ours=NASTY))
    written = write_plots([replace(one, setting=f"../{NASTY}") for one in named], tmp_path, NASTY)
    assert len(written) == 5
    for path in written:
        assert path.parent == tmp_path
        assert path.name.startswith("-script-alert-1-script-x-")
        ElementTree.parse(path)


@settings(max_examples=15, deadline=None)
@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), st.integers(1, 3))
def test_markdown_tables_have_their_columns(name: str, count: int) -> None:
    """Whatever a system is called, each row has as many columns as its head, losers too."""
    named = [replace(one, system=name) for one in PLANTED[: 2 * count : 2]]
    text = tables([*named, *PLANTED[1 : 2 * count : 2]], ours="rival")
    lines = re.split(r"\n\n", text)
    grids = [part.splitlines() for part in lines if part.startswith("| ")]
    assert len(grids) == 3 + (name != "rival")
    for grid in grids:
        widths = {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in grid}
        assert len(widths) == 1
        assert set(grid[1]) <= set("|-: ")


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    """A page or plot whose place is a file is an error for people."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be written"):
        write_page(tmp_path / "file" / "page.html", PLANTED[:2], ours="ours", command="")
    with pytest.raises(InputError, match="cannot be written"):
        write_plots(PLANTED[:2], tmp_path / "file", "ours")
