"""``milepost lab multilayer`` from the command line."""

import json

import pytest

pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("scipy", reason="needs the eval extra")

from click.testing import CliRunner

from milepost.console.options import Settings
from milepost_lab.multilayer import controls
from milepost_lab.multilayer.command import command as layers

pytestmark = pytest.mark.torch
SMALL = ("--datasets", "2", "--steps", "2", "--rank", "0")
PLACES = (("--place", "early"), ("--place", "nowhere"))


@pytest.fixture(autouse=True)
def short_pretraining(monkeypatch):
    monkeypatch.setattr(controls, "_SIZE", 500)
    controls._pretrained.cache_clear()
    yield
    controls._pretrained.cache_clear()


def run(*args, places=PLACES):
    result = CliRunner().invoke(
        layers,
        [*SMALL, *sum(places, ()), *args],
        obj=Settings(),
        standalone_mode=False,
        catch_exceptions=False,
    )
    assert result.return_value == 0
    return result


def test_a_row_a_design_and_every_comparison():
    lines = run().stdout.splitlines()
    assert lines[0].split() == ["design", "early", "nowhere", "cosine", "trained", "ms/text"]
    assert [line.split()[0] for line in lines[1:9]] == [
        "M1", "M2", "M3", "M4", "M5", "M5@random", "M5@nonsense", "M5@hierarchical",
    ]  # fmt: skip
    assert sum(line.startswith(("early:", "nowhere:")) for line in lines) == 12
    assert lines[-1] == "Mean reciprocal rank of 64; chance is 0.074."


def test_json_holds_every_trial_and_controls_change_no_other_row():
    given = ("--study", "crossed", "--seed", "3", "--json")
    first, again = (
        json.loads(run(*given, wanted, places=PLACES[:1]).stdout)
        for wanted in ("--controls", "--no-controls")
    )
    assert {one["dataset"] for one in first["trials"]} == {3, 4}
    assert len(again["trials"]) == 2 * 4
    assert len(first["trials"]) == 2 * 7
    first["trials"] = [one for one in first["trials"] if "@" not in one["design"]]
    for made in (first, again):
        for one in made["trials"]:
            del one["milliseconds"]
    assert first == again
    assert {one["design"] for one in first["comparisons"]} == {"M3 mean", "M5 last", "M5"}


def test_all_places_share_the_networks_of_a_dataset():
    run()
    assert controls._pretrained.cache_info().misses == 2 * 2


def test_the_names_it_offers_are_those_of_the_lab():
    from milepost_lab.multilayer.planted import PLACES
    from milepost_lab.multilayer.study import STUDIES

    offered = {option.name: option.type for option in layers.params}
    assert tuple(offered["study"].choices) == tuple(STUDIES)
    assert tuple(offered["places"].choices) == PLACES
