"""Measure how well a language model answers from the contexts that systems retrieve.

In:      files in LongBench's format, names of systems, budgets in tokens, a chat endpoint.
Out:     one answer per question, system and budget with its F1; means with intervals, and paired
         differences to the first system.
Refuses: to know offsets of evidence: answers are compared as words. To ask for an answer that is
         kept already.
Read:    ``questions.py`` (files to questions), ``tokens.py`` and ``contexts.py`` (what the model is
         given of a text), ``prompt.py``, ``kept.py`` and ``asking.py`` (answers, from the cache
         where they are there), ``f1.py``, ``run.py`` (all of it together), ``summary.py``.

The measure is that of Landmark Embedding (arXiv 2402.11573): retrieval is as good as the answers
that a language model gives with it.
"""
