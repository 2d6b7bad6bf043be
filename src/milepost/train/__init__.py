"""Landmark training: data, losses, the loop.

Comes in: the JSON-lines form of the tasks and pairs, a checkpoint. Goes out: a checkpoint.
Knows the torch encoder (``model``), sentences, windows and the metric of its check; nothing of
stores, search or servers.

Read in this order: ``data.py`` (texts, questions, pairs as token ids), ``batches.py`` (windows as
tensors), ``losses.py``, ``teacher.py`` (targets of the distillation), ``check.py`` (evidence
found on development questions), ``loop.py``.
"""
