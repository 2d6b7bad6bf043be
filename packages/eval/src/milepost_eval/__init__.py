"""Measure how much marked evidence comes back, from Milepost and from systems in common use.

In:  tasks (documents, questions, marked evidence) and names of systems.
Out: one record per system and task, tables, comparisons with intervals, a plot.
How a model is trained is not known here. Reading order: ``types.py`` (task, place, system),
``metrics.py``, ``tasks/``, ``systems/``, ``catalogue.py`` and ``factory.py`` (names to systems),
``run.py``, ``records.py``, ``statistics.py``, ``pairing.py``, ``compare.py``, ``runs.py``,
``session.py`` (all of it together), then ``report/``.
"""
