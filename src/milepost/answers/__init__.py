"""Answers from passages, by a language model of the user's choice, with every citation checked.

In:      a question, passages of a search, an endpoint.
Out:     events: pieces of text as they come, then each citation with its verdict, then the answer.
Refuses: to search, to print, to know where the key came from.
Read:    ``asking.py`` (the events), ``prompt.py`` (what is sent), ``citations.py`` (which sentence
         cites what, and whether a passage says it word for word), ``support.py`` (whether one says
         it in other words).
"""

from milepost.answers.asking import Answer, Piece, Thinking, answer
from milepost.answers.citations import Citation, Support, Verdict

__all__ = ["Answer", "Citation", "Piece", "Support", "Thinking", "Verdict", "answer"]
