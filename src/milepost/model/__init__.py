"""The landmark encoder in torch, which training uses and the export writes from.

Comes in: a checkpoint. Goes out: a model folder that the engine reads. Nothing outside this room
and ``train`` imports torch; both sides meet in the folder on disk, and a test holds them equal.

Read in this order: ``attention.py``, ``bert.py``, ``modernbert.py`` (the backbones),
``landmark_encoder.py`` (what is ours), ``checkpoint.py``, ``export.py``.
"""

from __future__ import annotations

from milepost.model.checkpoint import load_checkpoint, save_checkpoint
from milepost.model.export import export
from milepost.model.landmark_encoder import LandmarkEncoder

__all__ = ["LandmarkEncoder", "export", "load_checkpoint", "save_checkpoint"]
