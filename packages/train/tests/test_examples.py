"""The example that a newcomer trains first runs in a fresh clone."""

from dataclasses import replace
from pathlib import Path

from milepost_eval.tasks.own import read_own
from milepost_train.config import read_config
from milepost_train.run import train

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "examples" / "train" / "small.toml"


def test_the_small_example_trains(tmp_path: Path) -> None:
    """Two steps of it, with its own weights and data: nothing beside the clone is needed."""
    config = replace(read_config(SMALL), out=tmp_path / "run")
    stages = tuple(replace(stage, steps=2) for stage in config.stages)
    check = replace(config.check, every=2, questions=6)
    made = train(replace(config, stages=stages, check=check))
    assert (made.steps, made.bad) == (2, 0)
    assert made.found["book"] > 0.3
    assert (made.checkpoint / "model.safetensors").is_file()


def test_its_evidence_stands_in_the_book() -> None:
    """The questions' texts are pieces of the shipped book, and both splits have questions."""
    book = (ROOT / "examples" / "origin-of-species.txt").read_text(encoding="utf-8")
    for split, fewest in (("train", 200), ("dev", 50)):
        task = read_own(SMALL.with_name("book.jsonl.gz"), split)
        assert len(task.questions) >= fewest
        assert all(document.text[:200] in book for document in task.documents)
