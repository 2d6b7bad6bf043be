"""What the studies share: the check for torch, bounds of seeds, tables that fit the terminal."""

import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from milepost.console import columns as printed
from milepost.console.columns import columns
from milepost.console.options import Settings
from milepost.errors import MissingExtra
from milepost_lab.command import STUDIES, lab
from support.cli_process import environment

TRAINING = {
    "compare": (),
    "lmk": (),
    "multilayer": (),
    "xpool": (".",),
    "ponet": (),
    "bilinear": (),
    "p2at": (),
    "ggem": (),
    "supernet": (),
    "tokens": ("words",),
    "stitch": (),
    "cet": ("--generated",),
    "quality": ("layers", "texts.jsonl", "--network", "net"),
}


@pytest.mark.parametrize("name", TRAINING)
def test_without_torch_the_package_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = CliRunner().invoke(lab, [name, *TRAINING[name]], obj=Settings(), standalone_mode=False)
    assert isinstance(result.exception, MissingExtra)
    assert "pip install ./packages/lab" in str(result.exception)


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
from milepost.cli import main; main()
"""


def without(names, *args):
    """A process of the command line in which some libraries cannot be imported."""
    code = BLOCKED.format(names=names)
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        encoding="utf-8",
        env=environment(),
    )


@pytest.mark.parametrize("name", ["lmk", "layer-mix", "wordpool", "xpool"])
def test_an_operator_is_shown_on_the_base_install(name):
    """NumPy is enough for words, numbers and an example; a note says what a picture needs."""
    done = without(("torch", "scipy", "matplotlib"), "lab", "show", name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{name}: ")
    assert "\n  vectors\n" in done.stdout
    assert re.fullmatch(r"milepost: no picture: .*pip install \./packages/lab\n", done.stderr)


def test_a_picture_that_was_asked_for_names_the_extra():
    done = without(("torch",), "lab", "show", "mean", "Some text.")
    assert done.returncode == 2
    assert re.fullmatch(r"milepost: .*torch.*pip install \./packages/lab\n", done.stderr)


def test_the_table_of_studies_says_what_they_say():
    """A study that is listed without being imported has the name and help of the real one."""
    for name, (_, text) in lab.table.items():
        command = lab.get_command(None, name)
        assert command.name == name
        assert command.get_short_help_str(200) == text.rstrip(".") + "."


def commands(group):
    """All commands below a group."""
    for name in group.list_commands(None):
        below = group.get_command(None, name)
        yield from commands(below) if isinstance(below, click.Group) else [below]


def test_no_seed_is_below_0():
    """NumPy's generators refuse negative seeds, but only after the first training."""
    found = [option for each in commands(lab) for option in each.params if option.name == "seed"]
    assert len(found) > len(STUDIES) // 2
    assert all(option.type.min == 0 for option in found)


def test_a_narrow_terminal_gets_the_first_column_above_the_others(monkeypatch):
    rows = [("a long name", "1", "2"), ("b", "10", "20")]
    wide = ["name          x   y", "a long name   1   2", "b            10  20"]
    assert list(columns(("name", "x", "y"), rows)) == wide
    monkeypatch.setattr(printed, "width", lambda _: 19)
    assert list(columns(("name", "x", "y"), rows)) == wide
    monkeypatch.setattr(printed, "width", lambda _: 18)
    narrow = ["name", "   x   y", "a long name", "   1   2", "b", "  10  20"]
    assert list(columns(("name", "x", "y"), rows)) == narrow


def test_names_that_steer_a_terminal_are_made_visible():
    assert list(columns(("", "n"), [("\x1b[2J", "1")]))[1] == "␛[2J  1"


def test_the_tests_of_studies_carry_their_marker(request):
    """The quick suite leaves them out."""
    assert request.node.get_closest_marker("lab")
