"""Terminals, pipes and signals; what ends or kills a process has one of its own."""

import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

import milepost
from support.cli_process import command, environment, started

pytest.importorskip("termios", reason="needs the terminals of Unix")

from support.files import write_files
from support.terminal import plain, run_on_terminal, start_on_terminal

ESCAPE = "\x1b"


def test_a_terminal_gets_colours_links_and_wrapped_lines(model, db, same_notes):
    code, shown = start_on_terminal("search", "What do bees build?", "--db", db, "-k", 1, *model)
    assert code == 0
    assert (same_notes / "bees.txt").as_uri() in shown
    assert "\x1b[1;4mBees" in shown
    assert max(map(len, plain(shown).splitlines())) <= 80


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(model, db, environ):
    code, shown = run_on_terminal("search", "bees", "--db", db, *model, **environ)
    assert code == 0
    assert ESCAPE not in shown


def test_force_color_and_the_option_win(cli, model, db, monkeypatch):
    args = ["search", "bees", "--db", db, *model]
    assert ESCAPE not in cli(*args, color=True).stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    coloured = cli(*args, color=True).stdout
    assert ESCAPE in coloured
    assert "]8;" not in coloured  # a link is for those who can click
    assert ESCAPE not in cli(*args, "--color", "never", color=True).stdout
    monkeypatch.delenv("FORCE_COLOR")
    assert ESCAPE not in cli(*args, color=True).stdout
    assert ESCAPE in cli(*args, "--color=always", color=True).stdout


def test_the_bar_shows_speed_and_time_left(model, notes, tmp_path):
    text = "".join(f"Line {n} of the long report is about bees. " for n in range(400))
    (notes / "long.txt").write_text(text, encoding="utf-8")
    code, shown = run_on_terminal("index", notes, "--db", tmp_path / "new", *model)
    assert code == 0
    assert "sentences/s" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)
    code, shown = run_on_terminal("index", notes, "--db", tmp_path / "two", "--quiet", *model)
    assert (code, shown) == (0, "")


def test_pipes_of_an_ascii_locale_get_results_and_nothing_else(process, model, notes, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    (notes / "bees.txt").write_text("Bienen bauen Zellen für Brut – aus Wachs.", encoding="utf-8")
    result = process("search", "Bienen", notes / "bees.txt", *model)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode().startswith(f"{notes / 'bees.txt'}:1: Bienen bauen")
    assert b"f\\xfcr" in result.stdout
    result = process("search", "Bienen", notes / "bees.txt", "--json", *model)
    assert (result.returncode, result.stderr) == (0, b"")
    assert "für Brut – aus".encode() in result.stdout


def test_escape_sequences_of_a_document_do_not_reach_the_terminal(cli, model, notes):
    evil = "Bees \x1b]0;owned build \x9b31m cells, and nobody steers the terminal with it. " * 3
    (notes / "evil.txt").write_text(evil, encoding="utf-8")
    result = cli("search", "bees", notes / "evil.txt", *model, color=True)
    assert ESCAPE not in result.stdout
    assert "\x9b" not in result.stdout
    assert "␛]0;owned" in result.stdout


def test_a_reader_that_leaves_ends_the_command_quietly(model, notes):
    text = "".join(f"Line {n} is about bees. " for n in range(300))
    (notes / "long.txt").write_text(text, encoding="utf-8")
    with started(command("encode", notes / "long.txt", "--json", *model)) as process:
        process.stdout.close()  # the JSON is larger than any pipe holds
        assert process.stderr.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize(("closed", "code"), [("stdout", 2), ("stderr", 0)])
def test_a_full_disk_under_a_stream(model, closed, code):
    """Results that are lost are an error; notes that are lost are not."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("wb") as full:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: full}
        args = ["ask", "bees", "-", *model]  # it says that there is no language model
        result = subprocess.run(
            command(*args), input=b"Bees build cells.", env=environment(), **pipes
        )
    assert result.returncode == code
    expected = b"standard output: No space left" if closed == "stdout" else b"Bees build cells."
    assert expected in (result.stderr or result.stdout).splitlines()[-1]


def test_a_command_runs_with_all_streams_closed(model, notes, tmp_path):
    db = tmp_path / "db"
    line = shlex.join(command("index", notes, "--db", db, "-q", *model))
    subprocess.run(["sh", "-c", f"{line} <&- >&- 2>&-"], check=True, env=environment())
    assert db.is_dir()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_results_for_a_closed_stream_are_lost(model, db, more):
    line = shlex.join(command("search", "bees", "--db", db, "-q", *more, *model))
    asked = subprocess.run(["sh", "-c", f"{line} >&-"], capture_output=True, env=environment())
    assert asked.returncode == 2
    assert asked.stderr.startswith(b"milepost: standard output: closed; try: ")
    assert asked.stderr.count(b"\n") == 1


def test_ctrl_c_keeps_what_was_indexed(model, tmp_path):
    text = "".join(f"Line {n} of a report that takes long to read. " for n in range(20_000))
    folder = write_files(tmp_path / "texts", {"a.txt": "Bees build cells.", "b.txt": text})
    db = tmp_path / "db"
    process = started(command("index", folder, "--db", db, *model))
    named = model[-1] if model else None
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with milepost.open(db, model=named, create=False, read_only=True) as index:
                if index.documents():
                    break
        except milepost.MilepostError:  # it is not there yet
            pass
        time.sleep(0.05)
    time.sleep(0.5)  # into the second document
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err == (
        f"milepost: interrupted; 1 document saved in {db}; run the same command to continue\n"
    )
    with milepost.open(db, model=named, create=False) as index:
        assert index.document(str(folder / "a.txt")).text == "Bees build cells."
        assert [info.name for info in index.documents()] == [str(folder / "a.txt")]
