"""Learns the ranking of a model from questions whose evidence is marked: ``milepost fit``.

Comes in: a model folder and tasks (``milepost eval``'s formats). Goes out: the ``fusion`` of its
``milepost.json``, ``ranking.npz``, and ``fit.json``, a report whose figures are cross-fitted by
document. Knows the search and its parts; nothing of torch, terminals or the model's own training.

Read in this order: ``questions.py`` (which questions, for what), ``cases.py`` (what the search
says of every candidate sentence, and what that finds; the one file that calls the search's
internals), ``weights.py`` (the fusion's weights, trees, probabilities),
``choosing.py`` (length penalty, passage growth, the reranker's weight, and figures on documents
left out), ``fit.py`` (all of it), ``left_out.py`` (what a fit without a task finds in it),
``folder.py`` (the model folder, whole or not at all).
"""
