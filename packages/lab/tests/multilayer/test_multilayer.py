"""The five designs, their loss by hand (facts page 01), and the study."""

import pytest
import torch

from milepost_lab.data.pairs import read_pairs
from milepost_lab.multilayer import study
from milepost_lab.multilayer.model import DESIGNS, PAIRS, Reading, contrast


def test_7_the_loss():
    queries, passages = torch.eye(2), torch.eye(2)
    assert contrast(queries, passages).item() == pytest.approx(2.061153e-9, abs=1e-8)


@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_gives_unit_vectors_and_reads_no_padding(name):
    reading = Reading(DESIGNS[name], 3, 8, 0)
    texts = [torch.randn(5, 3, 8), torch.randn(2, 3, 8)]
    both = reading(texts)
    torch.testing.assert_close(both.norm(dim=1), torch.ones(2))
    torch.testing.assert_close(reading(texts[1:]), both[1:], rtol=1e-4, atol=1e-5)


def test_designs_without_all_layers_read_the_last():
    texts = [torch.randn(4, 3, 8)]
    other = [torch.cat([torch.randn(4, 2, 8), texts[0][:, 2:]], 1)]
    for name, design in DESIGNS.items():
        reading = Reading(design, 3, 8, 0)
        assert torch.allclose(reading(texts), reading(other)) != design.every_layer, name


def test_the_study_runs(run_study, monkeypatch):
    monkeypatch.setattr(study, "RATES", (1e-3,))
    few = read_pairs(None, 8, 4)
    monkeypatch.setattr(study, "read_pairs", lambda data, most: few)
    found = run_study(study.command, "--pairs", 8, "--steps", 1, "--longest", 8)
    names = [row["design"] for row in found["rows"]]
    assert names == [*DESIGNS, *(f"{a} - {b}" for a, b in PAIRS)]
    assert list(found["rows"][0]) == ["design", "nDCG@10", "p, Holm", "weights"]
