"""The landmark encoder in torch, which training uses and the export writes from.

Comes in: a checkpoint, ours or Hugging Face's. Goes out: a model folder that the engine reads.
Nothing outside this room and ``train`` imports torch; both sides meet in the folder on disk, and a
test holds them equal.

Read in this order: ``attention.py``, ``bert.py``, ``modernbert.py``, ``light.py``,
``huggingface.py`` (the backbones), ``landmark_encoder.py`` (what is ours), ``reading.py``,
``special.py``, ``vocabulary.py`` (the tokens), ``lora.py``, ``weights.py``, ``fetch.py``,
``checkpoint.py`` (the folder), ``torch_engine.py``, ``tracing.py``, ``export.py``,
``light_export.py``, ``onnx_export.py``, ``parity.py``, ``release.py`` (the way out). Folders of
others: ``lmk.py``, ``lmk_model.py``, ``landmark_transformer.py``, ``layouts.py``, ``interop.py``,
``lmk_reading.py``.
Encoders of many sizes out of two: ``stitch/``.
"""

from __future__ import annotations

from milepost.model.checkpoint import (
    Checkpoint,
    load_checkpoint,
    open_checkpoint,
    save_checkpoint,
)
from milepost.model.export import export
from milepost.model.landmark_encoder import LandmarkEncoder
from milepost.model.lora import merge_lora, with_lora
from milepost.model.release import release

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
