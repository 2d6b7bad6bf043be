"""Sentences and their token counts in, windows out.

Comes in: how many tokens each sentence has. Goes out: which sentences stand in which window, and
which of them it owns. This room knows neither text nor network, only counts and offsets.

Read in this order: ``plan.py`` (sentences to windows), ``cut.py`` (over-long sentences),
``batches.py`` (windows to batches under a token budget).
"""

from __future__ import annotations

from milepost.windows.batches import batches
from milepost.windows.cut import cut
from milepost.windows.plan import Window, WindowSize, plan

__all__ = ["Window", "WindowSize", "batches", "cut", "plan"]
