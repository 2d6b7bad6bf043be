"""What the loop does between its steps: rates, averages, the log, the alarm."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from milepost.errors import MilepostError
from milepost_train import loop as loops
from milepost_train.config import Part, Stage, read_config
from milepost_train.curves import CollapseAlarm
from milepost_train.loop import Average, Event, adam_of, memory, rate_at
from milepost_train.model import open_checkpoint
from milepost_train.run import train
from milepost_train.run_folder import RunFolder, RunInterrupted
from milepost_train.settings import PairsStage
from support.tiny_runs import write_run

ONE = '[[stage]]\nkind = "pairs"\npairs = 4\nrate = 1e-3\nwarm_up = 0\nsteps = {}\n'


def stage_of(**changes: Any) -> Stage:
    return Stage(parts=(Part("pairs", PairsStage()),), **{"steps": 10, **changes})


def test_the_rate_written_out() -> None:
    stage = stage_of(steps=12, rate=2.0, warm_up=2, floor=0.1)
    done = [0.0, 0.5]
    expected = [1.0, 2.0, 0.2 + 1.8 * 0.5 * (1 + math.cos(math.pi * done[0])), 1.1]
    found = [rate_at(stage, step) for step in (0, 1, 2, 7)]
    assert found == pytest.approx(expected)
    short = stage_of(steps=4, rate=2.0, warm_up=100)
    assert [rate_at(short, step) for step in range(4)] == pytest.approx([0.5, 1.0, 1.5, 2.0])


def test_biases_do_not_decay() -> None:
    """Matrices shrink by rate times decay where no gradient pulls, vectors stay."""
    layer = torch.nn.Linear(3, 2)
    weights = dict(layer.named_parameters())
    before = {name: weight.detach().clone() for name, weight in weights.items()}
    optimiser = adam_of(stage_of(rate=0.5, decay=0.1), weights)
    for weight in weights.values():
        weight.grad = torch.zeros_like(weight)
    optimiser.step()
    assert torch.allclose(weights["weight"], before["weight"] * (1 - 0.5 * 0.1))
    assert torch.equal(weights["bias"], before["bias"])


def test_the_average_written_out() -> None:
    """A short memory while young, then the slowness; lent with the base, and given back."""
    weight = torch.nn.Parameter(torch.zeros(2))
    base = torch.full((2,), 10.0)
    average = Average({"w": weight}, 0.5, {"w": base}, 0.25)
    expected = 0.0
    for step in range(12):
        with torch.no_grad():
            weight.fill_(step + 1.0)
        average.follow(step)
        keep = min(0.5, (step + 1) / (step + 10))
        expected = keep * expected + (1 - keep) * (step + 1.0)
    assert torch.allclose(average.values["w"], torch.full((2,), expected))
    with average.lent():
        assert torch.allclose(weight, torch.full((2,), 0.75 * expected + 2.5))
    assert torch.equal(weight, torch.full((2,), 12.0))
    average.settle()
    assert torch.allclose(weight, torch.full((2,), expected))


def test_the_base_is_mixed_into_what_is_written(tmp_path: Path) -> None:
    """At a share near one the checkpoint is near the one the run began from."""
    distances = []
    for share in (0.0, 0.9):
        file = write_run(tmp_path, stages=ONE.format(3), base_share=share, out=f"run{share}")
        done = train(read_config(file))
        old, new = (open_checkpoint(each).model for each in (tmp_path / "init", done.checkpoint))
        pairs = zip(old.parameters(), new.parameters(), strict=True)
        distances.append(sum((a - b).norm().item() for a, b in pairs))
    assert 0 < distances[1] < 0.2 * distances[0]


def test_stages_are_runs_one_after_the_other(tmp_path: Path) -> None:
    """A stage begins from the averaged weights, with an optimiser and a rate of its own."""
    file = write_run(tmp_path, stages=ONE.format(2) + ONE.format(1).replace("1e-3", "1e-30"))
    done = train(read_config(file, out=tmp_path / "two"))
    alone = train(read_config(write_run(tmp_path, stages=ONE.format(2)), out=tmp_path / "one"))
    first, second = ((each.checkpoint / "model.safetensors").read_bytes() for each in (done, alone))
    assert first == second


def test_gradients_of_several_batches_are_averaged(tmp_path: Path) -> None:
    # All twelve pairs are in every batch, in one order or another.
    text = ONE.format(1).replace("pairs = 4", "pairs = 12")
    train(read_config(write_run(tmp_path, stages=text), out=tmp_path / "one"))
    train(
        read_config(write_run(tmp_path, stages=text + "accumulate = 3\n"), out=tmp_path / "three")
    )
    one, three = (
        next(RunFolder(tmp_path / name, resume=True).lines()) for name in ("one", "three")
    )
    assert one["gradient"] == pytest.approx(three["gradient"], rel=1e-3)
    assert one["loss"] == pytest.approx(three["loss"], rel=1e-3)


def test_bad_lines_are_told(tmp_path: Path) -> None:
    file = write_run(tmp_path, stages=ONE.format(1))
    with (tmp_path / "pairs.jsonl").open("a") as pairs:
        pairs.write('{"query": "a cat"}\n' * 25)
    events: list[Event] = []
    assert train(read_config(file), on_progress=events.append).bad == 25
    warnings = [event.warning for event in events if event.warning]
    assert len(warnings) == 21
    assert "pairs.jsonl, line 13: no 'passage'" in warnings[0]
    assert warnings[-1] == "… and 5 more that cannot be used"


def test_a_run_that_collapses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarm speaks in the log, and stops the run where it is told to.

    It does so after five readings behind the warm-up, in which the rate still rises.
    """
    monkeypatch.setattr(loops, "WARM_UP", 10)  # of steps that the alarm ignores in any run
    text = ONE.format(60).replace("1e-3", "0.5").replace("warm_up = 0", "warm_up = 30")
    text += "clip = 1e9\n"
    file = write_run(tmp_path, stages=text, on_collapse="stop", log_every=5)
    with pytest.raises(MilepostError, match='on_collapse = "warn" to continue; the last'):
        train(read_config(file))
    *before, last = RunFolder(tmp_path / "run", resume=True).lines()
    assert "lower the rate" in last["alarm"]
    assert "different landmarks have a mean cosine of " in last["alarm"]
    assert last["step"] == 55
    assert not any("alarm" in line for line in before)


def test_what_counts_as_too_little_memory() -> None:
    """Torch's errors of the CPU and of a GPU, and Python's own; nothing else."""
    for error in (
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
    ):
        with pytest.raises(RunInterrupted, match="too little memory here"), memory("here"):
            raise error
    with pytest.raises(RuntimeError, match="shapes"), memory("here"):
        raise RuntimeError("shapes do not match")


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
