"""Run a model's graph: token ids in, states at landmarks out.

Input:  padded token ids of windows, the sentence each token belongs to, landmark positions.
Output: one unit vector per landmark. This package handles neither documents nor, outside the
tokenizer, text, and does not use torch; its only link to training is the model folder on disk.

Read in this order: ``base.py`` (the protocol), ``manifest.py`` (metadata of a model folder),
``folder.py`` (its files, and where models are found; ``hub.py`` fetches them, ``endpoint.py``
stands for models behind HTTP), ``tokenizer.py``, ``words.py``, ``cpu.py`` and ``precision.py``
(which graph runs, in which arithmetic), ``openvino.py`` (the engine; ``float_graph.py`` changes its
graphs), ``fake.py`` (a fake engine for tests).
"""

from __future__ import annotations

from milepost.encoder.engine.base import Engine
from milepost.encoder.engine.folder import ModelFolder, find_model, shipped_models
from milepost.encoder.engine.manifest import Manifest

__all__ = ["Engine", "Manifest", "ModelFolder", "find_model", "shipped_models"]
