"""Untrained byte encoders as baselines: recall of the neighbours that the ancestor finds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from milepost.types import Span
from milepost_lab.controls.readers import ControlReader
from milepost_lab.stitch.material import Material, nearest, recall
from milepost_lab.stitch.outcome import CONTROL, Descendant


def of_bytes(reader: ControlReader, shared: Material, times: int = 9) -> Descendant:
    """Measure a byte baseline like a descendant; its vectors are not in the ancestor's space.

    Args:
        reader: the control.
        shared: the material; each held-out sentence is encoded in its window and alone.
        times: timed runs on a window; the median is reported.
    """
    texts = [window(words) for words in shared.words]
    documents = np.concatenate([reader.encode(text, spans=spans).vectors for text, spans in texts])
    questions = np.stack(
        [reader.encode_query(text[a:b]) for text, spans in texts for a, b in spans]
    )
    text, spans = texts[0]
    with FlopCounterMode(display=False) as counter:
        reader.encode(text, spans=spans)
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        reader.encode(text, spans=spans)
        taken.append(1000 * (time.perf_counter() - begun))
    found = nearest(torch.from_numpy(documents), torch.from_numpy(questions))
    return Descendant(
        arm=CONTROL,
        name=f"bytes@{reader.name}",
        seed=0,
        parameters=reader.parameters,
        operations=counter.get_total_flops(),
        milliseconds=statistics.median(taken),
        agreement=None,
        recall=recall(found, shared.truth),
    )


def window(words: Sequence[str]) -> tuple[str, list[Span]]:
    """Join sentences with spaces, and return their offsets; an empty one becomes a full stop."""
    told = [each.strip() or "." for each in words]
    ends = list(accumulate(len(each) + 1 for each in told))
    return " ".join(told), [
        (end - 1 - len(each), end - 1) for each, end in zip(told, ends, strict=True)
    ]
