"""``milepost lab compare``: every operator on the states of one network, trained by one recipe.

Comes in: a checkpoint, pairs and documents. Goes out: a cache of runs, tables, plots, poolings.

    given.py      options: the recipe, the row to compare with, what must not change between runs
    reading.py    texts → token states of a frozen network, cached on disk
    states.py     cached states, and the parts that an operator reads
    live.py       the same of a network that is trained, with their graph
    material.py   tasks of the shared data: training pairs, queries, texts, which text is right
    pairs.py      a task of a file or folder of pairs
    judged.py     a task of a folder in the layout of BEIR
    sources.py    what --data names, and the pairs that come along
    images.py     the task on images
    controls.py   untrained baselines
    rows.py       rows: an operator, its settings, and the network below it
    pooled.py     a pooling with its heads, and scores of its vectors
    recipe.py     pooling and head trained by InfoNCE
    fitting.py    one training: learning rate and curve by validation pairs
    scores.py     queries × texts, and nDCG@10 of each query
    cache.py      runs that are done, a JSON line each
    session.py    runs that are not in the cache yet
    found.py      statistics of the runs, with intervals and corrected tests
    tables.py     tables
    pictures.py   plots

Read in this order.
"""

from __future__ import annotations
