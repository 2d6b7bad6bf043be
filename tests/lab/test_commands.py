"""What all experiments share: torch is asked for, seeds have bounds, tables fit the terminal."""

import sys

import pytest
from click.testing import CliRunner

from milepost.console import columns as printed
from milepost.console.columns import columns
from milepost.console.options import Settings
from milepost.errors import MissingExtra
from milepost.lab.command import STUDIES, lab

TRAINING = {
    "compare": (),
    "layers": (),
    "rerank": (".",),
    "mixers": (),
    "fusion": (),
    "shapes": (),
    "search": (),
    "tokens": (),
    "stitch": (),
    "audit": ("--generated",),
}


@pytest.mark.parametrize("name", TRAINING)
def test_without_torch_the_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = CliRunner().invoke(lab, [name, *TRAINING[name]], obj=Settings(), standalone_mode=False)
    assert isinstance(result.exception, MissingExtra)
    assert "milepost[train]" in str(result.exception)


def test_no_seed_is_below_0():
    """NumPy's generators take none, and would say so after the first training."""
    for name in STUDIES:
        for option in lab.get_command(None, name).params:
            if option.name == "seed":
                assert option.type.min == 0, name


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
