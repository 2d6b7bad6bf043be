"""Documents found by titles and queries: LMK pooling."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch", reason="needs milepost-train: pip install ./packages/train")

import torch.nn.functional as F  # noqa: E402

from milepost.errors import InputError  # noqa: E402
from milepost_train.check import vectors_of  # noqa: E402
from milepost_train.objectives import build  # noqa: E402
from milepost_train.objectives.documents import beginning, windows_of  # noqa: E402
from milepost_train.stages import DocumentsStage, MarkedStage  # noqa: E402
from support.small_material import (  # noqa: E402
    LANDMARK,
    Student,
    small_material,
    small_text,
)

SMALL = {"documents": 5, "tokens": 40, "window": 32, "granularities": (4, 8, "sentences")}
SMALL |= {"evaluation": 8}


def longhand(student: Student, count: int) -> tuple[Any, Any]:
    """Queries, and documents as the mean of all their windows' landmarks."""
    queries, windows = student.seen
    landmarks = vectors_of(student.model, windows)
    owner = windows.owners[:, 0]
    means = [landmarks[np.flatnonzero(owner == n)].mean(0) for n in range(count)]
    return vectors_of(student.model, queries), F.normalize(torch.stack(means), dim=1)


def test_by_hand() -> None:
    """InfoNCE of titles over means of landmarks: loss and gradient."""
    student = Student()
    objective = build(DocumentsStage(**SMALL, passages=0.0), small_material())
    parts = objective.step(student, Random(2))
    gradients = student.gradients()
    queries, documents = longhand(student, 5)
    expected = F.cross_entropy(queries @ documents.T / 0.05, torch.arange(5))
    expected.backward()
    assert parts["loss"] == pytest.approx(expected.item(), abs=1e-5)
    assert parts["floor"] == pytest.approx(math.log(5), abs=1e-5)
    assert torch.allclose(gradients, student.gradients(), atol=1e-5)


def test_granularity_is_drawn_for_each_text() -> None:
    """Landmarks stand every 4 or 8 tokens, or behind sentences; nothing of a text is lost."""
    student = Student()
    objective = build(DocumentsStage(**SMALL, passages=0.0), small_material())
    objective.step(student, Random(2))
    drawn = Random(2)
    chosen = objective.draw(drawn)
    granularities = objective.stage.drawn().draw(drawn, 5)
    assert len(set(granularities)) > 1
    windows = student.seen[1]
    assert windows.ids.shape[1] <= 32
    of_row = [int(windows.owners[n, 0]) for n in np.cumsum(windows.used.sum(1).numpy()) - 1]
    for number, (pair, granularity) in enumerate(zip(chosen, granularities, strict=True)):
        rows = [windows.ids[n].tolist() for n, owner in enumerate(of_row) if owner == number]
        content = [token for row in rows for token in row if token > LANDMARK]
        count = max(1, int(np.searchsorted(pair.text.starts, 40, "right")) - 1)
        assert content == pair.text.ids[: pair.text.starts[count]].tolist()
        if granularity != "sentences":
            gaps = [len(piece) for row in rows for piece in _pieces(row)]
            full, rest = divmod(len(content), granularity)
            assert gaps == [granularity] * full + [rest] * (rest > 0)


def long_queries(material: Any, tokens: int) -> Any:
    """The material's titles with more tokens, those of their texts."""
    material.documents = [
        replace(pair, ids=pair.text.ids[:tokens].copy()) for pair in material.documents
    ]
    return material


def test_queries_are_read_as_texts_are() -> None:
    """A granularity is drawn for each of them, and their vector is the mean of their landmarks."""
    student = Student()
    objective = build(DocumentsStage(**SMALL, passages=0.0), long_queries(small_material(), 11))
    parts = objective.step(student, Random(2))
    gradients = student.gradients()
    drawn = Random(2)
    chosen = objective.draw(drawn)
    of_texts, of_queries = (objective.stage.drawn().draw(drawn, 5) for _ in range(2))
    assert of_texts != of_queries
    assert len(set(of_queries)) > 1
    queries, windows = student.seen
    expected = []
    for pair, granularity in zip(chosen, of_queries, strict=True):
        size = 11 if granularity == "sentences" else int(granularity)
        row = [2]
        for at in range(0, 11, size):
            row += [*pair.ids[at : at + size].tolist(), LANDMARK]
        expected.append(row)
    assert [[t for t in row if t] for row in queries.ids.tolist()] == expected
    asking = _means(vectors_of(student.model, queries), queries, 5)
    found = _means(vectors_of(student.model, windows), windows, 5)
    loss = F.cross_entropy(asking @ found.T / 0.05, torch.arange(5))
    loss.backward()
    assert parts["loss"] == pytest.approx(loss.item(), abs=1e-5)
    assert torch.allclose(gradients, student.gradients(), atol=1e-5)


