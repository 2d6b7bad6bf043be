"""Losses of training: tensors in, one number out, in nats where they are entropies.

Comes in: vectors or scores, boolean masks, a teacher's scores. Goes out: a mean over questions.
Refuses to know texts, tokens, models and devices; counts in float32 under any autocast; leaves
out rows that have nothing to learn from.

Read in this order: ``contrast.py`` (InfoNCE, document vectors), ``position.py`` (the last sentence
of an answer best), ``distil.py`` (a teacher's vectors and scores), ``matryoshka.py`` (any of them
over short vectors). ``precision.py`` is what they share.
"""

from milepost_train.losses.contrast import any_against_negatives, each_against_negatives, means_of
from milepost_train.losses.distil import away_from, divergence
from milepost_train.losses.matryoshka import over_prefixes
from milepost_train.losses.position import back_from_boundary, distances_of, position_aware
from milepost_train.losses.precision import similarities

__all__ = [
    "any_against_negatives",
    "away_from",
    "back_from_boundary",
    "distances_of",
    "divergence",
    "each_against_negatives",
    "means_of",
    "over_prefixes",
    "position_aware",
    "similarities",
]
