"""Many vectors in, few out: the reference definitions, in NumPy.

Comes in: unit vectors of landmarks. Goes out: one unit vector. Knows neither text nor network.
``landmarks.py`` holds the mean of landmarks; the pooling lab adds its operators here.
"""

from __future__ import annotations

from milepost.pooling.landmarks import document_vector

__all__ = ["document_vector"]
