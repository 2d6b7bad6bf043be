"""Vectors of sentences and questions, from a model folder or an embedding endpoint.

In:      a model's name, texts, questions.
Out:     one vector for each sentence with its offsets, one for each text, one for each question.
Refuses: to store and to search.
Read:    ``sentences.py`` (texts to token ids), ``landmarks.py`` (windows with context),
         ``endpoint.py`` (sentences one by one, over HTTP), ``loading.py`` (opens either),
         ``reranker.py`` (question and sentences read together), ``windows/`` (where a text is cut),
         ``engine/`` (runs a model's graph).
"""

from milepost.encoder.landmarks import Encoder, Progress
from milepost.encoder.loading import load

__all__ = ["Encoder", "Progress", "load"]
