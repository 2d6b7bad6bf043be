"""Landmark training: data, losses, the loop.

Comes in: the JSON-lines form of the tasks and pairs, a checkpoint. Goes out: a checkpoint.
Knows the torch encoder (``model``), sentences, windows and the metric of its check; nothing of
stores, search or servers.

Read in this order: ``data.py`` (texts, questions, pairs as token ids), ``batches.py`` (windows as
tensors), ``granularity.py`` (landmarks every so many tokens, and documents' vectors), ``losses/``,
``teacher.py`` (targets of the distillation), ``check.py`` (evidence found on development
questions), ``loop.py``. Training data is made by ``rules.py`` (questions a text holds itself),
``synthesis.py`` with ``chat.py`` and ``prompts.py`` (questions of a language model), and
``mining.py`` with ``collection.py`` and ``negatives.py`` (what looks like evidence and is none);
``made.py`` and ``journal.py`` are the files they write.
"""
