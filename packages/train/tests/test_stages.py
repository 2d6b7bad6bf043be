"""Settings of the data and of every kind of stage: what they refuse, in which words."""

from pathlib import Path
from typing import Any

import pytest

from milepost.errors import InputError
from milepost_train.config import DataSettings
from milepost_train.stages import MarkedStage, MergedStage, PairsStage, RerankStage


@pytest.mark.parametrize(
    ("kind", "changes", "words"),
    [
        (DataSettings, {"tasks": ()}, "no tasks or pairs"),
        (DataSettings, {"hold_out": 1.0}, "hold_out is 1"),
        (DataSettings, {"longest": 2}, "longest is 2;.*4 or more"),
        (PairsStage, {"pairs": 1}, "pairs is 1"),
        (PairsStage, {"landmarks": "sentence"}, "'sentences'"),
        (PairsStage, {"chunk": -1}, "chunk is -1;.*0 or more"),
        (MergedStage, {"questions": 0}, "questions is 0"),
        (MergedStage, {"window": 4}, "window is 4"),
        (MarkedStage, {"windows": ()}, "windows is"),
        (MarkedStage, {"temperature": 0.0}, "temperature is 0"),
        (MarkedStage, {"question_dropout": 1.0}, "question_dropout is 1"),
        (MarkedStage, {"distil": -1.0}, "distil is -1;.*0 or more"),
        (MarkedStage, {"alpha": -1.0}, "alpha is -1"),
        (MarkedStage, {"tasks": {"a": 0.0}}, "tasks.a is 0;.*above 0"),
        (MarkedStage, {"dimensions": (0,)}, "dimensions is 0"),
        (MarkedStage, {"noise": {"typo": 0.5}}, "'typos'"),
        (MarkedStage, {"noise": {"typos": 1.5}}, "typos is 1.5"),
        (MarkedStage, {"noise": {"typos": 0.6, "keywords": 0.6}}, "at most 1 together"),
        (RerankStage, {"hard": 0}, "hard is 0"),
        (RerankStage, {"elsewhere": 1.5}, "elsewhere is 1.5"),
        (RerankStage, {"steep": 0.0}, "steep is 0"),
    ],
)
def test_settings_that_cannot_be(kind: Any, changes: dict[str, Any], words: str) -> None:
    usual = {"tasks": (Path("a"),)} if kind is DataSettings else {}
    with pytest.raises(InputError, match=words):
        kind(**{**usual, **changes})
