"""Each of the lab's papers has a card that tests its claim, and the overview says the same."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from milepost.cli.program import program

ROOT = Path(__file__).resolve().parents[4]
DOCS = ROOT / "docs"
if not (DOCS / "pooling.md").is_file():
    pytest.skip("needs the checkout", allow_module_level=True)

HEADING = "## The claim, tested"
FIELDS = ["Claim", "What was run", "Effect", "Minimum detectable effect", "Verdict"]
VERDICTS = {"supported", "contradicted", "not decided", "not tested"}
OTHERS = {"plain", "newer", "late-interaction"}
"""Pages of docs/pooling that hold several papers, or none, and have no card."""

OVERVIEW = (DOCS / "pooling.md").read_text(encoding="utf-8").split("## What the papers claim")[1]
ROWS = {
    link: (paper, effect, interval, verdict)
    for link, paper, effect, interval, verdict in re.findall(
        r"^\| \[.+?\]\((.+?)#the-claim-tested\), (\S+) \| .+? \| (.+?) \| (.+?) \| `(.+?)` \|$",
        OVERVIEW.partition("\n## ")[0],
        re.MULTILINE,
    )
}
"""Page → the paper's number, effect, interval and verdict in the overview."""

INTERVAL = re.compile(r"([+-]?\d+\.\d+) to ([+-]?\d+\.\d+)")
PAGES = sorted(ROWS)


def card(page: str) -> dict[str, str]:
    """The fields of a page's card, each on one line."""
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text.count(f"\n{HEADING}\n") == 1, f"{page} has one card"
    body = text.split(f"\n{HEADING}\n")[1].partition("\n## ")[0]
    found = re.findall(r"^- \*\*(.+?)\.\*\* (.+?)(?=^- \*\*|\Z)", body, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in found] == FIELDS, f"{page}: the five fields, in this order"
    return {name: " ".join(said.split()) for name, said in found}


def test_every_paper_has_a_card_and_a_row():
    """Fifteen papers: a page each, and the two that are measured on pages of results."""
    pages = {f"pooling/{page.name}" for page in (DOCS / "pooling").glob("*.md")}
    owned = pages - {f"pooling/{name}.md" for name in OTHERS}
    assert set(ROWS) == owned | {"results-lmk.md", "results-stages.md"}
    assert len({paper for paper, *_ in ROWS.values()}) == 15


@pytest.mark.parametrize("page", PAGES)
def test_the_card_is_near_the_top(page: str):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert re.findall(r"^## .+$", text, re.MULTILINE)[0] == HEADING


@pytest.mark.parametrize("page", PAGES)
def test_card_and_overview_agree(page: str):
    """In the paper's number, the effect, its interval and the verdict."""
    paper, effect, interval, verdict = ROWS[page]
    fields = card(page)
    assert f"arXiv {paper}" in fields["Claim"]
    assert fields["Verdict"].startswith(f"`{verdict}`: ")
    if number := re.match(r"[+-]?\d+(\.\d+)?", effect):
        assert number[0] in fields["Effect"]
    if found := INTERVAL.search(interval):
        assert found[0] in fields["Effect"]
    else:
        assert interval.startswith("none: ")
        assert "none: " in fields["Effect"]
    if "one seed" in interval:
        assert "one seed" in fields["Effect"]


@pytest.mark.parametrize("page", PAGES)
def test_the_verdict_follows_the_rules(page: str):
    """As far as interval and minimum detectable effect bind it."""
    _, _, interval, verdict = ROWS[page]
    assert verdict in VERDICTS
    found = INTERVAL.search(interval)
    if found is None or "one seed" in interval:
        assert verdict in {"not decided", "not tested"}
    elif verdict == "supported":
        low, high = map(float, found.groups())
        assert low > 0 or high < 0


@pytest.mark.parametrize("page", PAGES)
def test_the_minimum_detectable_effect_follows_from_the_interval(page: str):
    """1.43 times half of it; by the t distribution less, but never under half of it."""
    fields = card(page)
    said = fields["Minimum detectable effect"]
    found = INTERVAL.search(ROWS[page][2])
    if found is None:
        assert said.startswith("none: ")
        return
    low, high = map(float, found.groups())
    half = (high - low) / 2
    number = re.match(r"\d+\.(\d+)", said)
    assert number is not None
    last_place = 10.0 ** -len(number[1])
    if "t distribution" in said:
        assert half < float(number[0]) <= 1.43 * half + last_place
    else:
        assert float(number[0]) == pytest.approx(1.43 * half, abs=last_place)


@pytest.mark.parametrize("page", PAGES)
def test_the_command_that_repeats_the_figure_exists(page: str):
    """With each of its options; a script of bench is a file."""
    said = re.match(r"`(.+?)`", card(page)["What was run"])
    assert said is not None, "the field begins with the command"
    name, *words = shlex.split(said[1])
    if name == "python":
        assert (ROOT / words[0]).is_file()
        return
    assert (name, words[0]) == ("milepost", "lab")
    command: click.Command = program
    while isinstance(command, click.Group):
        below = command.get_command(click.Context(command), words.pop(0))
        assert below is not None, said[1]
        command = below
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= options
