"""One model, several threads."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import milepost

TEXT = "Bees build cells of wax. A cell has six walls. The wax is costly to make. "


def test_threads_share_a_model_and_get_the_vectors_they_would_get_alone():
    model = milepost.load("landmark-light", cache=False)
    texts = [TEXT * (1 + n % 5) for n in range(40)]
    alone = [model.encode(text).vectors for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: model.encode(text).vectors, texts))
    for mine, wanted in zip(together, alone, strict=True):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="Linux tells where threads may run"
)
def test_no_thread_is_held_on_a_core():
    """Whoever calls may run anywhere meanwhile, or two processes share a core and one idles."""
    usable = os.sched_getaffinity(0)
    if len(usable) < 2:
        pytest.skip("there is one core only")
    model = milepost.load("landmark-minilm", cache=False)
    caller, stop = threading.get_native_id(), threading.Event()
    seen: list[set[int]] = []

    def watch():
        while not stop.wait(0.002):
            seen.append(os.sched_getaffinity(caller))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        model.encode(TEXT * 200)
    finally:
        stop.set()
        watcher.join()
    assert len(seen) > 5
    assert all(each == usable for each in seen)
