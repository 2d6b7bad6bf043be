"""A question in, passages out, best first.

Comes in: a state of a store, and a question that was checked and encoded. Goes out: passages with
the parts of their scores. Knows the store's protocol and nothing of files, models or screens.

Read in this order: ``query.py`` (the question and what may be returned), ``lexical.py`` (what a
word is; BM25 at several scales), ``where.py`` (what is said where a filter leaves no document),
``scope.py`` (which sentences are scored), ``fusion.py`` (one score from landmarks and words,
weighed by the question's own signals), ``features.py``, ``trees.py``, ``leaves.py`` and
``ranking.py`` (the learned ranking of the best of them), ``reranking.py`` (the best windows,
scored by a joint encoder), ``passages.py`` (sentences to passages under a budget), ``searcher.py``
(the pipeline in one function). For phrases and excluded words: ``operators.py`` (read from the
question), ``quoted.py`` (where a store holds a quotation), ``required.py`` (which sentences are
left) and ``cores.py`` (passages of them).
"""

from __future__ import annotations

from milepost.search.lexical import question_terms, terms
from milepost.search.query import Limits, Query
from milepost.search.searcher import SearchModel, SearchResult, search

__all__ = ["Limits", "Query", "SearchModel", "SearchResult", "question_terms", "search", "terms"]