def _means(landmarks: Any, batch: Any, count: int) -> Any:
    """One unit vector an owner, by a loop."""
    owner = batch.owners[:, 0]
    means = [landmarks[np.flatnonzero(owner == n)].mean(0) for n in range(count)]
    return F.normalize(torch.stack(means), dim=1)


def test_a_short_query_has_one_landmark() -> None:
    """Up to the granularity its row is the tokenizer's own: bos_id, query, separator."""
    student = Student()
    stage = DocumentsStage(documents=5, passages=0.0)  # granularities from 32 up
    build(stage, long_queries(small_material(), 32)).step(student, Random(2))
    assert student.seen[0].ids.shape == (5, 34)
    assert student.seen[0].used.sum(1).tolist() == [1] * 5
    longer = Student()
    stage = DocumentsStage(documents=5, passages=0.0, granularities=(32,))
    build(stage, long_queries(small_material(), 33)).step(longer, Random(2))
    assert longer.seen[0].used.sum(1).tolist() == [2] * 5


def test_the_defaults_read_a_text_in_one_pass() -> None:
    """480 tokens fit into a window of 512 at every granularity, as the paper reads them."""
    stage = DocumentsStage()
    text = small_text(Random(1), "long", 200)
    assert len(text.ids) > 600
    read = beginning(stage, text)
    assert 470 < len(read.ids) <= stage.tokens
    for granularity in stage.granularities:
        (batch,) = windows_of(stage, [read], [granularity], 2, LANDMARK, 0)
        assert len(batch.ids) == 1
        assert len(batch.owners) == -(-len(read.ids) // granularity)


def _pieces(row: list[int]) -> list[list[int]]:
    """What stands before each landmark of a padded row."""
    pieces: list[list[int]] = [[]]
    for token in row[1:]:
        if token == LANDMARK:
            pieces.append([])
        elif token:
            pieces[-1].append(token)
    return pieces[:-1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 1))
def test_a_draw_depends_on_the_generator_alone(seed: int, share: float) -> None:
    """The same seed draws the same texts; at both ends of the share one kind alone."""
    objective = build(DocumentsStage(documents=6, passages=share), small_material())
    first = [pair.words for pair in objective.draw(Random(seed))]
    objective.draw(Random(seed + 1))
    assert [pair.words for pair in objective.draw(Random(seed))] == first
    assert len(set(first)) == len(first) == 6
    titles = sum(words.startswith("title") for words in first)
    assert share not in (0, 1) or titles == (6 if share == 0 else 0)


def test_in_chunks_it_is_the_same() -> None:
    """The gradient cache changes neither loss nor gradients."""
    found = []
    for chunk in (0, 2):
        student = Student()
        stage = DocumentsStage(**SMALL, chunk=chunk, dimensions=(16, 32))
        parts = build(stage, small_material()).step(student, Random(6))
        found.append((parts, student.gradients()))
    assert found[1][0]["loss"] == pytest.approx(found[0][0]["loss"], abs=1e-5)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-4)


def test_it_learns() -> None:
    """Thirty steps on the same examples: what has to win wins."""
    losses = Student().learn(build(DocumentsStage(**SMALL), small_material()))
    assert losses[-1] < 0.5 * losses[0]


def test_beside_the_sentence_objective() -> None:
    """Both gradients add up in one step: one model learns sentences and documents."""
    material = small_material()
    stages = DocumentsStage(**SMALL), MarkedStage(documents=2, questions=2, distil=0)
    apart = []
    for stage in stages:
        student = Student()
        build(stage, material).step(student, Random(1))
        apart.append(student.gradients())
    together = Student()
    for stage in stages:
        build(stage, material).step(together, Random(1))
    assert torch.allclose(together.gradients(), apart[0] + apart[1], atol=1e-5)


def test_refused() -> None:
    """A material without texts to find, and settings that cannot be."""
    with pytest.raises(InputError, match="neither pairs nor documents"):
        build(DocumentsStage(), small_material(pairs=[], documents=[]))
    for changes, words in (
        ({"documents": 1}, "documents is 1"),
        ({"granularities": ("words",)}, "granularities: 'words' is not a granularity"),
        ({"granularities": ()}, "granularities is empty"),
        ({"window": 3}, "window is 3;.*16 or more"),
        ({"tokens": 15}, "tokens is 15"),
        ({"chunk": -1}, "chunk is -1"),
        ({"window": 256}, "256 tokens from landmark to landmark do not fit a window of 256"),
        ({"evaluation": "word"}, "evaluation: 'word' is not a granularity"),
        ({"passages": 1.5}, "passages is 1.5"),
    ):
        with pytest.raises(InputError, match=words):
            DocumentsStage(**changes)
