"""Settings of the kinds of training stage: frozen dataclasses that check themselves.

Needs no torch, so that a configuration is checked in milliseconds; ``objectives`` has the training
steps that these settings configure.
"""

from __future__ import annotations

from milepost_train.stages.marked import MarkedStage
from milepost_train.stages.merged import MergedStage
from milepost_train.stages.pairs import PairsStage
from milepost_train.stages.rerank import RerankStage

StageSettings = PairsStage | MergedStage | MarkedStage | RerankStage

STAGES: dict[str, type[StageSettings]] = {
    "pairs": PairsStage,
    "merged": MergedStage,
    "marked": MarkedStage,
    "rerank": RerankStage,
}
"""Settings of each kind of stage, by its name in a configuration."""

__all__ = [
    "STAGES",
    "MarkedStage",
    "MergedStage",
    "PairsStage",
    "RerankStage",
    "StageSettings",
]
