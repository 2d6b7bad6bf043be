"""Words that a training configuration chooses from. Needs no torch."""

from __future__ import annotations

from typing import Literal

Dtype = Literal["auto", "float32", "bfloat16"]
"""What a network computes in; ``auto``: what is fast on the device."""

Tracker = Literal[
    "tensorboard", "wandb", "mlflow", "trackio", "comet_ml", "aim", "clearml", "dvclive", "swanlab"
]
"""Experiment trackers that accelerate knows."""

Weights = Literal["float32", "bfloat16", "4bit"]
"""How the frozen weights beside LoRA are held; see ``model/weights.py``."""

MergedUnit = Literal["passage", "sentences"]
"""What a landmark of a pseudo document closes."""

Nearness = Literal["words", "teacher"]
"""What makes a passage look like an answer: rare words it shares, or a teacher's cosine."""

PairsUnit = Literal["passage", "sentences", "both"]
"""What a landmark of a passage closes."""
