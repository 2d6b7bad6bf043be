"""Vectors of sentences and questions, from a model folder.

In:      a model's name, texts, questions.
Out:     one vector for each sentence with its offsets, one for each text, one for each question.
Refuses: to store and to search.
"""

from milepost.encoder.landmarks import Encoder, Progress
from milepost.encoder.loading import load

__all__ = ["Encoder", "Progress", "load"]
