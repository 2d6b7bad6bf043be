"""The collapse alarm: silent over a healthy run, loud over one that really collapses."""

import math
import re
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from milepost_train.alarm import CollapseAlarm
from milepost_train.batches import queries_of
from support.small_models import random_model

FLOOR = math.log(64)


def said(alarm: CollapseAlarm, readings: list[dict[str, float]], every: int = 50) -> list[str]:
    """When and what the alarm says of readings that are ``every`` steps apart."""
    steps = range(every, every * len(readings) + 1, every)
    lines = ((step, alarm.see(step, parts)) for step, parts in zip(steps, readings, strict=True))
    return [f"{step}: {line}" for step, line in lines if line]


def reading(loss: float, spread: float = 0.3) -> dict[str, float]:
    return {"loss": loss, "floor": FLOOR, "spread": spread}


def test_a_loss_at_its_floor() -> None:
    """After warm-up and five readings it is named once, with figures and what to change."""
    readings = [reading(FLOOR * 0.995)] * 30
    (line,) = said(CollapseAlarm(warm_up=500), readings)
    assert line.startswith("750: collapse: ")
    assert "the loss is 4.138, and mere guessing costs 4.159" in line
    assert "cosine" not in line
    assert all(word in line for word in ("rate", "warm_up", "temperature", "batches"))
    assert said(CollapseAlarm(warm_up=500), readings[:14]) == []


def test_landmarks_that_are_alike() -> None:
    """The spread alone is enough: distillation may keep the loss from its floor."""
    (line,) = said(CollapseAlarm(warm_up=0), [reading(0.5, 0.99)] * 9)
    assert "different landmarks have a mean cosine of 0.990;" in line


def test_one_reading_is_no_collapse_and_a_second_one_is_told_again() -> None:
    """The mean of five is judged; a fault that was gone is named when it comes back."""
    well, ill = reading(1.0), reading(FLOOR, 1.0)
    assert said(CollapseAlarm(warm_up=0), [well, ill, well, well] * 5) == []
    lines = said(CollapseAlarm(warm_up=0), [*[ill] * 8, *[well] * 8, *[ill] * 8])
    assert [line.partition(":")[0] for line in lines] == ["250", "1050"]


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number_is_told_at_once(loss: float) -> None:
    """Warm-up or not, once, without a mean; what came before is not forgotten."""
    alarm = CollapseAlarm()
    assert alarm.see(1, reading(2.0)) is None
    line = alarm.see(2, reading(loss, math.nan))
    assert line is not None
    assert line.startswith(f"the loss is {loss}, ")
    assert "lower rate" in line
    assert alarm.see(3, reading(loss)) is None


@given(st.lists(st.tuples(st.floats(0, 0.98), st.floats(-1, 0.98)), max_size=60), st.integers(1, 9))
def test_what_is_under_both_limits_is_never_told(
    shares: list[tuple[float, float]], patience: int
) -> None:
    """No reading of a run that learns raises the alarm, however the readings jump."""
    alarm = CollapseAlarm(warm_up=0, patience=patience)
    assert said(alarm, [reading(share * FLOOR, spread) for share, spread in shares]) == []


def test_a_real_run_collapses_and_a_healthy_one_does_not() -> None:
    """The same small BERT, data and seed: a rate of 0.5 makes all vectors one, 0.001 learns."""
    lines, loss = _run(rate=0.5)
    assert loss == pytest.approx(math.log(24), rel=0.01)
    assert re.search(r"mean cosine of (0\.99|1\.00)\d and the loss is 3\.1", lines[0])
    lines, loss = _run(rate=1e-3)
    assert (lines, loss < 1.0) == ([], True)


def _run(rate: float) -> tuple[list[str], float]:
    """Train sentences to find their own copies among 24; what the alarm says, and the last loss."""
    model, random = random_model("bert").train(), Random(3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    alarm, lines = CollapseAlarm(warm_up=10, patience=5), []
    for step in range(1, 61):
        sentences = [np.array(random.choices(range(110, 200), k=8), np.int32) for _ in range(24)]
        halves = [sentence[random.randrange(4) :] for sentence in sentences]
        batches = (queries_of(ids, 2, 3) for ids in (sentences, halves))
        landmarks, queries = (model(b.ids, b.sentences, b.marks)[b.used] for b in batches)
        loss = torch.nn.functional.cross_entropy(queries @ landmarks.T / 0.05, torch.arange(24))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        cosines = (landmarks @ landmarks.T).detach()
        spread = (cosines.sum() - cosines.trace()) / (24 * 23)
        parts = {"loss": loss.item(), "floor": math.log(24), "spread": spread.item()}
        if line := alarm.see(step, parts):
            lines.append(line)
    return lines, loss.item()
