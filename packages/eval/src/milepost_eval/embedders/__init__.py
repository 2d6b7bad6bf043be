"""Models that turn texts into vectors, the rivals' and ours, behind one protocol.

Comes in: a model's name or folder, texts. Goes out: unit vectors and the tokens read. Refuses to
know of units, rankings and tasks; every library is imported when its model is first used.
Reading order: ``base.py`` (the protocols), ``choose.py`` (names to models), then a file a kind of
model: ``sentence_transformer.py``, ``landmark.py``, ``static.py``; ``fingerprints.py``.
"""

from milepost_eval.embedders.base import ContextEmbedder, Embedder
from milepost_eval.embedders.choose import NAMES, embedder
from milepost_eval.embedders.landmark import LandmarkEmbedder
from milepost_eval.embedders.sentence_transformer import SentenceTransformerEmbedder
from milepost_eval.embedders.static import WordLlama

__all__ = [
    "NAMES",
    "ContextEmbedder",
    "Embedder",
    "LandmarkEmbedder",
    "SentenceTransformerEmbedder",
    "WordLlama",
    "embedder",
]
