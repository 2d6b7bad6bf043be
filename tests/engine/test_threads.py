"""One model, several threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

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
