"""Rows, scores and the comparison of every pooling in a tiny setting."""

import pytest
import torch

from milepost.errors import InputError
from milepost_lab.compare import study
from milepost_lab.compare.model import Retriever, Texts, read_arm
from milepost_lab.pooling import names


def test_rows_are_read():
    arm = read_arm("ggem:groups=4:form=signed@random")
    assert arm.random
    assert (arm.settings["groups"], arm.settings["form"]) == (4, "signed")
    assert read_arm("hierarchy:placement=2-1").settings["placement"] == (2, 1)
    assert read_arm("ggem:learn=false").settings["learn"] is False
    for text, message in (
        ("meen", "unknown pooling"),
        ("mean@other", "unknown network"),
        ("ggem:groups=x", "groups=x"),
        ("ggem:group=2", "no setting"),
    ):
        with pytest.raises(InputError, match=message):
            read_arm(text)


def texts(count, layers, seed):
    torch.manual_seed(seed)
    shape = (layers, 16) if layers else (16,)
    states = [torch.randn(3 + n % 3, *shape) for n in range(count)]
    return Texts(states, [[0, 0, 1, 1, 2][: len(each)] for each in states])


@pytest.mark.parametrize("name", names())
def test_every_pooling_ranks_alike_in_tiles_and_at_once(name):
    arm = read_arm(name)
    layers = 3 if "layers" in arm.row.needs else 0
    made = Retriever(arm, 16, layers or 1, 0).eval()
    queries, passages = texts(5, layers, 0), texts(7, layers, 1)
    whole, tiles = (made.ranking(queries, passages, size) for size in (32, 2))
    torch.testing.assert_close(torch.tensor(tiles), torch.tensor(whole), rtol=1e-3, atol=1e-4)
    assert whole.shape == (5, 7)
    assert torch.isfinite(made.loss(queries, passages.some(range(5))))


def test_a_text_is_nearest_to_itself():
    made = Retriever(read_arm("mean"), 16, 1, 0)
    some = texts(6, 0, 2)
    assert made.ranking(some, some).argmax(1).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_study_runs(run_study, monkeypatch):
    monkeypatch.setattr(study, "RATES", (1e-3,))
    pools = "mean@random,lmk,query-top-k,layer-mean,tokens,fixed-encoding"
    args = ("--pool", pools, "--train", 10, "--test", 6, "--steps", 1, "--longest", 12)
    found = run_study(study.command, *args)
    assert {row["pooling"] for row in found["rows"]} == {"mean", *pools.split(",")}
    base = next(row for row in found["rows"] if row["pooling"] == "mean")
    assert base["over mean"] is None
