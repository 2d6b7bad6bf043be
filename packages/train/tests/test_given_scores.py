"""Scores that came with the lines of pairs: each distillation written out, in a step and a run."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import torch.nn.functional as F  # noqa: E402

from milepost.errors import InputError  # noqa: E402
from milepost_train import loop as loops  # noqa: E402
from milepost_train.check import vectors_of  # noqa: E402
from milepost_train.config import read_config  # noqa: E402
from milepost_train.material import DataSettings, load_material  # noqa: E402
from milepost_train.model.reading import Reading  # noqa: E402
from milepost_train.objectives import build  # noqa: E402
from milepost_train.run import train  # noqa: E402
from milepost_train.stages import DocumentsStage, PairsStage  # noqa: E402
from support.small_material import Student, small_material  # noqa: E402
from support.small_models import write_tokenizer  # noqa: E402
from support.tiny_runs import ANIMALS, PLACES, write_lines, write_run  # noqa: E402

KINDS = ("kl", "listwise", "margin")
HEAT = 0.05


def scored_material() -> Any:
    """Four pairs: two with scores, one of them with a mined negative more; two without."""
    material = small_material(documents=[])
    a, b, c, d = material.pairs[:4]
    spare = [pair.text for pair in material.pairs[20:]]
    material.pairs = [
        replace(a, negatives=tuple(spare[:2]), scores=(2.0, 1.5, -1.0)),
        replace(b, negatives=tuple(spare[2:4]), weights=(1.0, 1.0), scores=(0.5, 1.0)),
        replace(c, negatives=(spare[5],)),
        # Its own passage stands among the others' as well: no rival of theirs, nor of its own.
        replace(d, text=a.text, ids=a.ids),
    ]
    return material


def softmax(values: list[float]) -> list[float]:
    total = sum(math.exp(value) for value in values)
    return [math.exp(value) / total for value in values]


def longhand(
    kind: str, cosines: list[float], own: list[int], given: list[float], right: Any
) -> Any:
    """One query's distance: its own passages' columns, the right one first."""
    ours = [cosines[column] / HEAT for column in own]
    if kind == "kl":
        pairs = zip(softmax(given), softmax(ours), strict=True)
        return sum(t * math.log(t / p) for t, p in pairs)
    if kind == "margin":
        apart = [(ours[0] - ours[n]) - (given[0] - given[n]) for n in range(1, len(own))]
        return sum(each**2 for each in apart) / len(apart)
    total = 0.0
    for n, weight in enumerate(softmax(given)):
        against = [
            math.exp(cosine / HEAT)
            for column, cosine in enumerate(cosines)
            if column in own[n:] or (column not in own and not right[column])
        ]
        total += weight * (math.log(sum(against)) - ours[n])
    return total


def expected(kind: str, cosines: Any, columns: dict[int, list[int]], same: Any) -> float:
    """The mean over the two queries with scores; rows of the step by their pair's number."""
    given = {0: [2.0, 1.5, -1.0], 1: [0.5, 1.0]}
    terms = [
        longhand(kind, cosines[row].tolist(), own, [each / 2 for each in given[pair]], same[row])
        for pair, (row, own) in columns.items()
    ]
    assert len(terms) == 2
    return sum(terms) / 2


def columns_of(order: list[int]) -> tuple[dict[int, Any], Any]:
    """Where the scored passages of pairs 0 and 1 stand when all negatives are drawn."""
    counts = {0: 2, 1: 2, 2: 1, 3: 0}
    random, found, at = Random(4), {}, len(order)
    assert random.sample(range(4), 4) == order
    for row, pair in enumerate(order):
        drawn = random.sample(range(counts[pair]), counts[pair]) if counts[pair] else []
        scored = {0: 2, 1: 1}.get(pair, 0)
        places = [at + drawn.index(n) for n in range(scored)]
        if scored:
            found[pair] = (row, [row, *places])
        at += counts[pair]
    same = np.zeros((4, at), bool)
    for row, pair in enumerate(order):
        same[row, row] = True
        if pair in (0, 3):
            same[row, [order.index(0), order.index(3)]] = True
    return found, same


