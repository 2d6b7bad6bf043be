"""Whether the evidence comes back, and whether it comes back from what people use today.

Comes in: tasks (documents, questions, marked evidence) and names of systems. Goes out: one record
a system and task, tables, comparisons with intervals, a page with plots. The room refuses to know
how a model is trained. Reading order: ``types.py`` (what a task, a place and a system are),
``metrics.py``, ``tasks/``, ``systems/``, ``names.py`` (names to systems), ``run.py``,
``records.py``, ``statistics.py``, ``pairing.py``, ``compare.py``, ``tuning.py``, ``session.py``
(all of it put together), then ``report/`` and ``experiments/``.
"""
