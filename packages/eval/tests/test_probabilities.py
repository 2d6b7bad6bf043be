"""Probabilities: each metric against its definition, its interval, and a run on a real index."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost_eval.cli.eval_show import show_records
from milepost_eval.probabilities import Said, calibration, of_probabilities, refused, told_apart
from milepost_eval.records import from_value, to_value
from milepost_eval.session import Session
from milepost_eval.statistics import interval
from support.files import write_lines

TENTHS = st.integers(0, 10).map(lambda tenth: tenth / 10)


def both(high, low):
    """Probabilities of questions that something answers and of others, and which are these."""
    return np.array([*high, *low]), np.array([False] * len(high) + [True] * len(low))


@given(st.lists(TENTHS, min_size=1, max_size=30), st.lists(TENTHS, min_size=1, max_size=30))
def test_against_all_pairs_and_every_limit(high, low):
    pairs = [(a > b) + (a == b) / 2 for a in high for b in low]
    assert told_apart(*both(high, low)).mean() == pytest.approx(np.mean(pairs))
    limits = [each for each in high if sum(a < each for a in high) <= len(high) // 10]
    share = np.mean([b < max(limits) for b in low])
    assert refused(*both(high, low)).mean() == pytest.approx(share)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(0, 4)), min_size=1))
def test_calibration_against_its_bins(rows):
    said, held, owner = map(np.array, zip(*rows, strict=True))
    bins = np.minimum(said * 10, 9).astype(int)
    gaps = [(said[bins == n] - held[bins == n]).sum() for n in range(10)]
    wanted = np.abs(gaps).sum() / len(rows)
    assert calibration(said, held, owner, 5).mean() == pytest.approx(wanted)


def test_by_hand():
    asked = [
        Said(0.9, ((0.95, True), (0.15, False)), absent=False),
        Said(0.4, ((0.45, False),), absent=False),
        Said(0.6, ((0.55, False), (0.05, False)), absent=True),
        Said(None, (), absent=True),
    ]
    found = {name: values.mean() for name, values in of_probabilities(asked).items()}
    assert found == pytest.approx({
        "auroc": 3 / 4,
        "refused@10": 1 / 2,
        "ece-question": (0.1 + 0.4 + 0.6 + 0.0) / 4,
        "ece-passage": (0.05 + 0.15 + 0.45 + 0.55 + 0.05) / 5,
    })  # fmt: skip
    assert set(of_probabilities(asked[:2])) == {"ece-question", "ece-passage"}
    unsure = [Said(None, each.passages, each.absent) for each in asked]
    assert set(of_probabilities(unsure)) == {"ece-passage"}
    assert of_probabilities([Said(None, (), absent=True)]) == {}


@pytest.mark.parametrize("metric", [told_apart, refused])
def test_the_interval_is_that_of_resampling_everything(metric):
    """Documents differ, and a draw changes the limit and both kinds of questions together."""
    random = np.random.default_rng(4)
    clusters = np.repeat(np.arange(60), 10)
    absent = random.random(600) < 0.4
    odds = random.normal(0, 1, 600) + random.normal(0, 0.5, 60)[clusters] + 1.3 * ~absent
    draws = []
    for _ in range(400):
        rows = np.concatenate([np.flatnonzero(clusters == n) for n in random.integers(0, 60, 60)])
        draws.append(metric(odds[rows], absent[rows]).mean())
    _, low, high = interval(metric(odds, absent).tolist(), [str(n) for n in clusters])
    wanted = np.quantile(draws, [0.025, 0.975])
    assert (low, high) == pytest.approx(wanted, abs=0.35 * (wanted[1] - wanted[0]))
    assert high - low == pytest.approx(wanted[1] - wanted[0], rel=0.25)


def test_a_run_on_a_real_index(tmp_path, capsys):
    texts = {
        "bees": "Bees build cells of wax. The queen lays the eggs.",
        "ships": "Ships carry grain to the harbour. Cranes lift the grain ashore.",
        "trains": "Trains leave at noon. The guard checks the tickets.",
    }
    rows = [{"id": name, "text": text} for name, text in texts.items()]
    rows += [
        {"document": "bees", "question": "Who lays the eggs?", "answer": "The queen"},
        {"document": "ships", "question": "What do cranes lift?", "answer": "the grain ashore"},
        {"document": "trains", "question": "Who checks tickets?", "answer": "The guard"},
        {"document": "bees", "question": "Which wasps paint marble statues?", "spans": []},
        {"document": "ships", "question": "How deep is the Baltic?", "spans": []},
    ]
    path = write_lines(tmp_path / "mine.jsonl", rows)
    session = Session(
        (str(path),),
        ("landmark", "bm25"),
        settings=("document", 2, "collection", 9),
        cache=tmp_path / "kept",
    )
    notes = []
    records = list(session.records(say=notes.append))
    assert ["9 documents" in note for note in notes] == [True]
    settings = ["document", "2 documents", "collection"]
    assert [each.setting for each in records] == [each for each in settings for _ in "ab"]
    for record in records[::2]:
        assert record.metrics["auroc"] == record.metrics["refused@10"] == 1.0
        assert 0 <= record.metrics["ece-question"] <= 1
        assert 0 <= record.metrics["ece-passage"] <= 1
        assert len(record.per_question.known("recall@800")[0]) == 3
        assert from_value(json.loads(json.dumps(to_value(record))), "").questions == 5
    assert not {"auroc", "ece-passage"} & records[1].metrics.keys()
    show_records(records, None)
    table = capsys.readouterr().out.rpartition("ece-passage")[2].splitlines()[1:7]
    assert [line.split()[-4:] == ["–"] * 4 for line in table] == [False, True] * 3
    show_records(records, "auroc")
    rows_shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows_shown.count(["bm25", "–", "–"]) == 3
