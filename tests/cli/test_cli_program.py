"""The door: errors of one line, exit codes, what is imported."""

from unittest.mock import Mock

import pytest

import milepost
from milepost.errors import MilepostError
from support.cli_process import loaded

HEAVY = ("numpy", "torch", "openvino", "rich", "rich.progress", "pypdfium2", "milepost.index")


@pytest.mark.parametrize(
    "args",
    [
        ["serch", "x"],
        ["search", "x", "-k", "0"],
        ["index"],
        ["search", "x", "--budget", "1600x", "a.txt"],
        ["search", "x", "a", "--db", "b"],
        ["--nonsense"],
    ],
)
def test_wrong_usage_is_one_line(refusal, args):
    said = refusal(*args)
    assert said.startswith("milepost: ")
    assert "; " in said


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("version", "milepost --version"),
        ("help", "milepost --help"),
        ("serch", "'search', or milepost --help"),
        ("mpc", "'mcp', or milepost --help"),
        ("upgrade", "milepost --help"),
        ("delete", "milepost --help"),
    ],
)
def test_an_unknown_command_is_told_what_is_meant(refusal, name, hint):
    assert refusal(name).rstrip() == f"milepost: unknown command '{name}'; try: {hint}"


def test_no_command_shows_the_help(cli):
    result = cli()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Exit codes" in result.stderr


def test_version(cli):
    assert cli("--version").stdout == f"milepost {milepost.__version__}\n"


def test_debug_shows_the_traceback(cli, tmp_path):
    plain = cli("info", "--model", tmp_path / "none")
    debug = cli("info", "--model", tmp_path / "none", "--debug")
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr
    assert debug.stderr.endswith(plain.stderr)
    assert plain.exit_code == debug.exit_code == 2


@pytest.mark.parametrize(
    ("error", "bug"), [(ZeroDivisionError("division by zero"), True), (MemoryError(), False)]
)
def test_an_unexpected_error_is_one_line(refusal, monkeypatch, error, bug):
    monkeypatch.setattr("milepost.encoder.engine.shipped_models", Mock(side_effect=error))
    said = refusal("models")
    assert ("unexpected ZeroDivisionError" in said) == ("--debug" in said) == bug
    assert ("free some memory" in said) != bug


def test_an_error_of_several_lines_is_folded(cli, monkeypatch):
    broken = MilepostError("two\nlines \x1b[31m", "mend")
    monkeypatch.setattr("milepost.encoder.engine.shipped_models", Mock(side_effect=broken))
    assert cli("models").stderr == "milepost: two lines ␛[31m; try: mend\n"


@pytest.mark.parametrize(
    ("command", "place"), [("models", "encoder.engine.shipped_models"), ("doctor", "encoder.load")]
)
def test_ctrl_c_behind_another_error_is_still_ctrl_c(cli, monkeypatch, command, place):
    """An extension interrupted while it loads raises ImportError; that is no fault of ours."""
    hidden = ImportError("initialization failed")
    hidden.__cause__ = KeyboardInterrupt()
    monkeypatch.setattr(f"milepost.{place}", Mock(side_effect=hidden))
    result = cli(command)
    assert (result.exit_code, result.stderr) == (130, "milepost: interrupted\n")


def running(*args: str) -> str:
    """Code that runs a command."""
    return (
        "from milepost.cli.program import program\n"
        f"try: program.main({list(args)!r})\nexcept SystemExit as end: assert end.code == 0"
    )


@pytest.mark.parametrize("args", [["--help"], ["search", "--help"], ["--version"]])
def test_nothing_heavy_is_imported_before_it_is_needed(args):
    assert not set(HEAVY) & loaded(running(*args))


def test_a_cached_search_loads_no_reader(model, cli, notes):
    args = ["search", "bees", str(notes / "bees.txt"), *model]
    cli(*args)
    avoided = {"rich.progress", "rich.table", "markdown_it", "pathspec"}
    avoided |= {"pypdfium2", "docx", "selectolax", "nupunkt", "torch"}
    avoided |= {"milepost.checking", "numpy.ma", "snowballstemmer.turkish_stemmer"}
    assert not avoided & loaded(running(*args))


def test_a_search_imports_no_other_command():
    code = (
        "from milepost.cli.program import program; "
        "program.get_command(None, 'search'); import milepost.index, milepost.encoder.reranker"
    )
    others = ("milepost_lab", "milepost_train", "milepost_eval", "importlib.metadata")
    assert not [name for name in loaded(code) if name.startswith(others)]
