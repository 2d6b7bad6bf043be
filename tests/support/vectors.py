"""What tests of kept vectors share with the processes that they start.

A started process imports it from here: the folder is on its path, however pytest was called.
"""

import numpy as np

from milepost_eval.vectors import Vectors


def made(calls):
    def make():
        calls.append(1)
        return np.array([[0.1, 0.2], [0.3, 0.4]], np.float32), 7

    return make


def open_together(folder, barrier, found):
    """Another process: opens each file at the moment its twin does, and writes a row."""
    try:
        for number in range(40):
            barrier.wait(60)
            vectors = Vectors(folder / f"{number}.sqlite")
            vectors.get("m", [str(number)], made([]))
        found.put("")
    except BaseException as error:
        found.put(repr(error))
        barrier.abort()
        raise
