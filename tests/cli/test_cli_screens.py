"""What a screen of 80 x 24 shows: the answer first, never more than a screen, readable colours."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from milepost.cli.console.layout import wrapped

pytest.importorskip("termios", reason="needs the terminals of Unix")

from support.files import write_files
from support.terminal import plain, run_on_terminal, settled, start_on_terminal

ROWS = 24


def rows(shown: str) -> list[str]:
    lines = plain(settled(shown)).replace("\r\n", "\n").rpartition("\n")[0].split("\n")
    lines = [line.rpartition("\r")[2] for line in lines]
    return [line[at : at + 80] for line in lines for at in range(0, max(1, len(line)), 80)]


@pytest.fixture
def bees(tmp_path: Path) -> Path:
    dull = "They do it well, and in the dark. " * 9
    files = {f"{n}.txt": f"Bees {n} build cells of wax. {dull}" for n in range(30)}
    return write_files(tmp_path / "bees", files)


@pytest.mark.parametrize("more", [[], ["-k", 20], ["-k", 20, "--min-score", 0.001]])
def test_a_screen_is_never_longer_than_the_terminal(bees: Path, model, more) -> None:
    code, shown = run_on_terminal("search", "What do bees build?", bees, *more, *model)
    lines = rows(shown)
    assert code == 0
    assert len(lines) < ROWS
    assert lines[1].startswith("   Bees")
    assert "cells of wax." in lines[1]
    if "-k" in more:
        assert re.fullmatch(r"\d+ (weaker|more) results?: --all", lines[-1])


def test_more_than_a_screen_goes_to_the_pager(bees: Path, model, monkeypatch) -> None:
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    asked = "search", "What do bees build?", bees, *model
    code, shown = start_on_terminal(*asked, "-k", 20, "--all", "--full")
    assert code == 0
    assert plain(shown).count("paged:") >= ROWS
    assert "paged:" not in start_on_terminal(*asked, "-k", 1, "--full")[1]
    monkeypatch.setenv("TERM", "dumb")
    assert "paged:" not in start_on_terminal(*asked, "-k", 20, "--all", "--full")[1]


def test_the_answer_is_marked_in_every_pager(bees: Path, model, monkeypatch) -> None:
    monkeypatch.setenv("PAGER", "sh -c 'echo less has $LESS; cat'")
    monkeypatch.setenv("LESS", "-FX")
    asked = "search", "What do bees build?", bees, *model, "-k", 20, "--all", "--full"
    shown = start_on_terminal(*asked)[1]
    assert re.search(r"less has -R ?-FX\r?\n", shown)
    assert "\x1b[1m cells of wax.\x1b[0m" in shown
    plain_text = start_on_terminal(*asked, "--color", "never")[1]
    assert "»Bees" in plain_text
    assert "\x1b[1m" not in plain_text


def test_weak_results_are_counted_and_shown_if_all_are(cli, model, db) -> None:
    asked = "search", "Who repairs trams in Lisbon?", "--db", db, *model
    lines = rows(run_on_terminal(*asked)[1])
    assert "related, but probably not an answer" in lines[0]
    assert [line for line in lines if re.fullmatch(r"\d weaker results?: --all", line)]
    piped = cli(*asked)
    assert piped.stdout.count("\n") == 1
    assert re.search(r"milepost: \d weaker results?: --all\n", piped.stderr)
    assert cli(*asked, "--all").stdout.count("\n") > 1
    assert cli(*asked, "--min-score", "0.0001").stdout.count("\n") > 1


def test_the_answer_is_marked_without_colours(cli, model, db) -> None:
    asked = "search", "What do bees build?", "--db", db, "-k", 1, *model
    answer = "»Bees build cells of wax.«"
    assert answer in run_on_terminal(*asked, NO_COLOR="1")[1]
    assert answer in cli(*asked, "--full").stdout
    assert "»" not in run_on_terminal(*asked)[1]


def test_a_list_item_is_shown_with_its_lead_in(cli, model, tmp_path) -> None:
    path = tmp_path / "rules.txt"
    path.write_text("Not allowed are:\n\n- smoking in bed\n- dogs and cats\n", encoding="utf-8")
    asked = "search", "dogs and cats", path, "-k", 1, *model
    assert cli(*asked).stdout.endswith(": - dogs and cats (Not allowed are:)\n")
    lines = [line.strip() for line in rows(run_on_terminal(*asked, NO_COLOR="1")[1])]
    at = lines.index("»- dogs and cats«")
    assert lines[at - 1] == "Not allowed are:"


def test_context_is_what_is_asked_for(cli, model, db) -> None:
    asked = "search", "Who lays the eggs?", "--db", db, "-k", 1, *model
    alone, one = (cli(*asked, "-C", n).stdout for n in (0, 1))
    assert alone.count("\n") == 2
    text = " ".join(one.split())
    assert text.index("wax.") < text.index("»The queen lays") < text.index("A swarm leaves")


def test_notes_have_the_words_of_the_user(cli, model, db) -> None:
    result = cli("search", "¿Cuánto cost footballs for bees?", "--db", db, "--top-k", 1, *model)
    assert "not in the text: Cuánto, cost, footballs" in result.stderr


@pytest.mark.parametrize("columns", [30, 80])
def test_long_words_are_wrapped(columns: int, tmp_path: Path, model) -> None:
    path = tmp_path / "long.txt"
    path.write_text(f"Bees build {'x' * 300}.", encoding="utf-8")
    shown = run_on_terminal("search", "What do bees build?", path, *model, columns=columns)[1]
    assert "long.txt" in plain(shown)
    assert max(len(line.rstrip("\r")) for line in plain(settled(shown)).split("\n")) <= columns


def test_many_places_of_a_quotation_fit_a_screen(bees: Path, model) -> None:
    lines = rows(run_on_terminal("check", bees, "cells of wax", *model)[1])
    assert len(lines) < ROWS
    assert lines[0] == "verbatim"
    assert re.fullmatch(r"\d+ more places: --all", lines[-1])


@given(st.text("ab ü東", max_size=200), st.integers(12, 40))
def test_cut_texts_end_between_words(words: str, columns: int) -> None:
    lines = wrapped(Text(words), Console(width=columns), columns, most=1)
    if lines and lines[0].plain.endswith("…"):
        kept = lines[0].plain.removesuffix("…").split()
        assert lines[0].cell_len <= columns
        assert len(kept) <= 1 or kept == words.split()[: len(kept)]
