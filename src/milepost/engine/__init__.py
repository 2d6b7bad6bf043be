"""Token ids in, states at landmarks out.

Comes in: padded token ids of windows, the sentence each token belongs to, landmark positions.
Goes out: one unit vector a landmark. This room knows no documents, no text beyond the
tokenizer, and no torch; the bridge to training is the model folder on disk.

Read in this order: ``base.py`` (the protocol), ``manifest.py`` (what a model folder says of
itself), ``folder.py`` (which files it holds, where models are found; ``hub.py`` fetches,
``endpoint.py`` has vectors made over HTTP),
``tokenizer.py``, ``words.py``, ``cpu.py`` and ``precision.py`` (which graph runs, in which
arithmetic), ``openvino.py`` (the engine; ``float_graph.py`` changes its graphs), ``fake.py`` (its
double for tests).
"""

from __future__ import annotations

from milepost.engine.base import Engine
from milepost.engine.folder import ModelFolder, find_model, shipped_models
from milepost.engine.manifest import Manifest

__all__ = ["Engine", "Manifest", "ModelFolder", "find_model", "shipped_models"]
