"""Objectives of training, one a stage: what is drawn, what has to win, what is a negative.

    pairs       stage I: a query finds its passage
    merged      stage II: its passage among others, in one noisy long document
    marked      stage III: marked sentences of real long documents
    rerank      sentences are read with the question in front, for a second look
    judge       what sentences say of the claim or question in front

``build`` makes one from its settings and the material. Settings are frozen records that refuse
what cannot be; an objective draws by the generator it is given and keeps nothing between steps.
"""

from collections.abc import Callable
from typing import Any

from milepost_train.material import Material
from milepost_train.objectives.base import Objective
from milepost_train.objectives.marked import Marked
from milepost_train.objectives.pairs import Merged, Pairs
from milepost_train.objectives.rerank import Judge, Rerank
from milepost_train.settings import (
    JudgeStage,
    MarkedStage,
    MergedStage,
    PairsStage,
    RerankStage,
    StageSettings,
)

_OBJECTIVES: dict[type[StageSettings], Callable[[Any, Material], Objective]] = {
    PairsStage: Pairs,
    MergedStage: Merged,
    MarkedStage: Marked,
    RerankStage: Rerank,
    JudgeStage: Judge,
}


def build(stage: StageSettings, material: Material) -> Objective:
    """The objective of a stage."""
    return _OBJECTIVES[type(stage)](stage, material)
