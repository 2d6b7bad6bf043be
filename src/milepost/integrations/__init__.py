"""Milepost inside other programs, one file a framework.

In:      what a framework calls its retriever, embedder or chunker with.
Out:     the same in the framework's own records, with offsets, page and heading.
Refuses: to hold logic. What an adapter needs is in ``index``, ``chunking`` or ``embedding``; a file
         here translates. Importing a file imports its framework, so this one imports none.
Read:    ``retrieval.py`` (what retrievers share), then the file of your framework.
"""
