"""The code of a pooling of others, by whose hash runs are kept."""

from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="needs the train extra")

from torch import nn  # noqa: E402

from milepost_lab import pooling  # noqa: E402
from milepost_lab.pooling import registry  # noqa: E402
from milepost_lab.pooling.code import run_code  # noqa: E402
from milepost_lab.pooling.registry import source_of  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})


class Gated(nn.Module):
    def __init__(self, width, hidden=6):
        super().__init__()


class Slots(Gated):
    pass


def built(kind, width, hidden=1):
    return kind(width, hidden)


def test_code_that_changed_is_another_pooling():
    assert source_of(pooling.names()["mean"]) == ""
    one, other = (source_of(pooling.register("mine", make)) for make in (Gated, Slots))
    assert one != other
    assert source_of(pooling.register("mine", Gated)) == one


LAYERED = """
from functools import partial

from torch import nn

from milepost_lab import pooling

SCALE = 2.0

class Base(nn.Module):
    def __init__(self, width, scale=SCALE):
        super().__init__()
        self.scale = scale

class Total(Base):
    def forward(self, states, mask):
        return self.scale * states.masked_fill(~mask[..., None], 0).sum(1)

class Factory:
    def __call__(self, width):
        return Total(width)

def made(kind, width, scale=1.0):
    return kind(width, scale)

pooling.register("total", Total)
pooling.register("part", partial(partial(made, Total), scale=3.0))
pooling.register("object", Factory())
"""
MINE = ("total", "part", "object")


def test_code_is_all_of_its_file(tmp_path):
    """A base class and a constant count; where a process keeps an object does not."""
    file = tmp_path / "mine.py"

    def told(text=LAYERED):
        file.write_text(text)
        run_code(file)
        return [source_of(pooling.get(name).operator) for name in MINE]

    first = told()
    assert len(set(first)) == 3
    assert told() == first
    for old, new in (("SCALE = 2.0", "SCALE = 4.0"), ("= scale\n", "= scale + 1\n")):
        changed = told(LAYERED.replace(old, new))
        assert not set(changed) & set(first)


def test_the_arguments_of_a_partial_function_are_code():
    """Values by what they are, classes by name, other objects by their class."""

    def source(*given, **settings):
        return source_of(pooling.register("mine", partial(built, *given, **settings)))

    assert source(Gated, hidden=2) == source(Gated, hidden=2)
    objects = [source([nn.Tanh()]), source([nn.ReLU()]), source([nn.Tanh()])]
    assert objects[0] == objects[2]
    others = [source(Slots, hidden=2), source(Gated, hidden=3), source(Gated), *objects[:2]]
    assert len({source(Gated, hidden=2), *others}) == 6


def test_a_file_that_is_edited_later_does_not_change_what_was_registered(tmp_path):
    """A long comparison must not keep runs of the old code under the hash of the new one."""
    file = tmp_path / "mine.py"
    file.write_text(LAYERED)
    run_code(file)
    row = pooling.get("total").operator
    before = source_of(row)
    file.write_text(LAYERED + "# edited")
    assert source_of(row) == before
