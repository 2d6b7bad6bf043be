"""Windows, units and context, and every experiment in a tiny setting."""

from itertools import pairwise

import pytest

from milepost.errors import InputError
from milepost.testing import fake_encoder
from milepost.types import Document
from milepost_lab.landmark import study
from milepost_lab.landmark.model import Reader, evidence_found, spent, with_context
from milepost_lab.landmark.study import EXPERIMENTS, Figure, command, table_of
from support.landmark_collections import write_task

TEXT = "Bees build cells of wax. The queen lays the eggs of the hive. Drones leave early."


def test_context_is_the_nearest_first_and_ends_with_the_text():
    assert with_context(4, 2, "front", 10) == [4, 3, 2]
    assert with_context(4, 4, "both-sides", 10) == [4, 3, 5, 2, 6]
    assert with_context(0, 2, "front", 10) == [0]
    spans = [(n, n + 1) for n in range(5)]
    assert list(spent([2, 1], spans, 2, "front")) == [(2, 3), (1, 2), (0, 1)]


def test_evidence_is_counted_in_characters_up_to_the_budget():
    returned = [(0, 10), (20, 30)]
    assert evidence_found(iter(returned), [(5, 10), (20, 25)], 100) == 1
    assert evidence_found(iter(returned), [(5, 10), (20, 25)], 12) == pytest.approx(0.7)


def test_units_of_some_tokens_tile_the_text_at_words():
    reader = Reader.like(fake_encoder())
    spans = reader.every(TEXT, 4)
    assert spans[0][0] == 0
    assert spans[-1][1] == len(TEXT)
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    reading = reader.read(Document("bees", TEXT), spans)
    assert len(reading.vectors) == len(spans)


def test_distances_to_edges():
    whole = Reader.like(fake_encoder()).read(Document("bees", TEXT))
    assert whole.edges() == [None] * 3  # one window: no edge
    assert whole.touched([(30, 35)]).tolist() == [1]


def test_rows_are_compared_on_the_same_questions():
    figures = [
        Figure("a", "all", "d1", "q1", 0.0),
        Figure("a", "all", "d2", "q2", 1.0),
        Figure("b", "all", "d1", "q1", 1.0),
        Figure("b", "all", "d2", "q2", 1.0),
    ]
    first, second = table_of(figures)
    assert first["over a"] is None
    assert second["over a"].mean == 0.5


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_runs(name, run_study, tmp_path, monkeypatch):
    monkeypatch.setattr("milepost.load", lambda model: fake_encoder())
    monkeypatch.setattr(study, "WINDOWS", ((256, 0, 0),))
    monkeypatch.setattr(study, "TOKENS", (32,))
    rows = run_study(command, name, write_task(tmp_path / "small"))["rows"]
    assert all(row["questions"] for row in rows)


def test_an_unknown_experiment_is_named(run_study, tmp_path):
    with pytest.raises(InputError, match="unknown experiment"):
        run_study(command, "edges", write_task(tmp_path / "small"))
