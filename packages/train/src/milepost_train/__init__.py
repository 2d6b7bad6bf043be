"""Landmark training: data, objectives, losses, the loop.

Comes in: the JSON-lines form of the tasks and pairs, a checkpoint. Goes out: a checkpoint.
Knows the torch encoder (``model``), sentences, windows and the metric of its check; nothing of
stores, search or servers.

Read in this order: ``data.py``, ``loading.py`` (texts, questions, pairs as token ids),
``teacher.py`` (what is distilled), ``material.py`` (all that a run draws from), ``batches.py``
(windows as tensors), ``losses.py``, ``objectives/`` (the kinds of stage), ``settings.py`` and
``config.py`` (the configuration, without torch), ``check.py``, ``run_folder.py``, ``record.py``,
``curves.py`` (and the alarm), ``loop.py``, ``run.py`` (what ``milepost train`` does).
The light model: ``light.py``. Ranking and calibration: ``ranking/``.

Training data is made by ``rules.py`` (questions a text holds itself), ``synthesis.py``
(questions of a language model), and ``mining.py`` (what looks like evidence and is none);
``generated.py`` has the files they write.
"""
