"""Search: a question in, passages out, best first.

The input is a snapshot of a store and a question that was checked and encoded; the output is
passages with the parts of their scores. This package knows the store's protocol and nothing about
files, models or user interfaces.

Read in this order: ``query.py`` (the question and its limits), ``lexical.py`` (BM25 at several
scales), ``filter_note.py`` (the note if a filter matches no document), ``scope.py`` (the
sentences to score), ``fusion.py`` (one score from landmarks and words, weighted by signals of the
question), ``features.py``, ``trees.py``, ``leaves.py`` and ``ranking.py`` (the learned ranking of
the best sentences), ``reranking.py`` (a joint encoder scores the best windows), ``passages.py``
(from sentences to passages within a budget), ``searcher.py`` (the pipeline in one function). For
phrases and excluded words: ``operators.py`` (parse them), ``quoted.py`` (find a quotation in a
store) and ``required.py`` (the sentences that remain).
"""

from __future__ import annotations

from milepost.search.query import Limits, Query
from milepost.search.searcher import SearchModel, SearchResult, search

__all__ = ["Limits", "Query", "SearchModel", "SearchResult", "search"]