@pytest.mark.parametrize("kind", KINDS)
def test_in_pairs_by_hand(kind: str) -> None:
    """Only scored passages count, in whatever order they were drawn; the others are contrast."""
    student = Student()
    stage = PairsStage(
        pairs=4, landmarks="passage", scores=0.3, scores_by=kind, scores_temperature=2.0
    )
    parts = build(stage, scored_material()).step(student, Random(4))
    plain = build(replace(stage, scores=0.0), scored_material()).step(Student(), Random(4))
    queries, passages = (vectors_of(student.model, batch) for batch in student.seen)
    columns, same = columns_of(Random(4).sample(range(4), 4))
    wanted = expected(kind, queries @ passages.T, columns, same)
    assert parts["scores"] == pytest.approx(wanted, rel=1e-4)
    assert parts["loss"] == pytest.approx(plain["loss"] + 0.3 * wanted, rel=1e-4)
    assert parts["floor"] == pytest.approx(plain["floor"] + 0.3 * wanted, rel=1e-4)
    assert "scores" not in plain


@pytest.mark.parametrize("kind", KINDS)
def test_in_documents_by_hand(kind: str) -> None:
    """The same of document vectors, whose negatives are texts of the step."""
    student = Student()
    stage = DocumentsStage(
        documents=4, negatives=4, granularities=("sentences",), window=64,
        scores=0.3, scores_by=kind, scores_temperature=2.0,
    )  # fmt: skip
    parts = build(stage, scored_material()).step(student, Random(4))
    queries, windows = student.seen
    landmarks, owner = vectors_of(student.model, windows), windows.owners[:, 0]
    columns, same = columns_of(Random(4).sample(range(4), 4))
    means = [landmarks[np.flatnonzero(owner == n)].mean(0) for n in range(same.shape[1])]
    cosines = vectors_of(student.model, queries) @ F.normalize(torch.stack(means), dim=1).T
    wanted = expected(kind, cosines, columns, same)
    assert parts["scores"] == pytest.approx(wanted, rel=1e-4)
    assert parts["loss"] == pytest.approx(parts["contrast"] + 0.3 * wanted, rel=1e-4)
    # The contrast of each right text with all that answers otherwise.
    odds, terms = (cosines / HEAT).exp(), []
    for row, right in enumerate(same):
        wrong = odds[row][torch.from_numpy(~right)].sum()
        terms.append(torch.log1p(wrong / odds[row][torch.from_numpy(right)]).mean().item())
    assert parts["contrast"] == pytest.approx(np.mean(terms), rel=1e-4)


@pytest.mark.parametrize("stage", [
    PairsStage(pairs=4, scores=0.5, scores_by="margin"),
    DocumentsStage(documents=4, negatives=2, scores=0.5),
])  # fmt: skip
def test_in_chunks_it_is_the_same(stage: Any) -> None:
    """The gradient cache changes neither loss nor gradients."""
    found = []
    for chunk in (0, 2):
        student = Student()
        parts = build(replace(stage, chunk=chunk), scored_material()).step(student, Random(4))
        found.append((parts, student.gradients()))
    (whole, gradient), (parts, cached) = found
    assert parts == pytest.approx(whole, abs=1e-4)
    assert torch.allclose(cached, gradient, atol=1e-3)


def test_a_step_without_scores_is_contrast_alone() -> None:
    """None was drawn: nothing is added, and nothing is no number."""
    material = scored_material()
    material.pairs = [material.pairs[0], *material.pairs[2:]]
    stage = PairsStage(pairs=2, scores=0.5)
    objective = build(stage, material)
    seeds = [n for n in range(9) if 0 not in Random(n).sample(range(3), 2)]
    student = Student()
    parts = objective.step(student, Random(seeds[0]))
    assert parts["scores"] == 0.0
    assert bool(torch.isfinite(student.gradients()).all())


