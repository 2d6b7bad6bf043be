"""A pooling explained."""

import json

import numpy as np
import pytest

from milepost_lab.data.network import TokenReader
from milepost_lab.pooling import get, names
from milepost_lab.show.study import as_svg, command, picture
from support.cli_fixtures import invoked


def run(*args):
    result = invoked(command, *args, standalone_mode=False)
    assert result.exception is None, result.exception
    return result.stdout


@pytest.mark.parametrize("name", names())
def test_every_pooling_is_explained(name):
    found = run(name)
    assert found.startswith(f"{name}: ")
    assert names()[name].equation in found


def test_shares_add_up_and_the_first_state_counts_for_cls():
    reader = TokenReader.open("minilm")
    for name in ("mean", "lmk", "query-top-k", "layer-mean", "tokens"):
        shares = [share for _, share in picture(get(name), reader, "Bees fly. Ships sail.", "Who?")]
        assert sum(shares) == pytest.approx(1)
    first = picture(get("cls"), reader, "Bees fly.", "Who?")
    assert first[0] == ("[CLS]", pytest.approx(1))
    assert "Bees" in as_svg([("Bees", 1.0), ("##es", 0.0)], "a < b")
    assert "a &lt; b" in as_svg([], "a < b")


def test_a_picture_is_written_and_counts_are_in_the_record(tmp_path):
    file = tmp_path / "weights.svg"
    found = json.loads(run("max", "Bees fly.", "--out", file, "--json"))
    assert file.read_text().startswith("<svg")
    assert np.isclose(sum(share for _, share in found["counts"]), 1, atol=1e-3)
