"""Fixtures of the tests of all commands: a runner, real files, the shipped model."""

import inspect
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import Command
from click.testing import CliRunner, Result

from milepost.cli.console.options import Settings
from milepost.cli.program import program
from support.cli_process import command, environment
from support.small_index import write_notes

Cli = Callable[..., Result]
Process = Callable[..., "subprocess.CompletedProcess[bytes]"]

BEES = """Bees build cells of wax.

The queen lays the eggs, and the workers feed the young. A swarm leaves the hive in early summer.
Honey is kept for the winter in the upper combs.
"""
SHIPS = """# Harbours

A ship needs deep water. Tugs pull large ships to the quay.

# Sails

Canvas was woven from hemp. The mainsail carried 1,600 square feet of it.
"""


def invoked(command: Command, *args: object, **options: Any) -> Result:
    """Run a command without the program around it; options as ``CliRunner.invoke`` has them."""
    return CliRunner().invoke(command, [*map(str, args)], obj=Settings(), **options)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that the graph is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> None:
    """Give an empty current folder and an environment that says nothing."""
    for name in ("MILEPOST_DB", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MILEPOST_CACHE", str(cache))
    (cache / "known.sqlite").unlink(missing_ok=True)  # each test reads its own files
    monkeypatch.setenv("TERM", "xterm-256color")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)


@pytest.fixture(scope="session")
def usual_model(model: list[str]) -> list[str]:
    """The model of a command that names none."""
    return [] if "landmark-light" in model else model


@pytest.fixture(scope="session")
def model(model: list[str]) -> list[str]:
    """The light model, a third of the work, where the machine names none."""
    return model or ["--model", "landmark-light"]


@pytest.fixture
def cli() -> Cli:
    """Run a command in this process; stdout and stderr apart."""
    # click 8.1 mixes them unless told not to; later ones do not know the word.
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}

    def run(*args: object, **options: object) -> Result:
        return CliRunner(**apart).invoke(program, [str(arg) for arg in args], **options)

    return run


@pytest.fixture
def refusal(cli: Cli) -> Callable[..., str]:
    """Run a command that is refused: exit code 2 and one line on stderr, which is returned."""

    def run(*args: object, **options: object) -> str:
        result = cli(*args, **options)
        assert (result.exit_code, result.stdout) == (2, ""), result.output
        assert result.stderr.count("\n") == 1, result.stderr
        return result.stderr

    return run


@pytest.fixture
def process() -> Process:
    def run(*args: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command(*args), capture_output=True, env=environment(), **options)

    return run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The three texts, to be changed."""
    return write_notes(tmp_path / "notes", BEES, SHIPS)


@pytest.fixture
def own_db(cli: Cli, model: list[str], notes: Path, tmp_path: Path) -> Path:
    """An index of the three texts, to be changed."""
    folder = tmp_path / "db"
    assert cli("index", notes, "--db", folder, *model).exit_code == 0
    return folder


@pytest.fixture(scope="session")
def same_notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three texts for all tests that only read them."""
    return write_notes(tmp_path_factory.mktemp("same") / "notes", BEES, SHIPS)


@pytest.fixture(scope="session")
def db(model: list[str], same_notes: Path, cache: Path) -> Path:
    """An index of these for all tests that only read it."""
    folder = same_notes.with_name("db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MILEPOST_CACHE", str(cache))
        args = ["index", str(same_notes), "--db", str(folder), *model]
        assert CliRunner().invoke(program, args).exit_code == 0
    return folder
