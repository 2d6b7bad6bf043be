"""The landmark encoder in torch, for training and export.

Input:  a checkpoint, Milepost's or Hugging Face's. Output: a model folder that the engine reads.
The engine does not import torch; the two sides share only the folder on disk, and a test checks
that they give the same vectors.

Read in this order: ``attention.py``, ``bert.py``, ``modernbert.py``, ``light.py``,
``huggingface.py`` (the backbones), ``landmark_encoder.py`` (the encoder), ``reading.py``,
``special.py`` (the tokens), ``lora.py``, ``fetch.py``, ``checkpoint.py`` (the folder),
``export.py``, ``packed.py``, ``onnx_export.py``, ``parity.py``, ``release.py`` (the export).
Folders of other programs: ``landmark_transformer.py``, ``layouts.py``, ``interop.py``.
"""

from __future__ import annotations

from milepost_train.model.checkpoint import (
    Checkpoint,
    load_checkpoint,
    open_checkpoint,
    save_checkpoint,
)
from milepost_train.model.export import export
from milepost_train.model.landmark_encoder import LandmarkEncoder
from milepost_train.model.lora import merge_lora, with_lora
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
