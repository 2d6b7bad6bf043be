"""The landmark encoder in torch, for training and export.

Input:  a checkpoint, Milepost's or Hugging Face's. Output: a model folder that the engine reads.
The engine does not import torch; the two sides share only the folder on disk, and a test checks
that they give the same vectors.

Read in this order: ``attention.py``, ``bert.py``, ``light.py``,
``huggingface.py`` (the backbones), ``landmark_encoder.py`` (the encoder, and how it reads),
``special.py`` (files and tokens of a folder), ``checkpoint.py`` (the folder, LoRA), ``export.py``
(OpenVINO and ONNX), ``release.py`` (the export).
Folders of other programs: ``landmark_transformer.py``, ``layouts.py``, ``interop.py``.
"""

from __future__ import annotations

from milepost_train.model.checkpoint import (
    Checkpoint,
    load_checkpoint,
    merge_lora,
    open_checkpoint,
    save_checkpoint,
    with_lora,
)
from milepost_train.model.export import export
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.release import release

__all__ = [
    "Checkpoint",
    "LandmarkEncoder",
    "export",
    "load_checkpoint",
    "merge_lora",
    "open_checkpoint",
    "release",
    "save_checkpoint",
    "with_lora",
]
