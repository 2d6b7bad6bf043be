"""A question in, passages out, best first.

Comes in: a store, the question's vector and words. Goes out: passages with the parts of their
scores. Knows the store's protocol and nothing of files, models or screens.

Read in this order: ``lexical.py`` (what a word is; BM25 at several scales), ``scope.py`` (which
sentences are looked at), ``fusion.py`` (one score from landmarks and words, weighed by the
question's own signals), ``features.py``, ``trees.py`` and ``ranking.py`` (the close look at the
best of them), ``reranking.py`` (the best places read again), ``passages.py`` (sentences to
passages under a budget), ``searcher.py`` (the pipeline in one function).
"""

from __future__ import annotations

from milepost.search.lexical import question_terms, terms
from milepost.search.searcher import SearchResult, search

__all__ = ["SearchResult", "question_terms", "search", "terms"]
