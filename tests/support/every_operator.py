"""Every operator of the table with what the tests call it with."""

import numpy as np

from milepost_lab import pooling

WIDTH, LAYERS, ASKED = 8, 3, 8
NAMES = list(pooling.names())


def texts(rng, lengths, *, layers=None):
    """States, and the other things an operator reads, for texts of these lengths."""
    shape = (sum(lengths), layers, WIDTH) if layers else (sum(lengths), WIDTH)
    return rng.standard_normal(shape).astype(np.float32)


def inputs(name, rng, lengths):
    """(states, keyword arguments) for an operator."""
    row = pooling.names()[name]
    states = texts(rng, lengths, layers=LAYERS if "layers" in row.needs else None)
    given = {}
    if "queries" in row.needs:
        given["queries"] = rng.standard_normal((len(lengths), ASKED)).astype(np.float32)
    if "segments" in row.needs:
        given["segments"] = [part for n in lengths for part in cut(n)]
    return states, given


def cut(length):
    """A text's tokens as segments of 1, 2, 3, 1, 2, 3 and so on."""
    parts = []
    while sum(parts) < length:
        parts.append(min(1 + len(parts) % 3, length - sum(parts)))
    return parts


def one(name, states, given, lengths, number):
    """What stands for one text of a batch, alone."""
    start = sum(lengths[:number])
    alone = {}
    if "queries" in given:
        alone["queries"] = given["queries"][number : number + 1]
    if "segments" in given:
        alone["segments"] = cut(lengths[number])
    return states[start : start + lengths[number]], alone


def same(found, wanted, **near):
    """One text's vectors: equal, but for the rows of zeros that a longer text beside it adds."""
    if found.ndim == 2:
        found, wanted = (each[each.any(1)] for each in (found, wanted))
    np.testing.assert_allclose(found, wanted, **near)


def warm(name, seed=5, **settings):
    """An operator whose weights are not those it begins with: all of them moved."""
    rng = np.random.default_rng(seed)
    pool = pooling.get(name, **settings)
    states, given = inputs(name, rng, [3])
    pool(states, [3], **given)
    if pool.weights:
        fixed = pool.operator.fixed
        pool.weights = {
            n: v if n in fixed else v + 0.1 * rng.standard_normal(v.shape).astype(np.float32)
            for n, v in pool.weights.items()
        }
    return pool