def test_refused() -> None:
    """Settings that cannot be, and data that has no scores."""
    for changes, words in (
        ({"scores_by": "kl_div"}, "'kl'"),
        ({"scores": -1.0}, "scores is -1"),
        ({"scores_temperature": 0.0}, "scores_temperature is 0"),
        ({"scores": 1.0, "negatives": 0}, "negatives is 0"),
    ):
        with pytest.raises(InputError, match=words):
            PairsStage(**changes)
    with pytest.raises(InputError, match="negatives is 0"):
        DocumentsStage(scores=1.0)
    for stage in (PairsStage(scores=1.0), DocumentsStage(scores=1.0, negatives=1)):
        with pytest.raises(InputError, match="no line of pairs has them"):
            build(stage, small_material())


def test_lines_with_scores(tmp_path: Path) -> None:
    """One number for the passage, one for each negative; a line that says otherwise is named."""
    line = {"query": "cats", "passage": "The cat sat.", "negatives": ["A dog sat.", "A bird sat."]}
    rows: list[dict[str, Any]] = [
        {**line, "scores": [3, 0.5, -2.25]},
        line,
        {**line, "scores": [3, 0.5]},
        {**line, "scores": [3, 0.5, True]},
        {**line, "scores": [3, 0.5, float("nan")]},
        {**line, "scores": [3, 0.5, 10**400]},
        {**line, "scores": 3},
        {"query": "dogs", "passage": "The dog sat.", "scores": [1.5]},
    ]
    path = tmp_path / "pairs.jsonl"
    write_lines(path, rows)
    tokenizer = Tokenizer.from_file(str(write_tokenizer(tmp_path / "tokenizer.json")))
    found = load_material(DataSettings(pairs=(path,)), tokenizer, Reading("[CLS]", "[SEP]"))
    assert [pair.scores for pair in found.pairs] == [(3.0, 0.5, -2.25), (), (1.5,)]
    said = [str(error) for error in found.report.bad]
    assert [words.partition("pairs.jsonl, line ")[2][:1] for words in said] == list("34567")
    assert "2 scores for a passage and 2 negatives; try: write 3" in said[0]
    assert all("'scores' is not a list of numbers" in words for words in said[1:])
    assert next(found.report.lines()).endswith("3 pairs, 2 of them with scores, 5 bad lines")


STAGE = """
[[stage]]
kind = "{kind}"
{more}
steps = 24
rate = 2e-3
warm_up = 0
scores = 1.0
scores_by = "{by}"
"""


@pytest.mark.parametrize(
    ("kind", "more", "by"),
    [
        ("pairs", "pairs = 6", "kl"),
        ("documents", "documents = 6\nnegatives = 4\npassages = 1.0", "listwise"),
    ],
)
def test_a_run_learns_the_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, more: str, by: str
) -> None:
    """Lines with scores beside lines without: that loss falls, and the same seed gives the same."""
    monkeypatch.setattr(loops, "draw", lambda folder: [])
    file = write_run(
        tmp_path, stages=STAGE.format(kind=kind, more=more, by=by), log_every=6, save_every=100
    )
    random, rows = Random(1), []
    for n, (animal, place) in enumerate((a, p) for a in ANIMALS for p in PLACES):
        passages = [
            f"The {a} sat on a {p}." for a in ANIMALS for p in PLACES if (a, p) != (animal, place)
        ]
        row: dict[str, Any] = {
            "query": f"{animal} {place}",
            "passage": f"The {animal} sat on a {place}.",
        }
        row["negatives"] = random.sample(passages, 4)
        if n % 3:
            row["scores"] = [
                3.0,
                *((animal in each) + (place in each) - 1.5 for each in row["negatives"]),
            ]
        rows.append(row)
    write_lines(tmp_path / "pairs.jsonl", rows)
    weights = []
    for out in ("one", "two"):
        done = train(read_config(file, out=tmp_path / out))
        assert done.bad == 0
        weights.append((done.checkpoint / "model.safetensors").read_bytes())
    assert weights[0] == weights[1]
    lines = map(json.loads, (tmp_path / "one" / "log.jsonl").read_text().splitlines())
    told = [line["scores"] for line in lines if "scores" in line]
    assert len(told) == 4
    assert told[-1] < 0.7 * told[0]
